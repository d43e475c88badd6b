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
from functools import cached_property
from typing import Any

import numpy as np

from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import coins
from exactdp.local.report_formats import Reports
from exactdp.local.sparse.clipping import (
    Stated,
    at_most_one,
    clip_at,
    clip_bias,
    clip_bias_of_any_items,
    published_clip,
)
from exactdp.local.sparse.entries import Scaled, checked
from exactdp.local.sparse.hashed_signs import HashedSigns
from exactdp.parameters import Real, rational
from exactdp.samplers import Source

_GRID = 64


@frozen
class OneBit(HashedSigns):
    """One bit of the clipped signed sum of a user's entries, at user level.

    d, k, epsilon: as for Baseline. clip: eta, rounded to a multiple of 1/64; "published" for that
    of the published code, sqrt(k ln n)/2.5 for n users; None for the one with the least error for
    vectors as stated. users, entries, share: for the choice of eta, as for SparseVectorMean.

    >>> from exactdp.local.sparse import OneBit
    >>> OneBit(d=100_000, k=64, epsilon=1).bits
    18
    """

    users: int = whole(least=1, default=100_000)
    clip: Real | None = None
    entries: int | None = whole(least=1, default=None)
    share: Number = number(at_most_one, default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        cost, eta = float(1 / self._shrinks**2), clip_at("clip", self.clip, self.k, self.users)
        units = (
            self.stated.clip(_GRID, 1.0, self.users, cost, published_clip(self.k, self.users))
            if eta is None
            else round(_GRID * eta)
        )
        object.__setattr__(self, "clip", Fraction(min(max(units, 1), self.k * _GRID), _GRID))

    @property
    def stated(self) -> Stated:
        """What is stated about the vectors."""
        return Stated(self.entries or self.k, self.share)

    def stated_error(self, users: int, stated: Stated) -> float:
        """The mean square error for the item that most users have, of vectors as stated."""
        bias = float(stated.bias(1.0, min(float(self._eta), stated.entries)))
        return float(self.variance) / users + bias**2

    source = "SVA, Section IV-D, with randomized response on one bit for the noise"

    @property
    def _eta(self) -> Fraction:
        return rational("clip", self.clip or 1)

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)/eta."""
        return self._shrinks / self._eta

    @cached_property
    def bias(self) -> Fraction:
        """Upper bound of the bias by clipping, for independent signs."""
        return clip_bias(self.k, Fraction(1), self._eta) if self._eta < self.k else Fraction(0)

    @property
    def bias_of_any_items(self) -> Fraction:
        """Upper bound of the bias by clipping, for any items."""
        return (
            clip_bias_of_any_items(self.k, Fraction(1), self._eta)
            if self._eta < self.k
            else Fraction(0)
        )

    def _checked(self, values: Any) -> Scaled:
        return checked(values, d=self.d, k=self.k, grid=_GRID)

    def _respond(self, values: Scaled, source: Source) -> Reports:
        functions = self.family.draw(values.n, source)
        _, sign = self.family.places(functions[values.user], values.item)
        sums, eta = np.zeros(values.n, np.int64), int(self._eta * _GRID)
        np.add.at(sums, values.user, sign * values.rounded(source))
        high = source.uneven_coins(sums.clip(-eta, eta) + eta, 2 * eta)
        flip = coins(1 / (self.e_epsilon + 1), values.n, source)
        reports: Reports = 2 * functions[:, 0] + (high == flip)
        return reports
