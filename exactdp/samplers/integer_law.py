"""What every integer-valued noise offers: its exact law, single draws, and draws in bulk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.parameters import integer
from exactdp.samplers.inverse_cdf import Cdf, RealCdf
from exactdp.samplers.source import Source

__all__ = ["CHUNK", "Bulk", "IntegerLaw", "Integers", "floor_at"]

Integers = NDArray[np.int64]

#: Draws made at once: small enough to stay in cache.
CHUNK = 1 << 17


class Bulk(Protocol):
    """A vectorised sampler with exactly the law it was built from."""

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""


class IntegerLaw(ABC):
    """A distribution on the integers, known through its distribution function.

    Subclasses are frozen dataclasses of validated parameters.
    """

    @abstractmethod
    def _make_cdf(self) -> Cdf:
        """The distribution function, in a form that can be inverted exactly."""

    @abstractmethod
    def _make_bulk(self) -> Bulk:
        """Tables for sample_many; raises InvalidParameter when values may not fit int64."""

    @cached_property
    def _cdf(self) -> Cdf:
        return self._make_cdf()

    @cached_property
    def _bulk(self) -> Bulk:
        return self._make_bulk()

    def sample(self, source: Source) -> int:
        """One exact draw; at most the entropy + 3 random bits on average."""
        return source.inverse_cdf(self._cdf)

    def sample_many(self, n: int, source: Source) -> Integers:
        """n independent exact draws as int64, vectorised.

        Raises InvalidParameter before drawing when values outside int64 are possible in practice.
        """
        size = integer("n", n, least=0)
        bulk = self._bulk
        result = np.empty(size, np.int64)
        for start in range(0, size, CHUNK):
            stop = min(start + CHUNK, size)
            result[start:stop] = bulk.draw(stop - start, source)
        return result

    def sample_chunks(self, n: int, source: Source) -> Iterator[Integers]:
        """n draws as an iterator of arrays, for more draws than fit in memory."""
        size = integer("n", n, least=0)
        for start in range(0, size, CHUNK):
            yield self._bulk.draw(min(CHUNK, size - start), source)

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

    @abstractmethod
    def pmf(self, z: int) -> Fraction | Enclosure:
        """P(X = z): a Fraction where it is rational, otherwise an enclosure."""


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
