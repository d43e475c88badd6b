"""Naive perturbation: noise on every coordinate, d numbers per user.

Source: Zhou et al. (SVA), Section V (naive perturbation), with discrete noise on a grid.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from exactdp.accounting import zcdp
from exactdp.fields import frozen, whole
from exactdp.local.bulk_choices import Integers
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.baseline import Baseline
from exactdp.local.sparse.entries import Scaled, checked
from exactdp.local.sparse.gaussian_noise import GaussianNoise
from exactdp.local.sparse.report_plan import noise_ratio, reach_of
from exactdp.local.sparse.truncated_geometric import TruncatedGeometric
from exactdp.samplers import Source

_GRID = 64


@frozen
class _Dense(Baseline):
    """level: "user" or "event". grid: values are randomly rounded to multiples of 1/grid."""

    level: str = "user"
    grid: int = whole(least=1, most=1 << 20, default=_GRID)

    @property
    @abstractmethod
    def _limit(self) -> int:
        """Largest |reported number|, in units of 1/grid."""

    @abstractmethod
    def _draw_noise(self, n: int, source: Source) -> Integers:
        """n draws of the noise, in units of 1/grid."""

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: for each item, its noisy number minus the smallest possible."""
        return Numbers((2 * self._limit + 1,) * self.d)

    @property
    def bits(self) -> int:
        """Size of a report in bits, computed without the form, which lists d numbers."""
        return self.d * (2 * self._limit).bit_length()

    @property
    def scale(self) -> Fraction:
        """The grid."""
        return Fraction(self.grid)

    def _checked(self, values: Any) -> Scaled:
        return checked(values, d=self.d, k=self.k, grid=self.grid)

    def _respond(self, values: Scaled, source: Source) -> Reports:
        dense = np.zeros((values.n, self.d), np.int64)
        dense[values.user, values.item] = values.rounded(source)
        noise = self._draw_noise(dense.size, source).reshape(dense.shape)
        shifted = (dense + noise).clip(-self._limit, self._limit) + self._limit
        reports: Reports = shifted[:, 0] if self.d == 1 else shifted
        return reports

    def _tally(self, reports: Reports) -> Integers:
        rows = reports.reshape(len(reports), self.d)
        total: Integers = (rows - self._limit).sum(axis=0)
        return total


@frozen
class NaiveLaplace(_Dense):
    """Two-sided geometric noise for the L1 sensitivity: 2 at event level, 2k at user level.

    d, k, epsilon: as for Baseline. level: "user" or "event". grid: >= 1.
    """

    source = "SVA, Section V: noise by the L1 distance; random rounding to the grid included"

    @cached_property
    def _noise(self) -> TruncatedGeometric:
        moved = 2 * self.grid * (self.k if self.level == "user" else 1)
        q = noise_ratio(moved, self.e_epsilon)
        return TruncatedGeometric(q, 2 * self.grid + reach_of(q))

    @property
    def variance(self) -> Fraction:
        """The variance of the noise plus 1/(2 grid)^2 for rounding."""
        noise = 2 * self._noise.q / ((1 - self._noise.q) * self.grid) ** 2
        return noise + Fraction(1, (2 * self.grid) ** 2)

    @property
    def _limit(self) -> int:
        return self._noise.reach - self.grid

    def _draw_noise(self, n: int, source: Source) -> Integers:
        return self._noise.draw(n, source)


@frozen
class NaiveGaussian(GaussianNoise, _Dense):
    """Discrete Gaussian noise for the L2 sensitivity: 2 at event level, 2 sqrt(k) at user level.

    d, k, epsilon: as for Baseline. level: "user" or "event". grid: >= 1. delta: > 0 and < 1.
    """

    source = "zCDP of discrete Gaussian noise (Canonne, Kamath, Steinke 2020, Proposition 12)"

    @cached_property
    def sigma2(self) -> Fraction:
        """sigma^2 in units of 1/grid^2, an integer."""
        square = (2 * self.grid) ** 2 * (self.k if self.level == "user" else 1)
        rho = zcdp.rho(epsilon=self.epsilon, delta=self.delta).lower
        return Fraction(ceil(square / (2 * rho)))

    @property
    def variance(self) -> Fraction:
        """The variance of continuous noise, an upper bound, plus 1/(2 grid)^2 for rounding."""
        return self.sigma2 / self.grid**2 + Fraction(1, (2 * self.grid) ** 2)

    @property
    def _limit(self) -> int:
        return self.grid + self._reach
