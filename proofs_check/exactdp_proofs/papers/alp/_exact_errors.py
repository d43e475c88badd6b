"""The exact error of Algorithm 3 for entries far from both ends, random rounding included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from exactdp.enclosure import Enclosure
from exactdp.mechanisms.projections.error_law import ErrorLaw, estimate_law
from exactdp_proofs.rationals import Fraction

Floats = NDArray[np.float64]

#: Levels, as many as 5000/3: the entry is in the middle.
_LEVELS = 1667


@dataclass(frozen=True, eq=False)
class Uniform:
    """alpha (O + R): O the offset from the rounded value, R what rounding adds.

    For a fractional part that is uniform, R has the density 1 - |r| on (-1, 1), and E|o + R| is
    o^2 - |o|^3/3 + 1/3 for |o| <= 1, else |o|; E R = 0 and E R^2 = 1/6.
    """

    alpha: Fraction
    law: ErrorLaw

    def mean_absolute(self) -> Enclosure:
        """E|error|."""

        def mean_at(offsets: Floats) -> Floats:
            o = np.abs(offsets)
            each: Floats = np.where(o < 1, o**2 - o**3 / 3 + 1 / 3, o)
            return each

        return scaled(self._mean(mean_at, self.law.span + 1), self.alpha)

    def mean(self) -> Enclosure:
        """E error."""
        return scaled(self.law.mean(), self.alpha)

    def variance(self) -> Enclosure:
        """The variance, where the mean is not negative."""
        square, mean = self.law.mean_square(), self.law.mean()
        low, high = square.lower - mean.upper**2, square.upper - mean.lower**2
        sixth = Fraction(1, 6)
        return scaled(Enclosure(low + sixth, high + sixth), self.alpha**2)

    def share_within(self, limit: float) -> Enclosure:
        """P(|error| <= limit)."""
        t = limit / float(self.alpha)
        return self._mean(lambda o: _rounded(t - o) - _rounded(-t - o), 1.0)

    def _mean(self, mean_at: Callable[[Floats], Floats], largest: float) -> Enclosure:
        """The mean of a function of the offset; the function changes by at most 1 per level."""
        return self.law.mapped(mean_at, largest).mean()


def _rounded(r: Floats) -> Floats:
    """P(R <= r)."""
    cut = np.clip(r, -1, 1)
    below: Floats = np.where(cut < 0, (1 + cut) ** 2 / 2, 1 - (1 - cut) ** 2 / 2)
    return below


def scaled(of: Enclosure, factor: Fraction) -> Enclosure:
    """The enclosure times a positive factor."""
    return Enclosure(of.lower * factor, of.upper * factor)


@cache
def uniform(alpha: Fraction, collision: Fraction) -> Uniform:
    """For an entry far from both ends, with flip probability 1/(alpha + 2)."""
    law = estimate_law(Fraction(_LEVELS // 2), _LEVELS, 1 / (alpha + 2), collision)
    return Uniform(alpha, law)
