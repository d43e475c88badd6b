"""Tilted masses of one step, and the window of sums that a transform has to hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.pld.measure import Measure
from exactdp.accounting.pld.transform import MOST_POINTS, UNIT, TooLong
from exactdp.accounting.pld.wide import EXPONENTIALS_ERROR, exponentials
from exactdp.errors import Undecided

__all__ = ["LEAST", "Tilted", "chernoff", "dot", "outside_mass", "tilt", "whole", "window"]

Floats = NDArray[np.float64]

#: table, product with the mass, rescaling.
_TILT_ERROR = EXPONENTIALS_ERROR + 3 * UNIT

LEAST = 2.0**-1000


@dataclass(frozen=True)
class Tilted:
    """Masses p_j of one step, below and above, and the logarithms of what they were divided by."""

    low: Floats
    high: Floats
    log_low: arb
    log_high: arb
    times: int

    @cached_property
    def coarse(self) -> tuple[Floats, Floats, Floats]:
        """About 1000 bins to guess with: their means, variances and masses."""
        size = max(1, len(self.high) // 1000)
        masses = np.pad(self.high, (0, -len(self.high) % size)).reshape(-1, size)
        total, inside = masses.sum(axis=1), np.arange(size)
        # einsum, on one thread
        means, squares = (
            np.einsum("ij,j", masses, weight) / np.maximum(total, LEAST)
            for weight in (inside, inside**2)
        )
        return means + size * np.arange(len(masses)), squares - means**2, total

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
        # what is too small for a double is left out below, and raised above
        values = np.where(values < LEAST, 0.0 if error < 0 else LEAST, values)
        total = float(values.sum())
        if not math.isfinite(total):
            raise Undecided("a mass of the loss lost all accuracy")
        shares.append(values / total)
        logs.append(arb(total).log() + top * arb(2).log() + arb(error).log1p())
    return Tilted(shares[0], shares[1], logs[0], logs[1], times)


def window(tilted: Sequence[Tilted], alias_bits: int = 36) -> tuple[int, int]:
    """The length of the transform, and the first index of the window.

    alias_bits: about 2^-alias_bits of the tilted mass may lie outside.
    """
    most = -alias_bits * math.log(2)
    widest = max(len(part.high) for part in tilted)
    points = max(64, 1 << (widest - 1).bit_length())
    if whole(tilted) <= points:
        return points, 0
    while max(chernoff(tilted, points / 2, sign)[1] for sign in (-1, 1)) > most:
        points *= 2
        if whole(tilted) <= points:
            return points, 0
        if points > MOST_POINTS:
            raise TooLong(f"the composition needs more than {MOST_POINTS} nodes at this step")
    return points, int(sum(part.times * part.mean for part in tilted)) - points // 2


def whole(tilted: Sequence[Tilted]) -> int:
    """How many values the sum of all losses can take."""
    return 1 + sum(part.times * (len(part.high) - 1) for part in tilted)


def chernoff(tilted: Sequence[Tilted], distance: float, sign: int) -> tuple[float, float]:
    """About the best rate for a deviation of the sum, and the logarithm of the bound there."""

    def exponent(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return sum(p.times * p.log_mean(sign * rate) for p in tilted) - rate * distance

    # the bins of `coarse` hide what larger rates would do
    bins = max(len(part.high) // len(part.coarse[0]) for part in tilted)
    best = minimum(exponent, -24.0, math.log(2 / (bins + 1)), 0.1)
    return math.exp(best), exponent(best)


def outside_mass(tilted: Sequence[Tilted], points: int, origin: int) -> float:
    """A bound on the mass of sums beside the window origin ... origin + points - 1."""
    if whole(tilted) <= points:
        return 2.0**-900
    total = arb(0)
    sides = [(1, origin + points)] * (origin + points < whole(tilted))
    sides += [(-1, origin - 1)] * (origin > 0)
    for sign, edge in sides:
        rate = arb(chernoff(tilted, points / 2, sign)[0])
        powers = [-sign * rate * edge, -sign * rate * edge]
        for part in tilted:
            for i, masses in enumerate((part.low, part.high)):
                powers[i] += part.times * _log_moment(masses, sign * rate)
        total += max(power.exp().upper() for power in powers)
    return float(total.upper()) * (1 + 4 * UNIT) + 2.0**-900


def _log_moment(masses: Floats, rate: arb) -> arb:
    """An upper bound on log sum p_j e^(rate j)."""
    table = exponentials(rate, len(masses))
    top = int(table.exponent.max())
    size = len(masses)
    moment = dot(masses, table.at(top)) * (1 + 2 * (size + 10) * UNIT) + size * LEAST
    return arb(moment).log() + top * arb(2).log()


def dot(a: Floats, b: Floats) -> float:
    """The inner product, on one thread: such a short one would wait for a second."""
    return float(np.einsum("i,i", a, b))
