"""The privacy loss of rounds of noisy weights; the proofs are in exactdp/pages/key-sets.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, log, pi

from flint import arb

from exactdp import bisection
from exactdp.accounting import gaussian
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.normal import hockey_stick

_BITS = 192

#: A rate exceeds the maximum that it bounds by at most this factor.
_CLOSE = 1 + arb(2) ** -10

#: -ln of a log-ratio of two laws that is negligible beside every delta: about 2^-128.
_NEAR = 128 * log(2)

#: Calibrated sigmas are multiples of 1/_PER_SIGMA, limits of about 1/_PER_LIMIT.
_PER_SIGMA, _PER_LIMIT = 10**6, 1000

#: The part of delta reserved for the difference of discrete and continuous noise.
_SLACK = Fraction(1, 1 << 20)


@dataclass(frozen=True)
class Noise:
    """Discrete Gaussian noise with parameter sigma2, on integers that one user changes.

    square: the largest sum of squares of the changes.
    """

    sigma2: Fraction
    square: int

    @property
    def spare(self) -> int:
        """The part of sigma2 spent on bringing discrete noise close to continuous noise.

        An estimate: `nearness` computes the certified distance for this part.
        """
        return ceil((log(self.square) + _NEAR) / (2 * pi**2))

    def mu2(self) -> Fraction:
        """The largest squared change in units of the noise's variance, without `spare`."""
        return self.square / (self.sigma2 - self.spare)

    def nearness(self) -> arb:
        """Upper bound of |ln(discrete/continuous)| for all integers that can change together."""
        q = (-2 * arb.pi() ** 2 * self.spare).exp()
        eta = 2 * q / (1 - q)
        return self.square * ((1 + eta) / (1 - eta)).log()


@dataclass(frozen=True)
class Round:
    """One round. Weights are integers; a weight of 1 is stored as `unit`.

    sigma: parameter of the noise, for a unit of 1. limit: keys whose noisy weight exceeds this
    integer are released. least: the least weight of a new key.
    """

    sigma: Fraction
    limit: int
    unit: int
    least: int

    @property
    def noise(self) -> Noise:
        """The noise on integers."""
        return Noise((self.sigma * self.unit) ** 2, self.unit**2)

    def rate(self) -> arb:
        """The largest -ln P(a new key of weight w stays hidden) (unit/w)^2, over all weights w.

        Rounded up by a factor of at most 1 + 2^-10. Ranges of weights are halved until their two
        ends bound them.
        """
        most = self._rate(self.least, self.least)
        ranges = [(self.least, self.unit)]
        while ranges:
            low, high = ranges.pop()
            most = most.max(self._rate(high, high))
            if not self._rate(low, high) <= most * _CLOSE:
                middle = (low + high) // 2
                ranges += [(low, middle), (middle + 1, high)]
        return most * _CLOSE

    def _rate(self, low: int, high: int) -> arb:
        """An upper bound of the rate of weights from low to high."""
        release_chance = above(self.limit - high, self.noise.sigma2)
        return -((-release_chance).log1p()) * self.unit**2 / low**2


def delta(rounds: Sequence[Round], others: Sequence[Noise], epsilon: Fraction) -> Enclosure:
    """The interval from 0 to an upper bound of delta, for all rounds and other noise together."""
    noises = [*(each.noise for each in rounds), *others]
    with precision(_BITS):
        near = sum((each.nearness() for each in noises), arb(0))
        mu2 = sum((each.mu2() for each in noises), Fraction(0))
        rates = {each: each.rate() for each in set(rounds)}
        rate = sum((rates[each] for each in rounds), arb(0))
        mu = ball(mu2).sqrt()
        return together(
            lambda loss: hockey_stick(loss, mu), near, rate, epsilon, alone=len(noises) == 1
        )


def together(
    curve: Callable[[arb], arb], near: arb, rate: arb, epsilon: Fraction, *, alone: bool
) -> Enclosure:
    """The interval from 0 to an upper bound of delta (Section 4 of the page; Section 2 if alone).

    curve: maps epsilon to the delta of all noise. near: the sum of nearness() over all noise.
    rate: upper bound of -ln P(no new key is released). alone: whether there is one round only, and
    no other noise.
    """
    loss, release_chance = ball(epsilon) - 2 * near, -(-rate).expm1()
    if alone and loss >= 0:
        total = curve(loss).max(release_chance)
    else:
        total = (curve(loss) + release_chance).max(curve(loss - rate))
    return Enclosure(Fraction(0), enclosure((total * near.exp()).min(arb(1))).upper)


def calibrated(
    unit: int,
    least: int,
    parts: Sequence[Fraction],
    counts: tuple[int, Fraction] | None,
    epsilon: Fraction,
    target: Fraction,
) -> tuple[list[Round], Fraction | None]:
    """Rounds that together keep a target, and the sigma of the noise on counts.

    unit, least: as for Round. parts: for each round, its part of the rate, and of the mu^2 that
    counts leave; their sum is 1. counts: the number of counts that a user changes by 1, and the
    part of mu^2 for these counts.
    """
    share = counts[1] if counts else Fraction(0)
    half = target * (1 - _SLACK) / (1 if len(parts) == 1 and not counts else 2)
    variance = Fraction(gaussian.calibrate(epsilon=epsilon, delta=half).sigma) ** 2
    with precision(_BITS):
        rate = enclosure(-(-ball(half)).log1p()).lower
        rounds = {
            part: _round(unit, least, variance / part / (1 - share), ball(rate * part))
            for part in set(parts)
        }
    sigma = None
    if counts:
        spare = Noise(Fraction(1), counts[0]).spare
        sigma = _root_above(counts[0] * variance / share + spare)
    return [rounds[part] for part in parts], sigma


def _round(unit: int, least: int, variance: Fraction, rate: arb) -> Round:
    """The round with this variance of the noise beside `spare`, and about the least limit."""
    spare = Noise(Fraction(1), unit**2).spare
    sigma = _root_above(variance + Fraction(spare, unit**2))
    step = ceil(Fraction(unit, _PER_LIMIT))

    def at(steps: int) -> Round:
        return Round(sigma, steps * step, unit, least)

    return at(bisection.least(1, None, lambda steps: bool(at(steps).rate() <= rate)))


def _root_above(square: Fraction) -> Fraction:
    """A short number just above a square root."""
    return Fraction(isqrt(ceil(square * _PER_SIGMA**2)) + 1, _PER_SIGMA)
