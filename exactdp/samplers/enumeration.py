"""Enumeration: run a program once per branch of its random choices, for its exact output law."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter, NotReproducible, TooManyBranches
from exactdp.law import Law
from exactdp.parameters import Real, integer, probability, rational
from exactdp.samplers.bulk_coins import LANES
from exactdp.samplers.cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.enumeration_branches import START, Choice, RunOver, Suspended, Way
from exactdp.samplers.enumeration_search import Explorer, Found
from exactdp.samplers.source import Invertible, Source, Words, word_width

T = TypeVar("T", bound=Hashable)

#: The most options of a single choice, and the most runs of a program.
MAX_WIDTH = 1 << 16
MAX_RUNS = 1_000_000

#: Number of runs that are repeated in the end.
_REPEATED = 32

#: A run is suspended if another branch is this many times more probable.
_PATIENCE = 1 << 12

#: Draws after the end of a run that raise an Exception; further draws raise a BaseException.
_PATIENT_DRAWS = 100


class EnumeratingSource(Source):
    """Repeats one way through a program, then takes the most probable options.

    The source records all other ways. Used through :func:`exact_law`.

    Every choice is exact: an inverse-CDF draw branches over its outcomes with their probabilities,
    not over the bits behind it, wherever those probabilities are rational.

    way: choices to repeat first. heaviest: probability of the most probable way that waits.
    repeats: whether any further choice is an error.
    """

    def __init__(
        self, way: Way = START, heaviest: Fraction = Fraction(0), *, repeats: bool = False
    ) -> None:
        self.path, self.mass, self.step = list(way.path), way.weight, 0
        self.others: list[Way] = []
        self.signal: BaseException | None = None
        self._heaviest, self._repeats = heaviest, repeats
        self._ignored, self._closed = 0, False

    def stop(self, signal: BaseException) -> NoReturn:
        """End the run; every further draw raises the signal again.

        The first signal decides, even if the program caught it, replaced it, or lost it in a
        thread.
        """
        if self.signal is None:
            self.signal = signal
        self._ignored += 1
        if self._ignored > _PATIENT_DRAWS:  # a loop that goes on until a draw succeeds
            raise RunOver(str(self.signal)) from self.signal
        raise self.signal

    def alive(self) -> None:
        """Raise the signal that ended the run, or NotReproducible if the run is closed."""
        if self.signal is not None:
            self.stop(self.signal)
        if self._closed:
            self.stop(NotReproducible("a generator was used after the end of its run"))

    def close(self) -> None:
        """End the run; it is an error to have made fewer choices than before."""
        self._closed = True
        if self.step < len(self.path) and self.signal is None:
            self.signal = NotReproducible(
                f"a run made {self.step} choices where it had made at least {len(self.path)}"
            )

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Branch over options with exact probabilities that sum to 1."""
        chosen = self.branch(len(weights), lambda: weights)
        if self.path[self.step - 1].share != weights[chosen]:
            self.stop(NotReproducible(f"choice {self.step} had other probabilities than before"))
        return chosen

    def branch(self, width: int, make: Callable[[], Sequence[Fraction]]) -> int:
        """Branch over `width` options; make() computes their probabilities when needed."""
        self.alive()
        if self.step == len(self.path):
            if self._repeats:
                self.stop(NotReproducible("a repeated run made more choices than before"))
            if width > MAX_WIDTH:
                self.stop(TooManyBranches(_too_wide(width)))
            self.take([Way((Choice(i, width, p),), p) for i, p in enumerate(make()) if p])
        choice = self.path[self.step]
        self.step += 1
        if choice.width != width:
            self.stop(
                NotReproducible(f"choice {self.step} had {choice.width} options and now {width}")
            )
        return choice.option

    def take(self, ways: Sequence[Way]) -> None:
        """Take the most probable way from the current choice, and record the other ways."""
        before = tuple(self.path)
        branches = [Way((*before, *way.path), self.mass * way.weight) for way in ways]
        first = max(branches, key=lambda way: way.weight)
        self.others += [way for way in branches if way is not first]
        self.mass = first.weight
        self._heaviest = max([self._heaviest, *(way.weight for way in self.others)])
        if self._heaviest > self.mass * _PATIENCE:  # perhaps an endless loop
            self.others.append(first)
            self.stop(Suspended())
        self.path[:] = first.path

    def bits(self, k: int) -> int:
        return self.below(1 << k) if k else 0

    def below(self, n: int) -> int:
        size = integer("n", n, least=1)
        if size > MAX_WIDTH:
            self.stop(TooManyBranches(_too_wide(size)))
        return self.branch(size, lambda: [Fraction(1, size)] * size) if size > 1 else 0

    def bernoulli(self, p: Real) -> bool:
        chance = probability("p", p)
        return bool(chance) if chance in (0, 1) else bool(self.choose([1 - chance, chance]))

    def coins(self, n: int, p: Real) -> Words:
        count, chance = integer("n", n, least=0), rational("p", p)
        if not 0 < chance < 1:
            outcomes = [self.bernoulli(chance) for _ in range(count)]
        else:
            weights = [1 - chance, chance]
            outcomes = [bool(self.choose(weights)) for _ in range(count)]
        padded = np.zeros(-(-count // LANES) * LANES, bool)
        padded[:count] = outcomes
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
        table = cdf.weights() or (cdf.likely if isinstance(cdf, RealCdf) else None)
        if table is None:
            return super().inverse_cdf(cdf)
        outcomes, weights = table
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
        """Returns `used`: further draws do not change the outcome, and would add branches."""
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
    allowed = rational("residual", residual)
    if not 0 <= allowed < 1:
        raise InvalidParameter("residual", residual, ">= 0 and < 1")
    from tqdm import tqdm

    # disable=None: no bar unless standard error is a terminal
    with tqdm(desc="branches", delay=1, disable=None if progress else True) as bar:

        def follow(way: Way, heaviest: Fraction) -> Found:
            bar.update()
            return _followed(program, EnumeratingSource(way, heaviest))

        explorer = Explorer(follow, allowed, max_runs, most_kept=_REPEATED)
        try:
            explorer.explore()
            for path, outcome in explorer.kept:
                again = EnumeratingSource(Way(path, Fraction(1)), repeats=True)
                if _followed(program, again).outcome != outcome:
                    raise NotReproducible("the same choices gave another outcome when repeated")
        except NotReproducible as error:
            reason = "the program depends on something other than its source"
            raise NotReproducible(f"{error}: {reason}") from None
    law = explorer.tally.law()
    return Law({outcome: weight for (outcome,), weight in law.items()}, law.residual)


def _followed(program: Callable[[Source], Any], source: EnumeratingSource) -> Found:
    """The result of one run of a program; the outcome of a run that ended is a 1-tuple."""
    raised, outcome = None, None
    try:
        outcome = (program(source),)
    except KeyboardInterrupt:
        raise  # the user interrupted the run
    except BaseException as error:
        raised = error
    source.close()
    if source.signal is None and raised is not None:
        raise raised
    if isinstance(source.signal, Suspended):
        outcome = None
    elif source.signal is not None:  # even if the program caught or replaced the signal
        raise source.signal
    path = tuple(source.path)
    return Found(path, source.mass, source.others, outcome, lambda: path)


def _too_wide(size: int) -> str:
    number = str(size) if size.bit_length() < 64 else f"about 2^{size.bit_length() - 1}"
    return (
        f"a single choice has {number} options (at most {MAX_WIDTH} can be enumerated); "
        "use index or inverse_cdf, which branch over outcomes, instead of raw bits"
    )
