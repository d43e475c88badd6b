"""Released counters: stored as integers over a denominator 1 or 2, converted when read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any, TypeAlias

from gmpy2 import mpz

from exactdp.accounting.guarantee import Guarantee
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.released import Released
from exactdp.parameters import Real
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure

#: Released counters: (element, noisy count) in ascending order of elements; with sums,
#: (element, (noisy count, noisy sum, ...)).
NoisyBins: TypeAlias = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy counts and noisy sums of elements.

    elements: in ascending order. numerators: noisy counts in units of 1/denominator. denominator:
    1 or 2. sums: columns of noisy sums, empty for counts only.
    """

    elements: Sequence[Any]
    numerators: Sequence[int]
    denominator: int = 1
    sums: Sequence[Sequence[int]] = ()

    @classmethod
    def above(
        cls, limit: int, elements: Iterable[Any], numerators: list[int], denominator: int = 1
    ) -> NoisyCounts:
        """The counters with a numerator > limit."""
        seen = [n > limit for n in numerators]
        kept = list(compress(elements, seen)), list(compress(numerators, seen))
        return cls(*kept, denominator)

    def bins(self) -> NoisyBins:
        """Pairs of element and noisy count, or (noisy count, noisy sum, ...)."""
        if not self.sums:
            return tuple(zip(self.elements, self.counts(), strict=True))
        rows = zip(self.counts(), *self.sums, strict=True)
        return tuple(zip(self.elements, rows, strict=True))

    def counts(self) -> Sequence[int | Fraction]:
        """The noisy counts: integers, or fractions if the denominator is 2."""
        if self.denominator == 1:
            return self.numerators
        # making fractions dominates the time, and many counters share a value
        fractions = {n: Fraction(n, self.denominator) for n in set(self.numerators)}
        return [fractions[n] for n in self.numerators]

    def texts(self) -> list[list[str]]:
        """The counts, and each column of sums, as exact decimal strings."""
        text = _whole if self.denominator == 1 else _half
        return [[text(n) for n in self.numerators], *([_whole(n) for n in c] for c in self.sums)]


class NoisyHistogram(Simulated[Mapping[Any, int]], ABC):
    """A mechanism that releases noisy counts."""

    def release(self, counts: Mapping[Any, int], source: Source) -> NoisyRelease:
        """Publish a histogram.

        counts: element -> integer >= 0; elements are of one sortable type; where their list is
        public, all of them are in the mapping. source: randomness fit for a release, such as
        SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return NoisyRelease(self.noisy_counts(counts, source), self.guarantee)

    def draw(self, counts: Mapping[Any, int], source: Source) -> NoisyBins:
        """The bins of a release with randomness from any source, for simulations and proofs."""
        return self.noisy_counts(counts, source).bins()

    def law(self, counts: Mapping[Any, int], residual: Real = "1e-6") -> Law[NoisyBins]:
        """The law of the released bins by enumeration, for small noise.

        residual: probability that the enumeration may leave out.
        """
        return exact_law(lambda source: self.draw(counts, source), residual=residual)

    @abstractmethod
    def noisy_counts(self, counts: Mapping[Any, int], source: Source) -> NoisyCounts:
        """The bins of draw as columns of integers, which is faster."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""


@dataclass(frozen=True, eq=False)
class NoisyRelease(Released[Any, Any]):
    """A published histogram: a mapping of elements to noisy counts above the threshold.

    With sums, a value is (noisy count, noisy sum, ...). guarantee: of the release.
    """

    counters: NoisyCounts
    guarantee: Guarantee

    @cached_property
    def bins(self) -> NoisyBins:  # type: ignore[override]  # read-only, as a frozen field is
        """(element, noisy count) in ascending order of elements."""
        return self.counters.bins()

    def as_dict(self) -> dict[str, Any]:
        """A dict for JSON: the bins as [element, count] pairs, counts as exact decimal strings."""
        counters = self.counters
        rows = zip(counters.elements, *counters.texts(), strict=True)
        bins = [[x, list(c) if counters.sums else c[0]] for x, *c in rows]
        return {"bins": bins, "guarantee": self.guarantee.as_dict()}


def _whole(n: int) -> str:
    return f"{mpz(n)}"  # str(int) stops at 4300 digits


def _half(doubled: int) -> str:
    whole, odd = divmod(abs(doubled), 2)
    return f"{'-' if doubled < 0 else ''}{_whole(whole)}{'.5' if odd else ''}"
