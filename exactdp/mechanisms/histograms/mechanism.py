"""The base of the histogram mechanisms: checked true counts, releases sorted by element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.released import Released
from exactdp.parameters import Real, delta_target, integer
from exactdp.samplers import FastSample, GeoSample, Source, exact_law
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.source import require_secure

#: Released bins: (element, noisy count) in ascending order of elements.
Bins: TypeAlias = tuple[tuple[int, int], ...]

#: The largest universe of mechanisms that draw noise for every element.
_LISTED = 10_000_000


@dataclass(frozen=True, eq=False)
class Release(Released[int, int]):
    """A published histogram: a mapping of elements to noisy counts.

    bins: pairs of element and count in ascending order of elements. guarantee: of the release.
    """

    bins: Bins
    guarantee: Guarantee


@frozen
class HistogramMechanism(Simulated[Mapping[int, int]], ABC):
    """A mechanism that releases noisy counts of the elements 0, ..., universe - 1.

    noise: the sampler of one count, which also determines n (the number of rows) and epsilon.
    universe: |X|, the number of possible elements. Raises InvalidParameter.
    """

    noise: CountSampler
    universe: int = whole(least=1)

    #: Paper and number of the theorem that the guarantee rests on.
    source: ClassVar[str]
    #: Whether noise is drawn for every element of the universe.
    lists_universe: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.noise, CountSampler):
            raise InvalidParameter("noise", self.noise, "a count sampler such as GeoSample")
        integer("universe", self.universe, least=self._least_universe())
        if self.lists_universe and self.universe > _LISTED:
            allowed = f"<= {_LISTED}: this mechanism draws noise for every element"
            raise InvalidParameter("universe", self.universe, allowed)

    @property
    def n(self) -> int:
        """Number of rows of the data set."""
        return self.noise.n

    def draw(self, counts: Mapping[int, int], source: Source) -> Bins:
        """The outcome of a release with randomness from any source, for simulations and proofs."""
        return self._draw(self.checked(counts), source)

    def law(self, counts: Mapping[int, int], residual: Real = Fraction(1, 2**64)) -> Law[Bins]:
        """The exact law of the released bins by enumeration, for small n and universe.

        residual: probability that the enumeration may leave out.
        """
        checked = self.checked(counts)
        return exact_law(lambda source: self._draw(checked, source), residual=residual)

    def checked(self, counts: Mapping[int, int]) -> dict[int, int]:
        """The positive counts in ascending order of elements; raises InvalidParameter."""
        kept = _whole(mapping_of("counts", counts))
        if kept and min(kept) < 0:
            raise InvalidParameter("element", min(kept), "an integer >= 0")
        if kept and max(kept) >= self.universe:
            raise InvalidParameter("element", max(kept), f"< universe = {self.universe}")
        if kept and min(kept.values()) < 0:
            element = min(kept, key=kept.__getitem__)
            raise InvalidParameter(f"counts[{element}]", kept[element], "an integer >= 0")
        if sum(kept.values()) != self.n:
            raise InvalidParameter("the sum of counts", sum(kept.values()), f"n = {self.n}")
        return ascending({key: count for key, count in kept.items() if count})

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""
        tilde = self.noise.e_half_epsilon**2
        nothing = Enclosure.exact(0)
        return Guarantee(self.noise.epsilon, nothing, REPLACED_ROW, self.source, tilde)

    @property
    def variance(self) -> Fraction:
        """An upper bound of the mean square error that noise adds to a released count."""
        return self.noise.variance

    @property
    def bits(self) -> int | None:
        """Random bits read by every release; None if the number varies."""
        return None

    def accuracy(self, beta: Real) -> Accuracy:
        """Error bounds that hold with probability at least 1 - beta, 0 < beta < 1.

        Simultaneous: a union bound over the universe.
        """
        chance = delta_target("beta", beta)
        every = self.noise.error(chance / self.universe)
        return Accuracy(chance, self.noise.error(chance), -1, every)

    @abstractmethod
    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        """Noisy bins for checked counts."""

    def _noisy(self, counts: dict[int, int], source: Source) -> list[int]:
        """The noisy counts of the non-empty bins.

        If all draws read the same number of random bits, then n draws are made, so that a release
        does the same for every number of non-empty bins.
        """
        values = list(counts.values())
        if self.noise.bits_per_draw is not None:
            values += [0] * (source.draws(len(values), self.n) - len(values))
        return self.noise.sample_each(values, source)[: len(counts)]

    def _least_universe(self) -> int:
        return 1


def noise_of(n: int, epsilon: Real, fixed_time: bool) -> CountSampler:
    """Geometric noise for a histogram of n rows."""
    return FastSample(n, epsilon) if fixed_time else GeoSample(n, epsilon)


def ascending(counts: dict[int, int]) -> dict[int, int]:
    """The same counts in ascending order of elements."""
    if not counts or max(counts) >= 1 << 64:
        return dict(sorted(counts.items()))
    elements, values = np.fromiter(counts, np.uint64, len(counts)), list(counts.values())
    order = np.argsort(elements)
    return dict(zip(elements[order].tolist(), map(values.__getitem__, order.tolist()), strict=True))


def _whole(counts: Mapping[Any, Any]) -> dict[int, int]:
    """Elements and counts as integers; raises InvalidParameter for an element given twice."""
    if {*map(type, counts), *map(type, counts.values())} <= {int}:
        return dict(counts)  # the common case, checked quickly
    kept: dict[int, int] = {}
    for element, count in counts.items():
        if isinstance(element, str | bytes) and not element.isdigit():
            allowed = "an integer >= 0 (encode_bytes makes one of a text)"
            raise InvalidParameter("element", element, allowed)
        key = integer("element", element, least=0)
        if key in kept:
            raise InvalidParameter("element", element, "a key that occurs once in counts")
        kept[key] = integer(f"counts[{key}]", count, least=0)
    return kept


class BinsMechanism(HistogramMechanism):
    """A mechanism whose release is a list of bins."""

    @classmethod
    def of(
        cls, *, n: int, epsilon: Real, universe: int, fixed_time: bool = False, **parameters: Any
    ) -> Self:
        """The mechanism with geometric noise for n rows and epsilon.

        universe: number of elements. fixed_time: whether noise reads a fixed number of random bits
        (FastSample). parameters: the class's other parameters. Raises InvalidParameter.
        """
        return cls(noise_of(n, epsilon, fixed_time), universe, **parameters)

    def release(self, counts: Mapping[int, int], source: Source) -> Release:
        """Publish a histogram.

        counts: element -> true count; the counts sum to n. source: randomness fit for a release,
        such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return Release(self.draw(counts, source), self.guarantee)
