"""The exact error of Algorithm 3 for entries far from both ends, random rounding included."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.error_law import ErrorLaw, estimate_law

__all__ = ["Uniform", "uniform"]

Floats = NDArray[np.float64]

#: Levels, as many as 5000/3: the entry is in the middle.
_LEVELS = 1667


@dataclass(frozen=True, eq=False)
class Uniform:
    """alpha (O + R): O the offset from the rounded value, R what rounding adds.

    For a fractional part that is uniform, R has the density 1 - |r| on (-1, 1), and E|o + R| is
    o^2 - |o|^3/3 + 1/3 for |o| <= 1, else |o|; E R^2 = 1/6.
    """

    alpha: float
    law: ErrorLaw

    def mean_absolute(self) -> float:
        """E|error|."""
        o = np.abs(self.law.errors)
        each = np.where(o < 1, o**2 - o**3 / 3 + 1 / 3, o)
        return self.alpha * float((self.law.weights * each).sum())

    def mean(self) -> float:
        """E error."""
        return self.alpha * float((self.law.weights * self.law.errors).sum())

    def deviation(self) -> float:
        """The standard deviation."""
        square = float((self.law.weights * self.law.errors**2).sum()) + 1 / 6
        return float((self.alpha**2 * square - self.mean() ** 2) ** 0.5)

    def share_within(self, limit: float) -> float:
        """P(|error| <= limit)."""
        t, o = limit / self.alpha, self.law.errors
        return float((self.law.weights * (_rounded(t - o) - _rounded(-t - o))).sum())


def _rounded(r: Floats) -> Floats:
    """P(R <= r)."""
    cut = np.clip(r, -1, 1)
    below: Floats = np.where(cut < 0, (1 + cut) ** 2 / 2, 1 - (1 - cut) ** 2 / 2)
    return below


@cache
def uniform(alpha: Fraction, flip: Fraction, collision: Fraction) -> Uniform:
    """For an entry far from both ends. Numbers are right to 1e-3 at least (left * levels)."""
    return Uniform(float(alpha), estimate_law(Fraction(_LEVELS // 2), _LEVELS, flip, collision))
