"""The base of schemes that report the clipped signed sum of a user's entries, at user level."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import Integers
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

GRID = 64


@frozen
class ClippedSum(HashedSigns):
    """d, k, epsilon: as for Baseline. clip: eta, rounded to a multiple of 1/64; "published" for
    that of the published code, sqrt(k ln n)/2.5 for n users; None for the one with the least error
    for vectors as stated. users, entries, share: for the choice of eta, as for SparseVectorMean."""

    users: int = whole(least=1, default=100_000)
    clip: Real | None = None
    entries: int | None = whole(least=1, default=None)
    share: Number = number(at_most_one, default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        eta = clip_at("clip", self.clip, self.k, self.users)
        units = (
            self.stated.clip(GRID, 1.0, self.users, self._cost, published_clip(self.k, self.users))
            if eta is None
            else round(GRID * eta)
        )
        object.__setattr__(self, "clip", Fraction(min(max(units, 1), self.k * GRID), GRID))

    @property
    @abstractmethod
    def _cost(self) -> float:
        """About the variance of a report, divided by eta^2."""

    @property
    def stated(self) -> Stated:
        """What is stated about the vectors."""
        return Stated(self.entries or self.k, self.share)

    def stated_error(self, users: int, stated: Stated) -> float:
        """The mean square error for the item that most users have, of vectors as stated."""
        bias = float(stated.bias(1.0, min(float(self._eta), stated.entries)))
        return float(self.variance) / users + bias**2

    @property
    def _eta(self) -> Fraction:
        return rational("clip", self.clip or 1)

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
        return checked(values, d=self.d, k=self.k, grid=GRID)

    def _clipped_sums(self, values: Scaled, source: Source) -> tuple[Integers, Integers]:
        """For each user a sign function, and the clipped signed sum in units of 1/GRID."""
        functions = self.family.draw(values.n, source)
        _, sign = self.family.places(functions[values.user], values.item)
        sums, eta = np.zeros(values.n, np.int64), int(self._eta * GRID)
        np.add.at(sums, values.user, sign * values.rounded(source))
        return functions[:, 0], sums.clip(-eta, eta)
