"""What every integer-valued noise offers: its exact law, single draws, and draws in bulk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import frozen
from exactdp.parameters import Real, integer, rational
from exactdp.samplers.inverse_cdf import Cdf, RealCdf, quantile
from exactdp.samplers.source import Source

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Draws of one array of sample_chunks, and those made at once: few enough to stay in cache.
CHUNK = 1 << 20
_AT_ONCE = 1 << 16


class Sampler(Protocol):
    """Draws, one or many, with exactly the law it was built from."""

    def sample(self, source: Source) -> int:
        """One draw."""

    def fill(self, values: Integers, source: Source) -> None:
        """As many independent draws as an array has places, each in its place."""


@frozen
class IntegerLaw(ABC):
    """A distribution on the integers, known through its distribution function.

    Subclasses are frozen dataclasses of validated parameters.
    """

    @property
    @abstractmethod
    def mean(self) -> Fraction | Enclosure:
        """The expectation: a Fraction where it is rational, otherwise an enclosure."""

    @property
    @abstractmethod
    def variance(self) -> Fraction | Enclosure:
        """The variance: a Fraction where it is rational, otherwise an enclosure."""

    @abstractmethod
    def _make_cdf(self) -> Cdf:
        """The distribution function, in a form that can be inverted exactly."""

    @abstractmethod
    def _make_sampler(self) -> Sampler:
        """Its tables."""

    def _too_wide(self) -> InvalidParameter | None:
        """What is wrong when values may not fit int64."""
        return None

    @cached_property
    def _cdf(self) -> Cdf:
        return self._make_cdf()

    @cached_property
    def _sampler(self) -> Sampler:
        return _sampler_of(self)

    def sample(self, source: Source) -> int:
        """One exact draw, as fast as a look-up: 64 random bits, 128 at large scales.

        A source without words at hand (EnumeratingSource) makes the same decisions bit by bit.
        """
        return self._sampler.sample(source)

    def sample_many(self, n: int, source: Source) -> Integers:
        """n independent exact draws as int64, vectorised.

        Raises InvalidParameter before drawing when values outside int64 are possible in practice.
        """
        size, sampler = integer("n", n, least=0), self._fitting()
        result = np.empty(size, np.int64)
        for start in range(0, size, CHUNK):
            sampler.fill(result[start : start + CHUNK], source)
        return result

    def sample_chunks(self, n: int, source: Source) -> Iterator[Integers]:
        """n draws as an iterator of arrays, for more draws than fit in memory."""
        size, sampler = integer("n", n, least=0), self._fitting()
        for start in range(0, size, CHUNK):
            chunk = np.empty(min(CHUNK, size - start), np.int64)
            sampler.fill(chunk, source)
            yield chunk

    def _fitting(self) -> Sampler:
        if error := self._too_wide():
            raise error
        return self._sampler

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made from the parameters alone: tables are built where they are used."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def cdf(self, z: int) -> Enclosure:
        """P(X <= z) in an enclosure of width <= 2^-126, exact where it is a short rational."""
        point = integer("z", z, least=-(10**1000))
        cdf = self._cdf
        if cdf.low is not None and point < cdf.low:
            return Enclosure.exact(0)
        if cdf.high is not None and point >= cdf.high:
            return Enclosure.exact(1)
        lower, upper = cdf.bracket(point, 128)
        return Enclosure(Fraction(lower, 1 << 128), Fraction(upper, 1 << 128))

    def quantile(self, level: Real) -> int:
        """The least z with P(X <= z) >= level, for certain; 0 < level < 1.

        Raises Undecided where P(X <= z) cannot be told from the level.
        """
        wanted = rational("level", level)
        if not 0 < wanted < 1:
            raise InvalidParameter("level", level, "> 0 and < 1")
        return quantile(self._cdf, wanted)

    @abstractmethod
    def pmf(self, z: int) -> Fraction | Enclosure:
        """P(X = z): a Fraction where it is rational, otherwise an enclosure."""

    def pmf_many(self, zs: Iterable[int]) -> tuple[Floats, Floats]:
        """P(X = z) for many z: arrays of doubles just below and just above."""
        return _ends(self.pmf(z) for z in zs)

    def cdf_many(self, zs: Iterable[int]) -> tuple[Floats, Floats]:
        """P(X <= z) for many z: arrays of doubles just below and just above."""
        return _ends(self.cdf(z) for z in zs)


def _ends(values: Iterable[Fraction | Enclosure]) -> tuple[Floats, Floats]:
    pairs = [v if isinstance(v, Enclosure) else Enclosure.exact(v) for v in values]
    lower = np.array([pair.float_lower() for pair in pairs])
    return lower, np.array([pair.float_upper() for pair in pairs])


@lru_cache(16)
def _sampler_of(law: IntegerLaw) -> Sampler:
    """Tables are shared by equal laws, and kept for the latest few."""
    return law._make_sampler()


def slices(n: int) -> list[slice]:
    """[0, n) in parts that are drawn at once."""
    return [slice(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE)]


def floor_at(cdf: Cdf, z: int, bits: int) -> int:
    """floor(2^bits F(z)), for certain."""
    for extra in (0, 64, 192):
        lower, upper = cdf.bracket(z, bits + extra)
        if isinstance(cdf, RealCdf) and z != cdf.high:
            upper = min(upper, (1 << bits + extra) - 1)  # F < 1 before the largest outcome
        if lower >> extra == upper >> extra:
            return lower >> extra
    if isinstance(cdf, RealCdf) and cdf.exact is not None:
        return floor(cdf.exact(z) * (1 << bits))
    raise Undecided(f"floor(2^{bits} F({z})) is not settled")
