"""Bins, clipping and noise for a guarantee, chosen for a small error.

For vectors with at most k entries, each report adds noise of variance 2 q/((1 - q) grid)^2, and
collisions of mean square at most k/b (for b equal bins); or, if the user has the item, (k - 1)/b
plus 1/(2 grid)^2 for rounding. The variance of an estimated mean is at most their sum divided by n.
Clipping adds a bias (:mod:`exactdp.local.sparse.clipping`). These terms are exact; floats only
choose candidates.

The plan has the fewest bins whose error is at most 3/2 of the least error; without clipping, the
collisions are then at most half the noise, as in Table II.

Source: Zhou et al. (SVA), Section IV-C ("parameter search") and Table II, with exact terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.errors import Undecided
from exactdp.local.sparse.clipping import (
    Stated,
    clip_bias,
    clip_bias_of_any_items,
    published_clip,
)
from exactdp.local.sparse.probability_ratio import rounding_loss, squeezed

MOST_BIN_BITS = 15

#: q is a multiple of 2^-64.
_RATIO_BITS = 64

#: The rate is found with a relative accuracy of 2^-30 of the cost of a coarse grid.
_HALVINGS = 30

#: Reports are truncated where the noise reaches with probability 2^-64.
_CUT = 64


@dataclass(frozen=True)
class Neighbours:
    """A neighbouring relation, in units of 1/grid.

    length: L1 distance of two vectors. entries: largest number of non-zero entries of a vector.
    whole: whether entries move between grid points only, or one entry from end to end. step:
    largest change of one entry.
    """

    length: Fraction
    entries: int
    whole: bool
    step: int

    def loss(self, rate: Fraction) -> arb:
        """Upper bound of the loss without clipping. rate: loss per unit."""
        if self.whole:
            return ball(rate) * ball(self.length)
        return rounding_loss(rate, self.length, self.entries)

    @property
    def moved(self) -> int:
        """Largest L1 distance of the rounded vectors, if the same uniform numbers round both."""
        if self.whole:
            return int(self.length)
        return ceil(self.length) - 1 + 2 * self.entries


@dataclass(frozen=True)
class ReportPlan:
    """k: largest number of non-zero entries. grid: values are multiples of 1/grid. bins: b. clip:
    where bins are clipped, in units of 1/grid, or None.

    hit: the largest probability of a bin. q: ratio of the noise. delta: probability of hash
    functions with a larger loss.
    """

    k: int
    grid: int
    bins: int
    hit: Fraction
    clip: int | None
    q: Fraction
    delta: Fraction

    @property
    def most(self) -> int:
        """Largest |bin| before noise, in units of 1/grid."""
        return self.k * self.grid if self.clip is None else self.clip

    @cached_property
    def limit(self) -> int:
        """Largest |reported bin|, in units of 1/grid."""
        return self.most + reach_of(self.q)

    @property
    def noise(self) -> Fraction:
        """The exact variance of the noise of one bin, before truncation, which reduces it."""
        return 2 * self.q / ((1 - self.q) * self.grid) ** 2

    @property
    def collisions(self) -> Fraction:
        """Upper bound of the part of other entries and rounding in n times the variance."""
        return self._collisions(self.k)

    def _collisions(self, entries: int) -> Fraction:
        rounding = Fraction(1, (2 * self.grid) ** 2)
        return max(entries * self.hit, (entries - 1) * self.hit + rounding)

    @property
    def variance(self) -> Fraction:
        """Upper bound of n times the variance of an estimate, attained without clipping."""
        return self.noise + self.collisions

    @cached_property
    def bias(self) -> Fraction:
        """Upper bound of the bias of an estimate, by clipping and truncation.

        For independent signs; under linear functions, most items nearly satisfy the bound.
        """
        return (clip_bias(self.k, self.hit, self._eta) if self._clips else 0) + self._cut_away

    @cached_property
    def bias_of_any_items(self) -> Fraction:
        """Upper bound of the bias for linear functions and any items, such as a subspace."""
        if not self._clips:
            return self._cut_away
        return clip_bias_of_any_items(self.k, self.hit, self._eta) + self._cut_away

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
        """Upper bound of the mean square error from this number of users, for independent signs."""
        return self.variance / users + self.bias**2

    def stated_error(self, users: int, stated: Stated) -> float:
        """The mean square error for the item that most users have, of vectors as stated.

        In doubles; for independent signs.
        """
        eta = min(float(self._eta) if self._clips else stated.entries, stated.entries)
        bias = float(stated.bias(float(self.hit), eta))
        return float(self.noise + self._collisions(stated.entries)) / users + bias**2


@dataclass(frozen=True)
class Search:
    """The search for a plan.

    near: the neighbouring relation. k, grid: as for ReportPlan. ratio: e^epsilon, rational.
    delta: allowed probability of hash functions with a larger loss; the plan's delta is 0 if the
    plan does not use this allowance. users: expected number of users. stated: statements about the
    vectors. hit: maps the number of bins to the largest probability of a bin. clip: a fixed limit
    of clipping, in units of 1/grid, or None.
    """

    near: Neighbours
    k: int
    grid: int
    ratio: Fraction
    delta: Fraction
    users: int
    stated: Stated
    hit: Callable[[int], Fraction]
    clip: int | None = None

    def plan(self, bins: int | None = None) -> ReportPlan:
        """The plan with the fewest bins whose error is at most 3/2 of the least.

        bins: fixes the number of bins; otherwise powers of two are tried.
        """
        most = min(self.k.bit_length() + 2, MOST_BIN_BITS + 1)
        plans = [self.best(b) for b in ([bins] if bins else [1 << i for i in range(most)])]
        enough = 1.5 * min(map(self.likely_error, plans))
        smallest = next(plan for plan in plans if self.likely_error(plan) <= enough)
        return self.squeezed(smallest.bins, exact=True) if smallest.delta else smallest

    def likely_error(self, plan: ReportPlan) -> float:
        """The error that the search minimizes."""
        return plan.stated_error(self.users, self.stated)

    def best(self, bins: int) -> ReportPlan:
        """The plan with the least error for this number of bins."""
        if self.clip is not None:
            return self.clipped(bins)
        tried = [self._plan(bins, None, self.near.loss), self.clipped(bins)]
        if self.delta and bins & (bins - 1) == 0:  # the law of squeezing is for equal bins
            tried.append(self.squeezed(bins, exact=False))
        return min(tried, key=self.likely_error)

    def clipped(self, bins: int) -> ReportPlan:
        """The plan with the best clipping as estimated in doubles; any clipping keeps epsilon."""
        cost = 2 * (2 * bins / log(self.ratio)) ** 2
        hit = float(self.hit(bins))
        published = published_clip(self.k, self.users)
        clip = self.clip or self.stated.clip(self.grid, hit, self.users, cost, published)
        moved = self.near.loss

        def loss(rate: Fraction) -> arb:
            by_clipping = ball(rate) * (2 * bins * clip)
            return by_clipping if by_clipping <= moved(rate) else moved(rate)

        return self._plan(bins, clip, loss)

    def squeezed(self, bins: int, *, exact: bool) -> ReportPlan:
        """The plan that uses the randomness of hash functions, by an exact law or a fast bound."""
        length = squeezed(self.near.moved, bins, self.delta, self.near.step, exact=exact)
        return self._plan(bins, None, lambda rate: ball(rate) * length, self.delta)

    def _plan(
        self,
        bins: int,
        clip: int | None,
        loss: Callable[[Fraction], arb],
        delta: Fraction = Fraction(0),
    ) -> ReportPlan:
        q = _ratio_of(loss, self.ratio)
        return ReportPlan(self.k, self.grid, bins, self.hit(bins), clip, q, delta)


def noise_ratio(units: int, ratio: Fraction) -> Fraction:
    """Approximately the least q = a/2^64 that certainly satisfies q^-units <= ratio."""
    return _ratio_of(lambda rate: ball(rate) * units, ratio)


def reach_of(q: Fraction) -> int:
    """The distance that the noise exceeds with probability 2^-64, rounded up."""
    return ceil(refine(lambda: -_CUT * ball(2).log() / ball(q).log()).upper)


def _ratio_of(loss: Callable[[Fraction], arb], ratio: Fraction) -> Fraction:
    """Approximately the least q at which the loss is certainly at most log(ratio)."""
    rate = _largest_rate(loss, ratio)
    scaled = refine(lambda: (-ball(rate)).exp() * arb(2) ** _RATIO_BITS)
    q = Fraction(ceil(scaled.upper) + 1, 1 << _RATIO_BITS)
    with precision(256):
        if not loss(rate) <= ball(ratio).log() or not -ball(q).log() <= ball(rate) or q >= 1:
            raise Undecided(f"no noise found for e^epsilon = {ratio}")
    return q


def _largest_rate(loss: Callable[[Fraction], arb], ratio: Fraction) -> Fraction:
    """Approximately the largest rate with loss(rate) <= log(ratio).

    loss(rate)/rate is non-decreasing, so one step from a rate above ends at a rate below.
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
    """Approximately loss(rate)/rate for a small rate."""
    small = Fraction(1, 10**12)
    with precision(128):
        return float(loss(small)) / float(small)
