"""Proved errors of recovered shares, for any distribution, any matrix and any number of reports.

Let b_x be the columns of the system q - 1/m = sum over x of p_x b_x (sparse_recovery.py), and S a
set of s values that was chosen without these reports: known ones, or found from other reports.
Take a vector u with <u, b_x> <= h for x in S and <u, b_z> <= c < h for all other z. Then

    <u, q - 1/m> <= h (1 - P) + c P,  so  P <= (h - <u, q - 1/m>)/(h - c)

for the share P of all values outside S. Vectors w_x with <w_x, b_y> = 1[x = y] on S give
<w_x, q - 1/m> = p_x + error, |error| <= P max over z of |<w_x, b_z>|. The means over q are
estimated from n reports. Their errors follow from Bernstein's inequality (an output has probability
at most r/N, so the variance is at most r/N |u|^2), and that of all w_x together from Bousquet's
(2002, Theorem 2.3), for the supremum over directions in the span of the w_x. No sparsity is
assumed: if p is spread, P is large. The numbers h, c and <w_x, b_z> are computed from the deployed
matrix; floats choose u and W. Any u and W give true bounds: the rounding of products is added.

A bound for all sets S at once needs more. By the coherence it covers s <= (1/coherence + 1)/2, and
every matrix with m = 500 and k = 10000 has a coherence of at least sqrt((k - m)/(m (k - 1))) =
0.0436 (Welch 1974), so s <= 11. Restricted isometry is hard to certify for a given matrix.

Source: CP (Xiong et al.), Algorithm 1 and Corollary 3.4.1; dual certificates: Fuchs 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import frozen, instance
from exactdp.local.bulk_choices import Integers
from exactdp.local.mechanism import State
from exactdp.local.set_law import SetLaw
from exactdp.parameters import Real, delta_target, integer

Floats = NDArray[np.float64]

#: The levels c that are tried; the most columns that are held at c; the most rounds for one level.
_LEVELS, _MOST_HELD, _ROUNDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 150, 8

#: More than the rounding errors of a few float operations on the final bounds.
_UP = 1 + 1e-9


@dataclass(frozen=True)
class CertifiedShares:
    """Estimated shares of the values of a set, with bounds that hold together.

    shares, within: of each value, |true share - share| <= within. outside: bound of the share of
    all other values. l1: bound of the l1 error of the shares, all others being estimated as
    0. Each is wrong with probability at most beta together.
    """

    support: tuple[int, ...]
    shares: Floats
    within: Floats
    outside: float
    l1: float


@frozen
class Certificate:
    """The bounds for one mechanism and one set of values, chosen without the reports.

    support: distinct values, at most m/2 of them. Raises InvalidParameter if their columns are
    dependent, or if no vector u separates them from the others.
    """

    mechanism: SetLaw = instance(SetLaw)
    support: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: SetLaw, support: Sequence[int]) -> Certificate:
        """The certificate for these values."""
        return cls(mechanism, tuple(support))

    def __post_init__(self) -> None:
        values = self.mechanism._checked(list(self.support))
        object.__setattr__(self, "support", tuple(values.tolist()))
        number, most = Described(f"{len(values)} values"), self.mechanism.cells // 2
        if not 1 <= len(set(self.support)) == len(values) <= most:
            raise InvalidParameter("support", number, f"1 to {most} distinct values")
        if self._levels[0] <= self._levels[1]:
            raise InvalidParameter("support", number, "fewer values, or more outputs (m)")

    def shares(self, state: State, beta: Real) -> CertifiedShares:
        """Estimates from a state of other reports than the support was found from."""
        self.mechanism._require_reports(state)
        seen = self.mechanism._system.measured(state.counts, state.n)
        high = self._levels[0]
        outside, within, l1 = self._bounds(state.n, beta, high - float(self._separator @ seen))
        return CertifiedShares(self.support, self._dual.T @ seen, within, outside, l1)

    def l1(self, n: int, beta: Real) -> float:
        """A bound of the l1 error from n reports, for every distribution on the support.

        It fails with probability at most beta.
        """
        high, _, low = self._levels
        _, _, error = self._bounds(integer("n", n, least=1), beta, high - low, sides=2)
        return error

    def _bounds(
        self, n: int, beta: Real, missing: float, sides: int = 1
    ) -> tuple[float, Floats, float]:
        """outside, within and l1. missing: h - <u, q - 1/m>, up to `sides` errors of the mean."""
        s, high, low = len(self.support), self._levels[0], self._levels[1]
        rare = log((2 * s + 3) / delta_target("beta", beta))
        off = sides * self._deviation(self._separator, n, rare) + self._slack(self._separator)
        outside = min(max((missing + off) / (high - low), 0.0), 1.0) * _UP
        leaks, together, unequal = self._leaks
        each = np.array([self._deviation(w, n, rare) for w in self._dual.T])
        within = (each + leaks * outside + unequal) * _UP
        strong = sqrt(self._largest * float((self._dual**2).sum()) / n)  # E |error of all w_x|
        weak = self._largest * float(np.linalg.norm(self._dual, 2)) ** 2  # in one direction
        most = 2 * float(np.linalg.norm(self._dual, axis=1).max())
        spread = strong + sqrt(2 * rare * (weak + 2 * most * strong) / n) + most * rare / (3 * n)
        l1 = sqrt(s) * (spread + together * outside) + s * unequal + outside
        return outside, within, min(l1 * _UP, 2.0)

    def _deviation(self, u: Floats, n: int, rare: float) -> float:
        """A bound of |<u, shares of outputs> - mean|, except with probability 2 e^-rare."""
        steep = float(u.max() - u.min()) * rare / (3 * n)
        return steep + sqrt(steep**2 + 2 * self._largest * float(u @ u) * rare / n)

    @cached_property
    def _largest(self) -> float:
        """The largest probability of an output, r/N, for any value."""
        r, smallest = self.mechanism.ratio, min(self.mechanism.columns.sizes)
        return float(r / self.mechanism._base(int(smallest), r)) * _UP

    @cached_property
    def _columns(self) -> Floats:
        """The columns b_x of the values of the support, m x s."""
        system, values = self.mechanism._system, list(self.support)
        return np.asarray(system.matrix[:, values] / system.scale[values])

    @cached_property
    def _dual(self) -> Floats:
        """W: <w_x, b_y> = 1[x = y] on the support, of least norm."""
        return np.asarray(np.linalg.pinv(self._columns).T)

    @cached_property
    def _separator(self) -> Floats:
        """u: 1 on the support, and small elsewhere, for the least error of the share outside."""
        plain: Floats = self._dual.sum(axis=1)
        held = (self._held(level) for level in _LEVELS)
        return min([plain, *(u for u in held if u is not None)], key=self._rated)

    def _rated(self, u: Floats) -> float:
        """The error of the share outside, up to a factor."""
        gap = 1 - float(self._products(u)[self._others].max())
        return float(np.linalg.norm(u)) / gap if gap > 0 else float("inf")

    def _held(self, level: float) -> Floats | None:
        """The vector of least norm that is 1 on the support and at most `level` elsewhere, nearly.

        Columns above the level are held at the level, until no others are above it.
        """
        system, held = self.mechanism._system, np.array([], np.int64)
        for _ in range(_ROUNDS):
            columns = np.hstack([self._columns, system.matrix[:, held] / system.scale[held]])
            target = np.append(np.ones(len(self.support)), np.full(len(held), level))
            fit = np.linalg.lstsq(columns.T @ columns, target, rcond=None)[0]
            u: Floats = np.asarray(columns @ fit)
            products = self._products(u)
            above = self._others[products[self._others] > level * (1 + 1e-9)]
            held = np.union1d(held, above)
            if not len(above) or len(held) > _MOST_HELD:
                break
        return None if len(held) > _MOST_HELD else u

    @cached_property
    def _others(self) -> Integers:
        return np.setdiff1d(np.arange(self.mechanism.columns.k), self.support)

    @cached_property
    def _levels(self) -> tuple[float, float, float]:
        """h, c, and the least <u, b_x> on the support."""
        products = self._products(self._separator)
        own, slack = products[list(self.support)], self._slack(self._separator)
        others = float(products[self._others].max(initial=-np.inf)) + slack
        return float(own.max()) + slack, others, float(own.min()) - slack

    @cached_property
    def _leaks(self) -> tuple[Floats, float, float]:
        """The largest |<w_x, b_z>| for each x and |W^T b_z|, and the error on the support."""
        products, slack = self._products(self._dual), self._slack(self._dual)
        others = products[self._others]
        unit = np.abs(products[list(self.support)] - np.eye(len(self.support))).max() + slack
        leaks = np.abs(others).max(axis=0, initial=0.0) + slack
        together = float(np.linalg.norm(others, axis=1).max(initial=0.0)) + slack
        return leaks, together, float(unit)

    def _products(self, vectors: Any) -> Floats:
        """<v, b_z> for every value z (rows) and, if there are several, every vector (columns)."""
        system = self.mechanism._system
        return np.asarray(((system.matrix.T @ vectors).T / system.scale).T)

    def _slack(self, vectors: Floats) -> float:
        """More than the rounding error of a product: (m + 16) 2^-52 |v| |b_z|, for any order."""
        norms = np.linalg.norm(vectors) / self.mechanism._system.scale.min()
        return float((self.mechanism.cells + 16) * 2.0**-52 * norms)
