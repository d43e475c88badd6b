"""Running a program once per branch of its random choices: the exact law of the code that ships."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar

import numpy as np

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, integer, rational
from exactdp.samplers.inverse_cdf import Cdf, RationalCdf
from exactdp.samplers.source import Source, Words, word_width

__all__ = ["EnumeratingSource", "NotReproducible", "TooManyBranches", "exact_law"]

T = TypeVar("T", bound=Hashable)

#: The widest single choice, and the most runs of a program, before a law is given up.
MAX_WIDTH = 1 << 16
MAX_RUNS = 1_000_000

#: A branch waits when another one is so many times heavier.
_PATIENCE = 1 << 12


class TooManyBranches(ExactDPError):
    """A program branches too widely to be enumerated."""


class NotReproducible(ExactDPError):
    """A program made different choices when it was run again on the same randomness."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """One option of one choice, at the end of the choices that lead there."""

    parent: _Branch | None
    option: int
    width: int
    weight: Fraction

    def path(self) -> list[tuple[int, int]]:
        steps: list[tuple[int, int]] = []
        branch = self
        while branch.parent is not None:
            steps.append((branch.option, branch.width))
            branch = branch.parent
        return steps[::-1]


class _Suspended(BaseException):
    """A run is given up for now: not an Exception, so that no program catches it by accident."""


class _Frontier:
    """The branches still to follow, heaviest first."""

    def __init__(self) -> None:
        self._heap: list[tuple[Fraction, int, _Branch]] = []
        self._ticket = count()

    def push(self, branch: _Branch) -> None:
        heappush(self._heap, (-branch.weight, next(self._ticket), branch))

    def pop(self) -> _Branch:
        return heappop(self._heap)[2]

    def outweighs(self, branch: _Branch) -> bool:
        """Whether some branch left is so much heavier that this one should wait for it."""
        return bool(self._heap) and -self._heap[0][0] > branch.weight * _PATIENCE

    def __bool__(self) -> bool:
        return bool(self._heap)


class EnumeratingSource(Source):
    """Follows one branch of a program and notes the others; used through :func:`exact_law`.

    Every choice is exact: an inverse-CDF draw branches over its outcomes with their probabilities,
    not over the bits behind it, wherever those probabilities are rational.
    """

    def __init__(self, start: _Branch, frontier: _Frontier) -> None:
        self._here = start
        self._path = start.path()
        self._step = 0
        self._frontier = frontier

    @property
    def weight(self) -> Fraction:
        """The probability of the branch followed so far."""
        return self._here.weight

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Branch over options with exact probabilities that sum to 1."""
        if self._step < len(self._path):
            option, width = self._path[self._step]
            self._step += 1
            if width != len(weights):
                raise NotReproducible(
                    f"choice {self._step} had {width} options and now has {len(weights)}: the "
                    "program depends on something else than its source"
                )
            return option
        if len(weights) > MAX_WIDTH:
            raise TooManyBranches(_too_wide(len(weights)))
        width, before, here = len(weights), self._here, self.weight
        self._step += 1
        options = [_Branch(before, i, width, here * w) for i, w in enumerate(weights) if w]
        first = max(options, key=lambda branch: branch.weight)
        for branch in options:
            if branch is not first:
                self._frontier.push(branch)
        if self._frontier.outweighs(first):  # perhaps a loop that ends only with probability 1
            self._frontier.push(first)
            raise _Suspended
        self._here = first
        self._path.append((first.option, width))
        return first.option

    def bits(self, k: int) -> int:
        return self.below(1 << k) if k else 0

    def below(self, n: int) -> int:
        size = integer("n", n, least=1)
        if size > MAX_WIDTH:
            raise TooManyBranches(_too_wide(size))
        return self.choose([Fraction(1, size)] * size) if size > 1 else 0

    def bernoulli(self, p: Real) -> bool:
        chance = rational("p", p)
        if not 0 <= chance <= 1:
            raise InvalidParameter("p", p, ">= 0 and <= 1")
        return bool(chance) if chance in (0, 1) else bool(self.choose([1 - chance, chance]))

    def inverse_cdf(self, cdf: Cdf) -> int:
        if cdf.low is not None and cdf.high is not None and cdf.high - cdf.low >= MAX_WIDTH:
            raise TooManyBranches(_too_wide(cdf.high - cdf.low + 1))
        exact = cdf.weights()
        if exact is None:
            return super().inverse_cdf(cdf)
        outcomes, weights = exact
        return outcomes[self.choose(weights)]

    def strict_inverse_cdf(self, cdf: RationalCdf) -> int:
        return self.inverse_cdf(cdf)

    def skip(self, k: int) -> None:
        """Nothing: bits that are forgotten change no outcome."""

    def words(self, n: int, bits: int) -> Words:
        values = [self.bits(bits) for _ in range(n)]
        return np.array(values, dtype=f"<u{word_width(bits)}")


def exact_law(
    program: Callable[[Source], T],
    *,
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    progress: bool = True,
) -> Law[T]:
    """The exact output law of a program that draws its randomness from a source.

    program: called with a source; its result (hashable) may depend on nothing else.
    residual: unexplored probability that may remain when some loop ends only with probability 1.
    The heaviest branches are explored first; 0 explores everything.
    max_runs: most branches to follow before TooManyBranches is raised.
    progress: show a bar for long enumerations, on a terminal only.
    Raises NotReproducible when the program is not a function of its source.

    >>> from exactdp.samplers import exact_law
    >>> print(exact_law(lambda source: source.below(3) * source.below(2)))
    Law of 3 outcomes
      0  2/3  0.666667
      1  1/6  0.166667
      2  1/6  0.166667
    """
    allowed = rational("residual", residual)
    if not 0 <= allowed < 1:
        raise InvalidParameter("residual", residual, ">= 0 and < 1")
    from tqdm import tqdm

    frontier, unexplored = _Frontier(), Fraction(1)
    frontier.push(_Branch(None, 0, 0, Fraction(1)))
    weights: dict[T, list[Fraction]] = {}

    # disable=None: no bar unless standard error is a terminal
    with tqdm(desc="branches", delay=1, disable=None if progress else True) as bar:
        for _ in range(max_runs):
            if not frontier or unexplored <= allowed:
                totals = {outcome: sum(parts, Fraction(0)) for outcome, parts in weights.items()}
                return Law(totals, unexplored)
            source = EnumeratingSource(frontier.pop(), frontier)
            try:
                outcome = program(source)
            except _Suspended:
                continue
            weights.setdefault(outcome, []).append(source.weight)
            unexplored -= source.weight
            bar.update()
    raise TooManyBranches(
        f"{max_runs} branches followed and probability {float(unexplored):.3g} is left"
    )


def _too_wide(size: int) -> str:
    number = str(size) if size.bit_length() < 64 else f"about 2^{size.bit_length() - 1}"
    return (
        f"a single choice has {number} options (at most {MAX_WIDTH} can be enumerated); "
        "draw outcomes with exact weights through index or inverse_cdf instead of raw values"
    )
