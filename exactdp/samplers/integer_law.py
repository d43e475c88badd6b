"""The base of integer-valued noise: exact law, single draws, and draws in bulk."""

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
from exactdp.samplers.cdf import Cdf, RealCdf
from exactdp.samplers.inverse_cdf import quantile
from exactdp.samplers.source import Source

#: Up to this number of draws, single draws are not slower than bulk draws.
_FEW = 64

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Number of draws per array of sample_chunks.
CHUNK = 1 << 20

#: Number of draws that are made at a time, so that their arrays stay in cache.
_AT_ONCE = 1 << 16


class Sampler(Protocol):
    """An exact sampler of one law, with single draws and draws in bulk."""

    def sample(self, source: Source) -> int:
        """One draw."""

    def fill(self, values: Integers, source: Source) -> None:
        """As many independent draws as an array has places, each in its place."""


@frozen
class IntegerLaw(ABC):
    """A distribution on the integers, given by its distribution function.

    Subclasses are frozen dataclasses of validated parameters.
    """

    @property
    @abstractmethod
    def mean(self) -> Fraction | Enclosure:
        """The expectation: a Fraction if it is rational, otherwise an enclosure."""

    @property
    @abstractmethod
    def variance(self) -> Fraction | Enclosure:
        """The variance: a Fraction if it is rational, otherwise an enclosure."""

    @abstractmethod
    def _make_cdf(self) -> Cdf:
        """The distribution function, in a form that can be inverted exactly."""

    @abstractmethod
    def _make_sampler(self) -> Sampler:
        """The sampler with its tables."""

    def _too_wide(self) -> InvalidParameter | None:
        """The error to raise if values may not fit int64, else None."""
        return None

    @cached_property
    def _cdf(self) -> Cdf:
        return self._make_cdf()

    @cached_property
    def _sampler(self) -> Sampler:
        return _sampler_of(self)

    def sample(self, source: Source) -> int:
        """One exact draw by a table look-up, from 64 random bits (128 at large scales).

        A source of single bits, such as EnumeratingSource, makes the same decisions bit by bit.
        """
        return self._sampler.sample(source)

    def sample_many(self, n: int, source: Source) -> Integers:
        """n independent exact draws as int64, vectorised.

        Raises InvalidParameter before drawing if values outside int64 are not negligibly rare.
        """
        size, sampler = integer("n", n, least=0), self._fitting()
        result = np.empty(size, np.int64)
        for start in range(0, size, CHUNK):
            sampler.fill(result[start : start + CHUNK], source)
        return result

    def sample_each(self, n: int, source: Source) -> list[int]:
        """n independent draws, one by one if they are few, so that they can be enumerated."""
        if n <= _FEW:
            return [self.sample(source) for _ in range(n)]
        values: list[int] = self.sample_many(n, source).tolist()
        return values

    def sample_chunks(self, n: int, source: Source) -> Iterator[Integers]:
        """n draws as an iterator of arrays, for more draws than fit into memory."""
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
        """Copies consist of the parameters; tables are built on use."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def cdf(self, z: int) -> Enclosure:
        """P(X <= z) in an enclosure of width <= 2^-126; exact if it is a short fraction."""
        point = integer("z", z, least=-(10**1000))
        cdf = self._cdf
        if cdf.low is not None and point < cdf.low:
            return Enclosure.exact(0)
        if cdf.high is not None and point >= cdf.high:
            return Enclosure.exact(1)
        lower, upper = cdf.bracket(point, 128)
        return Enclosure(Fraction(lower, 1 << 128), Fraction(upper, 1 << 128))

    def quantile(self, level: Real) -> int:
        """The least z with P(X <= z) >= level, certified; 0 < level < 1.

        Raises Undecided if P(X <= z) cannot be distinguished from the level.
        """
        wanted = rational("level", level)
        if not 0 < wanted < 1:
            raise InvalidParameter("level", level, "> 0 and < 1")
        return quantile(self._cdf, wanted)

    @abstractmethod
    def pmf(self, z: int) -> Fraction | Enclosure:
        """P(X = z): a Fraction if it is rational, otherwise an enclosure."""

    def pmf_many(self, zs: Iterable[int]) -> tuple[Floats, Floats]:
        """P(X = z) for many z: two arrays of doubles, lower and upper bounds."""
        return _ends(self.pmf(z) for z in zs)

    def cdf_many(self, zs: Iterable[int]) -> tuple[Floats, Floats]:
        """P(X <= z) for many z: two arrays of doubles, lower and upper bounds."""
        return _ends(self.cdf(z) for z in zs)


def _ends(values: Iterable[Fraction | Enclosure]) -> tuple[Floats, Floats]:
    pairs = [v if isinstance(v, Enclosure) else Enclosure.exact(v) for v in values]
    lower = np.array([pair.float_lower() for pair in pairs])
    return lower, np.array([pair.float_upper() for pair in pairs])


@lru_cache(16)
def _sampler_of(law: IntegerLaw) -> Sampler:
    """The sampler of a law; equal laws share tables, which are cached for the last few laws."""
    return law._make_sampler()


def slices(n: int) -> list[slice]:
    """The parts of [0, n) that are drawn at a time."""
    return [slice(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE)]


def floor_at(cdf: Cdf, z: int, bits: int) -> int:
    """floor(2^bits F(z)), certified; raises Undecided."""
    for extra in (0, 64, 192):
        lower, upper = cdf.bracket(z, bits + extra)
        if isinstance(cdf, RealCdf) and z != cdf.high:
            upper = min(upper, (1 << bits + extra) - 1)  # F < 1 before the largest outcome
        if lower >> extra == upper >> extra:
            return lower >> extra
    if isinstance(cdf, RealCdf) and cdf.exact is not None:
        return floor(cdf.exact(z) * (1 << bits))
    raise Undecided(f"floor(2^{bits} F({z})) is not determined at the largest precision")
