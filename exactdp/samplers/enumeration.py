"""Enumeration: run a program once per branch of its random choices, for its exact output law."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, integer, rational
from exactdp.samplers.bulk_coins import LANES
from exactdp.samplers.enumeration_branches import (
    Again,
    Branch,
    Frontier,
    NotReproducible,
    RunOver,
    Suspended,
)
from exactdp.samplers.enumeration_tally import Tally, TooManyBranches
from exactdp.samplers.inverse_cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.source import Invertible, Source, Words, word_width

T = TypeVar("T", bound=Hashable)

#: The most options of a single choice, and the most runs of a program.
MAX_WIDTH = 1 << 16
MAX_RUNS = 1_000_000

#: Number of last runs that are repeated in the end.
_REPEATED = 32


class EnumeratingSource(Source):
    """Follows one branch of a program and records the others; used through :func:`exact_law`.

    Every choice is exact: an inverse-CDF draw branches over its outcomes with their probabilities,
    not over the bits behind it. Of a law whose probabilities are not rational, at most 4096
    outcomes are listed: without tails of 2^-90, and with probabilities rounded down by 2^-191.
    """

    def __init__(self, start: Branch, frontier: Frontier) -> None:
        self._here = start
        self._path = start.path()
        self._step = 0
        self._frontier = frontier
        self._closed = False

    @property
    def weight(self) -> Fraction:
        """The probability of the branch followed so far."""
        return self._here.weight

    def stop(self, signal: BaseException) -> NoReturn:
        """End the run by raising signal, even if the program catches the exception."""
        self._frontier.stop(signal)

    @property
    def signal(self) -> BaseException | None:
        """The signal that has ended the run, or None."""
        return self._frontier.signal

    def take_signal(self) -> BaseException | None:
        """The signal that ended the run, or None; to be called once, after the run."""
        return self._frontier.take_signal()

    def close(self) -> None:
        """End the run; raises NotReproducible if the program made fewer choices than before."""
        self._closed = True
        if self._step < len(self._path) and self.signal is None:
            self._frontier.signal = NotReproducible(
                f"a run made {self._step} choices where it had made at least {len(self._path)}: "
                "the program depends on something other than its source"
            )

    def again(self) -> EnumeratingSource:
        """A source that repeats this branch and allows no further choices."""
        return EnumeratingSource(self._here, Frontier())

    @property
    def drawn(self) -> bool:
        """Whether the program has made a choice."""
        return self._step > 0

    @property
    def reached(self) -> Fraction:
        """The probability of the choices that the program has made so far."""
        return self._path[self._step - 1][2] if self._step else Fraction(1)

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Branch over options with exact probabilities that sum to 1."""
        before = self.reached
        chosen = self.branch(len(weights), lambda: weights)
        if self.reached != before * weights[chosen]:
            self.stop(_differs(self._step, "other probabilities"))
        return chosen

    def branch(self, width: int, make: Callable[[], Sequence[Fraction]]) -> int:
        """Branch over `width` options; make() computes their probabilities when needed."""
        if self.signal is not None:
            self.stop(self.signal)
        if self._closed:
            self.stop(NotReproducible("a source was used after the end of its run"))
        if self._step < len(self._path):
            option, recorded, _ = self._path[self._step]
            self._step += 1
            if width != recorded:
                self.stop(_differs(self._step, f"{recorded} options and now has {width}"))
            return option
        if width > MAX_WIDTH:
            self.stop(TooManyBranches(_too_wide(width)))
        weights, before, here = make(), self._here, self.weight
        self._step += 1
        options = [Branch(before, i, width, here * w) for i, w in enumerate(weights) if w]
        first = max(options, key=lambda branch: branch.weight)
        for branch in options:
            if branch is not first:
                self._frontier.push(branch)
        if self._frontier.outweighs(first):  # maybe a loop that ends only with probability 1
            self._frontier.push(first)
            self.stop(Suspended())
        self._here = first
        self._path.append((first.option, width, first.weight))
        return first.option

    def bits(self, k: int) -> int:
        return self.below(1 << k) if k else 0

    def below(self, n: int) -> int:
        size = integer("n", n, least=1)
        if size > MAX_WIDTH:
            self.stop(TooManyBranches(_too_wide(size)))
        return self.branch(size, lambda: [Fraction(1, size)] * size) if size > 1 else 0

    def bernoulli(self, p: Real) -> bool:
        chance = rational("p", p)
        if not 0 <= chance <= 1:
            raise InvalidParameter("p", p, ">= 0 and <= 1")
        return bool(chance) if chance in (0, 1) else bool(self.choose([1 - chance, chance]))

    def coins(self, n: int, p: Real) -> Words:
        count, chance = integer("n", n, least=0), rational("p", p)
        if not 0 < chance < 1:
            shown = [self.bernoulli(chance) for _ in range(count)]
        else:
            weights = [1 - chance, chance]
            shown = [bool(self.choose(weights)) for _ in range(count)]
        padded = np.zeros(-(-count // LANES) * LANES, bool)
        padded[:count] = shown
        return np.packbits(padded, bitorder="little").view("<u8")

    def uneven_coins(self, numerators: NDArray[Any], denominator: int) -> NDArray[np.bool_]:
        chances = [Fraction(int(above), denominator) for above in numerators]
        return np.array([self.bernoulli(p) for p in chances], bool)

    def below_many(self, n: int, size: int) -> NDArray[np.int64]:
        return np.array([self.below(size) for _ in range(n)], np.int64)

    def below_each(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self.below(int(size)) for size in sizes], np.int64)

    def inverse_cdf(self, cdf: Cdf) -> int:
        if cdf.low is not None and cdf.high is not None and cdf.high - cdf.low >= MAX_WIDTH:
            self.stop(TooManyBranches(_too_wide(cdf.high - cdf.low + 1)))
        found = cdf.weights() or (cdf.likely if isinstance(cdf, RealCdf) else None)
        if found is None:
            return super().inverse_cdf(cdf)
        outcomes, weights = found
        return outcomes[self.choose(weights)]

    def invert(self, table: Invertible) -> int:
        return self.inverse_cdf(table.cdf)

    def fixed_inverse_cdf(self, cdf: RationalCdf) -> int:
        return self.inverse_cdf(cdf)

    def fixed_below(self, sizes: Sequence[int], k: int) -> list[int]:
        return [self.inverse_cdf(RationalCdf.uniform(size, k)) for size in sizes]

    def fixed_below_many(self, size: int, n: int, k: int) -> NDArray[Any]:
        return np.array(self.fixed_below([size] * n, k))

    def draws(self, used: int, always: int) -> int:
        """`used`: other draws do not change the outcome."""
        return used

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

    program: called with a source; its hashable result must depend on nothing else.
    residual: probability that may remain unexplored if a loop ends only with probability 1, >= 0
    and < 1. The most probable branches are explored first; 0 explores everything.
    max_runs: largest number of branches; more raise TooManyBranches.
    progress: show a bar for long enumerations, on a terminal only.
    Raises NotReproducible if a repeated branch makes other choices or gives another result. State
    in memory and called functions are not inspected; :func:`exactdp.audit.foreign_law` does that
    (interface "source").

    >>> from exactdp.samplers import exact_law
    >>> print(exact_law(lambda source: source.below(3) * source.below(2)))
    Law of 3 outcomes
      0  2/3  0.666667
      1  1/6  0.166667
      2  1/6  0.166667
    """
    kept: deque[tuple[EnumeratingSource, Any]] = deque(maxlen=_REPEATED)

    def kept_law(source: EnumeratingSource) -> T:
        outcome = program(source)
        if source.signal is None:
            kept.append((source, outcome))
        return outcome

    law = explored_law(kept_law, residual, max_runs, progress)
    for source, outcome in reversed(kept):
        _repeat(program, source, outcome)
    return law


def explored_law(
    program: Callable[[EnumeratingSource], T], residual: Real, max_runs: int, progress: bool
) -> Law[T]:
    """The law of a program, without checking that repeated branches give the same result.

    Parameters and errors: as for :func:`exact_law`.
    """
    allowed = rational("residual", residual)
    if not 0 <= allowed < 1:
        raise InvalidParameter("residual", residual, ">= 0 and < 1")
    from tqdm import tqdm

    frontier, tally = Frontier(), Tally(allowed, max_runs)
    frontier.push(Branch(None, 0, 0, Fraction(1)))

    # disable=None: no bar unless standard error is a terminal
    with tqdm(desc="branches", delay=1, disable=None if progress else True) as bar:
        while frontier and not tally.enough():
            source = EnumeratingSource(frontier.pop(), frontier)
            ended, outcome = _followed(program, source)
            if isinstance(ended, Again):
                tally.renew(source.weight)
            elif not isinstance(ended, Suspended):
                tally.add(outcome, source.weight)
            tally.check(bool(frontier))
            bar.update()
    if not tally.enough():
        raise TooManyBranches("probabilities that are not rational need a residual above 2^-80")
    return tally.law()


def _repeat(program: Callable[[Source], T], source: EnumeratingSource, outcome: Any) -> None:
    """Repeat a branch; raise NotReproducible if its outcome differs: some state outlived a run."""
    again = source.again()
    if _followed(program, again) != (None, outcome) or again.weight != source.weight:
        raise NotReproducible(
            "the same choices gave another outcome when repeated: the program depends on "
            "something other than its source"
        )


def _followed(
    program: Callable[[EnumeratingSource], T], source: EnumeratingSource
) -> tuple[Any, Any]:
    """Run a program once; return the signal that ended the run, or None, and the outcome."""
    raised, outcome = None, None
    try:
        outcome = program(source)
    except KeyboardInterrupt:
        raise  # the user interrupted the run
    except BaseException as error:
        raised = error
    source.close()
    ended = source.take_signal()
    if isinstance(ended, RunOver):
        return ended, None
    if ended is not None:  # even if the program caught or replaced the signal
        raise ended
    if raised is not None:
        raise raised
    return None, outcome


def _differs(step: int, what: str) -> NotReproducible:
    return NotReproducible(
        f"choice {step} had {what}: the program depends on something other than its source"
    )


def _too_wide(size: int) -> str:
    number = str(size) if size.bit_length() < 64 else f"about 2^{size.bit_length() - 1}"
    return (
        f"a single choice has {number} options (at most {MAX_WIDTH} can be enumerated); "
        "use index or inverse_cdf, which branch over outcomes, instead of raw bits"
    )
