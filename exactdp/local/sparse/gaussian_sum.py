"""The clipped signed sum of a user's entries with discrete Gaussian noise, at user level.

SVA leaves mechanisms with Renyi differential privacy (RDP) open. With one bin, the reports of any
two vectors of a user are one integer with noise N_Z(0, s) moved by at most 2 eta: whatever the sign
function is, by random rounding a mixture of such pairs, and clamped afterwards. The divergence of
order a is at most a (2 eta)^2/(2 s), for every a > 1, and the loss is that of one query of
sensitivity 2 eta, which the accountant composes: over many reports of a user, it grows with the
root of their number.

Source: Zhou et al. (SVA), Section IV-D and Appendix B (an open question); the noise and the
accounting are ours, after Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from exactdp.accounting import discrete_gaussian, gaussian
from exactdp.fields import frozen
from exactdp.local.bulk_choices import Integers
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.clipped_sum import GRID, ClippedSum
from exactdp.local.sparse.entries import Scaled
from exactdp.local.sparse.gaussian_noise import GaussianNoise
from exactdp.samplers import Source

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld


@frozen
class GaussianSum(GaussianNoise, ClippedSum):
    """The clipped signed sum of a user's entries with discrete Gaussian noise, at user level.

    d, k, epsilon, users, clip, entries, share: as for OneBit. delta: > 0 and < 1; epsilon and delta
    are those of one report. ``loss`` is the loss of a report: ``loss.composed(365).epsilon(delta)``
    is the loss of a year, ``loss.renyi(order)`` the Renyi divergence. For a single report OneBit
    has less error; for many reports of a user with one total loss, both have about the same.
    Source: SVA, Section IV-D and Appendix B; see the module.

    >>> from exactdp.local.sparse import GaussianSum
    >>> daily = GaussianSum(d=1000, k=8, epsilon="0.1", delta="1e-7")
    >>> print(format(daily.loss.composed(100).epsilon("1e-6"), "3"))
    [1.02, 1.03]
    """

    source = "one integer with discrete Gaussian noise (Canonne, Kamath, Steinke 2020, Theorem 7)"

    @property
    def _cost(self) -> float:
        near = gaussian.calibrate(epsilon=self.epsilon, delta=self.delta, sensitivity=2)
        return float(Fraction(near.sigma)) ** 2

    @property
    def sensitivity(self) -> int:
        """2 eta, in units of 1/64."""
        return int(2 * self._eta * GRID)

    @cached_property
    def sigma2(self) -> Fraction:
        """The parameter of the noise, in units of 1/64^2."""
        noise = discrete_gaussian.calibrate(
            epsilon=self.epsilon, delta=self.delta, sensitivity=self.sensitivity
        )
        return Fraction(noise.sigma2)

    @property
    def variance(self) -> Fraction:
        """The noise, and at most min(k, eta^2) for the other entries."""
        return self.sigma2 / GRID**2 + min(Fraction(self.k), self._eta**2)

    @property
    def scale(self) -> Fraction:
        """The grid."""
        return Fraction(GRID)

    @property
    def loss(self) -> Pld:
        """The privacy loss of one report, which composes over the reports of a user.

        Neighbours are any two vectors of the user; the text of the loss says "add-remove", as the
        law is the same in both orders.
        """
        # imported here: 0.1 s, which few users of this room need
        from exactdp.accounting import pld

        return pld.discrete_gaussian(sigma2=self.sigma2, sensitivity=self.sensitivity)

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: a sign function, and the noisy sum minus the smallest."""
        return Numbers((self.cells, 2 * self._limit + 1))

    @property
    def _limit(self) -> int:
        return self.sensitivity // 2 + self._reach

    def _respond(self, values: Scaled, source: Source) -> Reports:
        functions, sums = self._clipped_sums(values, source)
        noisy = (sums + self._draw_noise(values.n, source)).clip(-self._limit, self._limit)
        return np.stack([functions, noisy + self._limit], axis=1)

    def _tally(self, reports: Reports) -> Integers:
        counts = np.zeros(self.cells, np.int64)
        np.add.at(counts, reports[:, 0], reports[:, 1] - self._limit)
        return counts
