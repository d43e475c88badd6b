"""Random allocation with little noise: one ratio of an epoch is nearly the whole sum.

Let A, B, P, Q, R_1, ..., R_t and their mean S be as in `allocated`, x = e^epsilon, and D(A, B)(y) =
E (R - y)+ the curve of a step alone.

Below. D(P, Q)(x) = E_P (1 - x/S)+, where P draws the place of the user, and S >= R/t for the ratio
R of that place, whose law is A. So D(P, Q)(x) >= D(A, B)(t x): the loss is that of a step less
ln t.

Above. Let 0 < a < x. Where at most one of the ratios is above a, S <= R_j/t + a for the largest
R_j, so (S - x)+ is at most the sum over j of (R_j/t - (x - a))+. Otherwise, under P, a ratio at
another place than the user's is above a, with a probability of at most (t - 1) B(R > a). So

    D(P, Q)(x) <= D(A, B)(t (x - a)) + (t - 1) B(R > a).

With a = x (1 - e^-gap) the loss is that of a step less ln t, plus the gap. The bound holds from
some loss on; below, a curve is convex, so smaller losses may be raised to that loss. B(R > y) is at
most D(A, B)(y/e)/(y (1 - 1/e)). A step alone is an upper bound, too, as S is below R in the convex
order.

The other order. D(Q, P)(x) = E (1 - x S)+, and S >= M/t for the largest ratio M, so -log(M/t)
is an upper bound of the loss. P(M < y) = B(R < y)^t, and B(R < y) is at most D(B, A)(w/y)/(1 - 1/w)
for every w > 1, D(B, A) being the curve of a step in that order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import arb

from exactdp.accounting.pld.grid.lattice import Grid, Outcome
from exactdp.accounting.pld.grid.measure import Bounds, Measure, added
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW
from exactdp.accounting.pld.losses.base import Ends, LossLaw, Step
from exactdp.accounting.pld.losses.finite import Response
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.balls import ball, precision
from exactdp.bisection import halved, least
from exactdp.errors import Described, InvalidParameter

_BITS = 128

#: Sums of ratios are not computed where the losses of a step reach this number.
_LITTLE, _FOLLOWED_BITS = 150.0, 128

#: Gaps that are tried for a single epoch, and the gap for several, as powers of 1/2.
_GAPS, _GAP = (64, 48, 32, 24, 16, 12, 8), 24

#: ln w in the bound of P(M < y), and the probabilities at which that bound is evaluated, as powers
#: of 1/2, from the least one on.
_APART, _QUANTILES = Fraction(8), tuple(1100 / Fraction(5, 4) ** i for i in range(41))


def has_little_noise(law: LossLaw) -> bool:
    """Whether a step has so large losses that sums of their ratios are too many nodes."""
    with precision(_BITS):
        return max((loss for loss, _ in law.sketch(_FOLLOWED_BITS)), default=0.0) > _LITTLE


def epoch(step: Step, steps: int) -> Step:
    """An epoch with this number of steps (>= 2); the user takes part in one of them."""
    real = [one[0] for one in step.real if len(one) == 1] or [step]
    nothing = Response(Fraction(0), Fraction(0))
    return Step(
        LittleNoise(step.removed, steps, above=True),
        LeastRatios(step.added, steps),
        tuple((Step(LittleNoise(one.removed, steps, above=False), nothing),) for one in real),
        attained=False,
    )


@dataclass(frozen=True)
class LittleNoise(LossLaw):
    """A bound of the loss of P against Q, from above or from below.

    base: the law of log dA/dB under A. steps: t >= 2.
    """

    base: LossLaw
    steps: int
    above: bool

    @property
    def accuracy(self) -> Fraction:
        return self.base.accuracy

    def excess(self, epsilon: Fraction) -> arb:
        low, high = _log(self.steps)
        if not self.above:
            return self.base.excess(epsilon + high)
        least_delta = self.base.excess(epsilon)
        for gap in _GAPS:
            moved = self.base.excess(epsilon + low - Fraction(1, 1 << gap))
            least_delta = least_delta.min(moved + self._another(epsilon, gap))
        return least_delta

    def _another(self, loss: Fraction, gap: int) -> arb:
        """A bound of (t - 1) B(R > a), for a gap of 2^-gap.

        a = x (1 - e^-gap) is at least x 2^-(gap + 1), and ln 2 < 0.7.
        """
        least_loss = loss - Fraction(7, 10) * (gap + 1)
        if least_loss < 1:
            return arb(self.steps - 1)
        tail = self.base.excess(least_loss - 1) / (1 - arb(-1).exp()) * (-ball(least_loss)).exp()
        return ((self.steps - 1) * tail).upper()

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        low, high = self.base.bounds(step, tail_bits, rate)
        with precision(_BITS):
            least_log, most_log = _log(self.steps)
            if not self.above:
                return _moved(low, most_log), _moved(high, most_log)
            rare = arb(2) ** -tail_bits
            start = least(0, None, lambda loss: bool(self._another(Fraction(loss), _GAP) <= rare))
            back = least_log - Fraction(1, 1 << _GAP)
            if not self.base.excess(start + back) > 0.5:  # most losses would be raised
                return low, high
            below, above = (
                _raised(_moved(measure, back), start, up=up)
                for measure, up in ((low, False), (high, True))
            )
            return below, replace(above, infinity=(above.infinity + rare).upper())

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        for loss, log_mass in self.base.sketch(bits):
            yield loss - math.log(self.steps), log_mass

    def width(self) -> float:
        return self.base.width()

    def ends(self) -> Ends:
        return self.base.ends()  # all ratios can be the largest at once

    def log_moment(self, s: Fraction) -> arb:
        allowed = "one without random allocation, for Renyi divergences"
        raise InvalidParameter("mechanism", Described("random allocation"), allowed)


@dataclass(frozen=True)
class LeastRatios(ListedLaw):
    """An upper bound of the loss of Q against P, with few losses.

    reverse: the law of log dB/dA under B. steps: t >= 2.
    """

    reverse: LossLaw
    steps: int

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        losses = [loss for loss, _ in self._beyond()]
        masses = [mass for _, mass in self._beyond()]
        for loss, (less, more) in zip(losses, pairwise([*masses, arb(1)]), strict=True):
            # the losses between the next one and this one; an upper bound needs no exact masses
            mass = (more - less).upper()
            yield Outcome.at(loss, mass, mass * (-ball(loss)).exp())

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return self._beyond()[0][1], arb(0)

    def _beyond(self) -> list[tuple[Fraction, arb]]:
        return _least_ratios(self)


@lru_cache(maxsize=64)
def _least_ratios(law: LeastRatios) -> list[tuple[Fraction, arb]]:
    """Losses, from the largest on, each with a bound of the probability of a larger one."""

    def bound(loss: Fraction) -> arb:
        """A bound of P(-log M > loss)."""
        if loss < _APART:
            return arb(1)
        share = law.reverse.excess(loss - _APART) / (1 - (-ball(_APART)).exp())
        return (share.min(arb(1)) ** law.steps).upper()

    def loss_beyond(chance: arb, most: Fraction) -> Fraction:
        """A loss beyond which the probability is at most a chance."""
        return halved(Fraction(0), most, lambda loss: bool(bound(loss) <= chance), times=12)[1]

    with precision(_BITS):
        chances = [arb(2) ** -ball(power) for power in _QUANTILES]
        most = Fraction(least(0, None, lambda loss: bool(bound(Fraction(loss)) <= chances[0])))
        losses = [loss_beyond(chance, most) for chance in chances]
        high, end = _log(law.steps)[1], law.reverse.ends().largest
        moved = [loss + high for loss in losses]
        if end is not None:  # no ratio is smaller, and no mean of ratios
            moved = [min(loss, end.upper) for loss in moved]
        return [(loss, bound(first)) for loss, first in zip(moved, losses, strict=True)]


@lru_cache(maxsize=64)
def _log(steps: int) -> tuple[Fraction, Fraction]:
    """Two rationals around ln t, very close."""
    with precision(2 * _BITS):
        scaled = int((arb(steps).log() * 2**_BITS).floor().unique_fmpz() or 0)
        return Fraction(scaled, 2**_BITS), Fraction(scaled + 1, 2**_BITS)


def _moved(measure: Measure, back: Fraction) -> Measure:
    """The measure, with every loss smaller by a number."""
    grid = measure.grid
    return replace(measure, grid=Grid(grid.offset - back, grid.step))


def _raised(measure: Measure, loss: int, *, up: bool) -> Measure:
    """The measure, with smaller losses raised to the first node from this loss on."""
    grid = measure.grid
    index = math.ceil((loss - grid.offset) / grid.step) - measure.first
    if index <= 0:
        return measure
    total = float(measure.masses[:index].at(0).sum())
    less = arb(total) * (ROUNDED_UP if up else 2 - ROUNDED_UP) + (UNDERFLOW if up else 0)
    masses = added(measure.masses[index:], 0, less, up=up)
    return Measure(grid, measure.first + index, masses, measure.infinity)
