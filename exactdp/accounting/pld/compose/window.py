"""Tilted masses of one step, and the window of sums that a transform has to hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.pld.compose.transform import MOST_POINTS
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.accounting.pld.grid.scaled import (
    EXPONENTIALS_ERROR,
    ROUNDED_UP,
    UNDERFLOW,
    UNIT,
    exponentials,
)
from exactdp.arrays import Floats, np
from exactdp.errors import TooLong, Undecided

#: Table of exponentials, product with the mass, and scaling by the sum (one rounding each).
_TILT_ERROR = EXPONENTIALS_ERROR + 3 * UNIT

#: A tilted mass below this part of the largest one is 0 in the measure below, and is raised to this
#: part in the measure above.
LEAST = 2.0**-1000


@dataclass(frozen=True)
class Tilted:
    """Masses p_j of one step with sum 1, below and above, and the logarithms of their scales."""

    low: Floats
    high: Floats
    log_low: arb
    log_high: arb
    times: int
    rate: float

    def log_moments(self, rate: arb) -> tuple[arb, arb]:
        """Upper bounds of log sum p_j e^(rate j), below and above."""
        return _log_moment(self.low, rate), _log_moment(self.high, rate)

    @cached_property
    def coarse(self) -> tuple[Floats, Floats, Floats]:
        """Means, variances and masses of about 1000 bins of the upper masses, for guesses."""
        size = max(1, len(self.high) // 1000)
        padded = np.append(self.high, np.zeros(-len(self.high) % size))
        total, mean, square = (
            sum((i**power * padded[i::size] for i in range(size)), np.zeros(len(padded) // size))
            for power in (0, 1, 2)
        )
        total_or_least = np.maximum(total, LEAST)
        mean, square = mean / total_or_least, square / total_or_least
        return mean + size * np.arange(len(mean)), square - mean**2, total

    def log_mean(self, rate: float) -> float:
        """About log E e^(rate (j - mean))."""
        places, variances, masses = self.coarse
        exponent = rate * (places - self.mean) + rate**2 * variances / 2
        top = float(exponent.max())
        return top + math.log(dot(masses, np.exp(exponent - top)))

    @cached_property
    def mean(self) -> float:
        """About the mean of j."""
        places, _, masses = self.coarse
        return dot(masses, places) / float(masses.sum())


def tilt(low: Measure, high: Measure, times: int, rate: float) -> Tilted:
    """The tilted masses as doubles, exactly known from here on; the scales bound the rounding."""
    first = min(low.first, high.first)
    count = max(m.first + len(m.masses) for m in (low, high)) - first
    table = exponentials(arb(rate), count)
    shares, logs = [], []
    for measure, error in ((low, -_TILT_ERROR), (high, _TILT_ERROR)):
        place = slice(measure.first - first, measure.first - first + len(measure.masses))
        mantissa = np.zeros(count)
        exponent = table.exponent.copy()
        mantissa[place] = measure.masses.mantissa * table.mantissa[place]
        exponent[place] += measure.masses.exponent
        top = int(exponent[mantissa > 0].max())
        values = np.ldexp(mantissa, np.maximum(exponent - top, -4000).astype(np.int32))
        values = np.where(values < LEAST, 0.0 if error < 0 else LEAST, values)
        total = float(values.sum())
        if not math.isfinite(total):
            raise Undecided("a mass of the loss lost all accuracy")
        shares.append(values / total)
        logs.append(arb(total).log() + top * arb(2).log() + arb(error).log1p())
    return Tilted(shares[0], shares[1], logs[0], logs[1], times, rate)


def window(steps: Sequence[Tilted], alias_bits: int) -> tuple[int, int]:
    """The length of the transform, a power of two, and the first node of the window.

    alias_bits: about 2^-alias_bits of the tilted mass may lie outside. Raises TooLong.
    """
    widest = max(len(part.high) for part in steps)
    points = max(64, 1 << (widest - 1).bit_length())
    while largest_sum(steps) >= points:
        if _is_wide_enough(steps, points, alias_bits):
            return points, int(sum(part.times * part.mean for part in steps)) - points // 2
        points *= 2
        if points > MOST_POINTS:
            raise TooLong(MOST_POINTS)
    return points, 0


def _is_wide_enough(steps: Sequence[Tilted], points: int, alias_bits: int) -> bool:
    logs = (_chernoff(steps, points / 2, sign)[1] for sign in (-1, 1))
    return max(logs) <= -alias_bits * math.log(2)


def largest_sum(steps: Sequence[Tilted]) -> int:
    """The index of the largest sum of all losses; the least sum has index 0."""
    return sum(part.times * (len(part.high) - 1) for part in steps)


def _chernoff(steps: Sequence[Tilted], distance: float, sign: int) -> tuple[float, float]:
    """About the best rate for a deviation of the sum, and the logarithm of the bound there."""

    def exponent(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return sum(p.times * p.log_mean(sign * rate) for p in steps) - rate * distance

    # within a bin of `coarse` larger rates would not be seen
    bins = max(len(part.high) // len(part.coarse[0]) for part in steps)
    best = minimum(exponent, -24.0, math.log(2 / (bins + 1)), 0.1)
    return math.exp(best), exponent(best)


def outside_mass(steps: Sequence[Tilted], points: int, origin: int) -> arb:
    """A bound of the mass of sums beside the window origin ... origin + points - 1."""
    total = arb(0)
    sides = [(1, origin + points)] * (origin + points <= largest_sum(steps))
    sides += [(-1, origin - 1)] * (origin > 0)
    for sign, edge in sides:
        rate = sign * arb(_chernoff(steps, points / 2, sign)[0])
        powers = [-rate * edge, -rate * edge]
        for part in steps:
            for i, log in enumerate(part.log_moments(rate)):
                powers[i] += part.times * log
        total += powers[0].exp().upper().max(powers[1].exp().upper())
    return arb(total.upper())


def _log_moment(masses: Floats, rate: arb) -> arb:
    """An upper bound of log sum p_j e^(rate j)."""
    table = exponentials(rate, len(masses))
    top = int(table.exponent.max())
    # table entries within 4u, 1 rounding for each product and at most one for each addition
    relative = (len(masses) + 10) * UNIT * ROUNDED_UP
    moment = dot(masses, table.at(top)) * (1 + 2 * relative) + UNDERFLOW
    return arb(moment).log() + top * arb(2).log()


def dot(a: Floats, b: Floats) -> float:
    """The inner product on one thread; threads would cost more than a short product."""
    return float(np.einsum("i,i", a, b))
