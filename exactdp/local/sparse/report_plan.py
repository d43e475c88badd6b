"""Bins, clipping and noise for a promise, chosen by the error they lead to.

The error of one estimated mean, for any vectors with at most k entries: every report adds noise of
variance 2 q/((1 - q) grid)^2 and collisions of mean square at most k/b, or at most (k - 1)/b where
the item is an entry itself, whose rounding adds 1/(2 grid)^2: the variance is at most their sum
over n. Clipping moves the mean as well (:mod:`exactdp.local.sparse.clipping`). All of that is
exact; only what to try is floats.

The least number of bins is taken whose error is at most 3/2 of the least error: without clipping
that is where collisions are at most half the noise, as in Table II.

Source: SVA, Section IV-C ("parameter search") and Table II, with exact terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log

import numpy as np
from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.errors import Undecided
from exactdp.local.sparse.clipping import (
    clip_bias,
    clip_bias_of_any_items,
    likely_clip,
    likely_overshoot,
)
from exactdp.local.sparse.probability_ratio import rounding_loss, squeezed

MOST_BIN_BITS = 15

#: q is a multiple of 2^-64.
_RATIO_BITS = 64

#: The rate is found to a 2^-30 of what a coarse grid costs.
_HALVINGS = 30

#: Reports are cut off where noise gets to with a probability of 2^-64.
_CUT = 64


@dataclass(frozen=True)
class Neighbours:
    """What may change, in units of the grid: length is the L1 distance of two vectors.

    entries: most of each that are not 0. whole: entries move from grid point to grid point, or one
    of them from end to end. step: the most that one entry moves.
    """

    length: Fraction
    entries: int
    whole: bool
    step: int

    def loss(self, rate: Fraction) -> arb:
        """An upper bound of the loss at so much per unit, without clipping."""
        if self.whole:
            return ball(rate) * ball(self.length)
        return rounding_loss(rate, self.length, self.entries)

    @property
    def moved(self) -> int:
        """The most that the rounded entries differ by, where one uniform number rounds both."""
        if self.whole:
            return int(self.length)
        return ceil(self.length) - 1 + 2 * self.entries


@dataclass(frozen=True)
class ReportPlan:
    """grid: units in 1. bins: a power of two. clip: of a bin, in units; None for none.

    q: ratio of the noise. k: most entries. delta: of hash functions that squeeze too little.
    """

    k: int
    grid: int
    bins: int
    clip: int | None
    q: Fraction
    delta: Fraction

    @property
    def most(self) -> int:
        """The largest size of a bin before noise, in units."""
        return self.k * self.grid if self.clip is None else self.clip

    @cached_property
    def limit(self) -> int:
        """The largest size of what is reported of a bin, in units."""
        return self.most + reach_of(self.q)

    @property
    def noise(self) -> Fraction:
        """The variance of the noise of one bin, exactly (cutting off makes it smaller)."""
        return 2 * self.q / ((1 - self.q) * self.grid) ** 2

    @property
    def collisions(self) -> Fraction:
        """What other entries and rounding add to n times the variance of an estimate, at most."""
        rounding = Fraction(1, (2 * self.grid) ** 2)
        return max(Fraction(self.k, self.bins), Fraction(self.k - 1, self.bins) + rounding)

    @property
    def variance(self) -> Fraction:
        """An upper bound of n times the variance of an estimate, reached where nothing clips."""
        return self.noise + self.collisions

    @cached_property
    def bias(self) -> Fraction:
        """An upper bound of the bias of an estimate, by clipping and by cutting off.

        The former for independent signs; most items have nearly these under linear functions.
        """
        return (clip_bias(self.k, self.bins, self._eta) if self._clips else 0) + self._cut_away

    @cached_property
    def bias_of_any_items(self) -> Fraction:
        """The same bound for linear functions and any items, such as those of a subspace."""
        if not self._clips:
            return self._cut_away
        return clip_bias_of_any_items(self.k, self.bins, self._eta) + self._cut_away

    @property
    def _clips(self) -> bool:
        return self.clip is not None and self.clip < self.k * self.grid

    @property
    def _eta(self) -> Fraction:
        return Fraction(self.clip or 0, self.grid)

    @property
    def _cut_away(self) -> Fraction:
        """E max(Z - (limit - most), 0), as q^(limit - most) <= 2^-64."""
        return self.q / (1 - self.q**2) / (self.grid << _CUT)

    def mean_square(self, users: int) -> Fraction:
        """An upper bound of the mean square error from so many users, for independent signs."""
        return self.variance / users + self.bias**2


def planned(
    near: Neighbours,
    *,
    k: int,
    grid: int,
    ratio: Fraction,
    delta: Fraction,
    users: int,
    bins: int | None = None,
) -> ReportPlan:
    """The plan with the fewest bins whose error is at most 3/2 of the least.

    ratio: e^epsilon, rational. delta: what hash functions may miss; 0 where they may not, and in
    the plan where they need not. bins: a power of two, to have just so many.
    """
    search = _Search(near, k, grid, ratio, delta, users)
    most = min(k.bit_length() + 2, MOST_BIN_BITS + 1)
    plans = [search.best(b) for b in ([bins] if bins else [1 << i for i in range(most)])]
    errors = [search.likely_error(plan) for plan in plans]
    enough = 1.5 * min(errors)
    found = next(plan for plan, error in zip(plans, errors, strict=True) if error <= enough)
    return search.squeezed(found.bins, exact=True) if found.delta else found


@dataclass(frozen=True)
class _Search:
    near: Neighbours
    k: int
    grid: int
    ratio: Fraction
    delta: Fraction
    users: int

    def best(self, bins: int) -> ReportPlan:
        """The least error with so many bins."""
        tried = [self.plain(bins), self.clipped(bins)]
        if self.delta:
            tried.append(self.squeezed(bins, exact=False))
        return min(tried, key=self.likely_error)

    def likely_error(self, plan: ReportPlan) -> float:
        """The mean square error, in doubles: the exact bias takes long where k is large."""
        eta = float(self.k if plan.clip is None else Fraction(plan.clip, plan.grid))
        bias = np.interp(eta, np.arange(self.k + 1), likely_overshoot(self.k, plan.bins))
        return float(plan.variance) / self.users + float(bias) ** 2

    def plain(self, bins: int) -> ReportPlan:
        return self._plan(bins, None, self.near.loss)

    def clipped(self, bins: int) -> ReportPlan:
        """Clipped where doubles find the least error; any clipping keeps the promise."""
        cost = 2 * (2 * bins / log(self.ratio)) ** 2
        clip = likely_clip(self.k, self.grid, bins, self.users, cost)
        return self._plan(bins, clip, lambda rate: ball(rate) * (2 * bins * clip))

    def squeezed(self, bins: int, *, exact: bool) -> ReportPlan:
        """With hash functions that nobody chose, by their exact law or by a quick bound."""
        length = squeezed(self.near.moved, bins, self.delta, self.near.step, exact=exact)
        return self._plan(bins, None, lambda rate: ball(rate) * length, self.delta)

    def _plan(
        self,
        bins: int,
        clip: int | None,
        loss: Callable[[Fraction], arb],
        delta: Fraction = Fraction(0),
    ) -> ReportPlan:
        return ReportPlan(self.k, self.grid, bins, clip, _ratio_of(loss, self.ratio), delta)


def noise_ratio(units: int, ratio: Fraction) -> Fraction:
    """The least q = a/2^64, nearly, with q^-units <= ratio, for certain."""
    return _ratio_of(lambda rate: ball(rate) * units, ratio)


def reach_of(q: Fraction) -> int:
    """How far noise gets with a probability of 2^-64, rounded up."""
    return ceil(refine(lambda: -_CUT * ball(2).log() / ball(q).log()).upper)


def _ratio_of(loss: Callable[[Fraction], arb], ratio: Fraction) -> Fraction:
    """The least q, nearly, at which the loss is at most log(ratio), for certain."""
    rate = _largest_rate(loss, ratio)
    scaled = refine(lambda: (-ball(rate)).exp() * arb(2) ** _RATIO_BITS)
    q = Fraction(ceil(scaled.upper) + 1, 1 << _RATIO_BITS)
    with precision(256):
        if not loss(rate) <= ball(ratio).log() or not -ball(q).log() <= ball(rate) or q >= 1:
            raise Undecided(f"noise for e^epsilon = {ratio}")
    return q


def _largest_rate(loss: Callable[[Fraction], arb], ratio: Fraction) -> Fraction:
    """Nearly the largest rate with loss(rate) <= log(ratio).

    loss(rate)/rate does not fall as the rate grows, so one step from above ends below.
    """
    high = Fraction(log(ratio) / _units(loss)).limit_denominator(10**30)
    low = refine(lambda: ball(high) * ball(ratio).log() / loss(high)).lower
    with precision(256):
        for _ in range(_HALVINGS):
            middle = Fraction((low + high) / 2).limit_denominator(10**40)
            if loss(middle) <= ball(ratio).log():
                low = max(low, middle)
            else:
                high = middle
    return low


def _units(loss: Callable[[Fraction], arb]) -> float:
    """About the loss per unit of a small rate."""
    small = Fraction(1, 10**12)
    with precision(128):
        return float(loss(small)) / float(small)
