"""One bit per user, at user level: the randomized sign of a clipped sum.

The signed sum of a user's entries is clipped to [-eta, eta], rounded at random to one of the two
ends, and the end is sent by randomized response. The variance is at most (eta c)^2 with
c = (r + 1)/(r - 1); Laplace noise on the sum would have 8 (eta/epsilon)^2, which is more for
epsilon up to about 2. The code published with SVA works in this way, too.

Source: Zhou et al. (SVA), Section IV-D; Duchi, Jordan, Wainwright 2013 (one bit for a bounded
value).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from exactdp.fields import frozen
from exactdp.local.bulk_choices import coins
from exactdp.local.report_formats import Reports
from exactdp.local.sparse.clipped_sum import GRID, ClippedSum
from exactdp.local.sparse.entries import Scaled
from exactdp.samplers import Source

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld


@frozen
class OneBit(ClippedSum):
    """One bit of the clipped signed sum of a user's entries, at user level.

    d, k, epsilon: as for Baseline. clip: eta, rounded to a multiple of 1/64; "published" for that
    of the published code, sqrt(k ln n)/2.5 for n users; None for the one with the least error for
    vectors as stated. users, entries, share: for the choice of eta, as for SparseVectorMean.

    >>> from exactdp.local.sparse import OneBit
    >>> OneBit(d=100_000, k=64, epsilon=1).bits
    18
    """

    source = "SVA, Section IV-D, with randomized response on one bit for the noise"

    @property
    def _cost(self) -> float:
        return float(1 / self._shrinks**2)

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)/eta."""
        return self._shrinks / self._eta

    @property
    def loss(self) -> Pld:
        """The privacy loss of one report, which composes over the reports of a user."""
        # imported here: 0.1 s, which few users of this room need
        from exactdp.accounting import pld

        return pld.randomized_response(epsilon=self.epsilon)

    def _respond(self, values: Scaled, source: Source) -> Reports:
        functions, sums = self._clipped_sums(values, source)
        eta = int(self._eta * GRID)
        high = source.uneven_coins(sums + eta, 2 * eta)
        flip = coins(1 / (self.e_epsilon + 1), values.n, source)
        reports: Reports = 2 * functions + (high == flip)
        return reports
