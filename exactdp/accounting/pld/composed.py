"""Compositions of measures by Fourier transforms of tilted masses, with a bound on every error.

Masses m_j at the losses offset + j h are tilted to m_j e^(t j), so that the sum of all losses has
its mean near the epsilon asked for: a relative error there is then a relative error of delta. The
tilted and rescaled masses p are doubles, known exactly once they are there, with sum near 1. Five
things are bounded:

- tilting and rescaling: relative, once per step (`_TILT_ERROR`);
- the forward transform: |Z - z| <= d, so |Z^n - z^n| <= expm1(2 n d) max(|Z|, 1/2)^n;
- the powers: 3u relative a multiplication, fewer than n of them count;
- the inverse transform: relative to the mean modulus of its inputs;
- what lies outside the window of L sums, by Chernoff's bound on both sides: it is missing above,
  and what of it is wrapped into the window is too much below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.pld.measure import Measure
from exactdp.accounting.pld.transform import (
    MOST_POINTS,
    UNIT,
    forward,
    inverse,
    relative_error,
)
from exactdp.accounting.pld.wide import EXPONENTIALS_ERROR, exponentials, floor
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["BITS", "Composed", "Copies", "compose"]

Floats = NDArray[np.float64]
T = TypeVar("T", np.float64, np.complex128)

#: Working precision of what is not an array.
BITS = 128

#: (measure below, measure above, how often), all on grids of one step.
Copies = tuple[Measure, Measure, int]

#: table, product with the mass, rescaling.
_TILT_ERROR = EXPONENTIALS_ERROR + 3 * UNIT

_LEAST = 2.0**-1000
_ALIAS = math.log(2.0**-36)


@dataclass(frozen=True)
class _Tilted:
    """Masses p_j of one step, below and above, and the logarithms of what they were divided by."""

    low: Floats
    high: Floats
    log_low: arb
    log_high: arb
    times: int

    @cached_property
    def coarse(self) -> tuple[Floats, Floats]:
        """About 1000 places and masses with the right mean, to guess with."""
        size = max(1, len(self.high) // 1000)
        pad = (0, -len(self.high) % size)
        masses = np.pad(self.high, pad).reshape(-1, size)
        moments = np.pad(self.high * np.arange(len(self.high)), pad).reshape(-1, size)
        total = masses.sum(axis=1)
        return moments.sum(axis=1) / np.maximum(total, _LEAST), total

    def log_mean(self, rate: float) -> float:
        """About log E e^(rate (j - mean))."""
        places, masses = self.coarse
        exponent = rate * (places - self.mean)
        top = float(exponent.max())
        return top + math.log(_dot(masses, np.exp(exponent - top)))

    @cached_property
    def mean(self) -> float:
        """About the mean of j."""
        places, masses = self.coarse
        return _dot(masses, places) / float(masses.sum())


@dataclass(frozen=True)
class Composed:
    """The law of the sum of all losses, tilted, in a window of losses.

    low, high: tilted masses at the losses start + j step; each is within `error` of the exact one,
    and `outside` bounds all that is missing or wrapped. log_low, log_high: logarithms of the scale
    at j = 0, rounded outward. last: the largest j that occurs. infinite_low, infinite_high: mass at
    infinity.
    """

    rate: float
    step: arb
    start: arb
    low: Floats
    high: Floats
    error: float
    outside: float
    log_low: arb
    log_high: arb
    last: int
    infinite_low: arb
    infinite_high: arb

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""
        if self._ended(epsilon):
            return self.infinite_low
        value, scale = self._sum(self.low, epsilon)
        lost = self.error * self._spread + self.outside
        return (
            (value - lost).max(arb(0)) * (self.log_low + scale).exp() + self.infinite_low
        ).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""
        if self._ended(epsilon):
            return self.infinite_high
        value, scale = self._sum(self.high, epsilon)
        # weights beyond the last one kept are below 2^-60
        missing = self.error * self._spread + self.outside + 2.0**-59
        return ((value + missing) * (self.log_high + scale).exp() + self.infinite_high).upper()

    def _ended(self, epsilon: arb) -> bool:
        """Whether no finite loss is above epsilon."""
        return bool(epsilon >= self.start + self.step * self.last)

    def _sum(self, masses: Floats, epsilon: arb) -> tuple[arb, arb]:
        """sum_i c_(j+i) (e^(-t i) - e^(-y) e^(-(t+h) i)), and the logarithm of e^(-t j).

        j is the first node above epsilon, y its distance. Nodes beside the window are left to
        `outside`.
        """
        place = (epsilon - self.start) / self.step
        first = floor(place) + 1
        distance = self.start + self.step * first - epsilon
        here = masses[max(first, 0) : max(first + len(self._plain), 0)]
        skipped = max(-first, 0)
        size = min(len(here), max(len(self._plain) - skipped, 0))
        here = here[:size]
        plain, steeper = (w[skipped : skipped + size] for w in (self._plain, self._steeper))
        relative = (size + 10) * UNIT * _dot(np.abs(here), plain)
        first_sum = arb(_dot(here, plain), 1.01 * relative)
        second_sum = arb(_dot(here, steeper), 1.01 * relative)
        return first_sum - (-distance).exp() * second_sum, -arb(self.rate) * first

    @cached_property
    def _plain(self) -> Floats:
        return self._weights(arb(self.rate))

    @cached_property
    def _steeper(self) -> Floats:
        return self._weights(arb(self.rate) + self.step)

    @cached_property
    def _spread(self) -> float:
        """At least the sum of all weights e^(-t i) - e^(-y) e^(-(t+h) i), as y <= h."""
        shrunk = float((-self.step).exp().mid()) * (1 - 8 * UNIT)
        slack = 4 * len(self._plain) * UNIT * float(self._plain.sum())
        return 1.001 * (float((self._plain - shrunk * self._steeper).sum()) + slack)

    def _weights(self, rate: arb) -> Floats:
        count = len(self.low)
        if self.rate > 0:
            count = min(count, math.ceil(42 / self.rate))
        with precision(BITS):  # whoever asks first may work at less
            return exponentials(-rate, count).at(0)


def compose(parts: Sequence[Copies], rate: float) -> Composed:
    """The composition of all copies, tilted by e^(rate j) with rate >= 0.

    Raises Undecided where it needs a transform of more than MOST_POINTS.
    """
    with precision(BITS):
        tilted = [_tilt(low, high, times, rate) for low, high, times in parts]
        points, origin = _window(tilted)
        low, high, error = _transformed(tilted, points, origin)
        firsts = [min(m.first for m in pair[:2]) for pair in parts]
        step = parts[0][0].grid.step
        start = sum(
            (times * (low.grid.offset + first * step))
            for (low, _, times), first in zip(parts, firsts, strict=True)
        )
        log_low = sum((part.times * part.log_low for part in tilted), arb(0))
        log_high = sum((part.times * part.log_high for part in tilted), arb(0))
        back = arb(rate) * origin
        return Composed(
            rate,
            ball(step),
            ball(start + origin * step),
            low,
            high,
            error,
            _outside(tilted, points, origin),
            log_low.lower() - back,
            log_high.upper() - back,
            _whole(tilted) - 1 - origin,
            _infinite([(low, times) for low, _, times in parts]).lower(),
            _infinite([(high, times) for _, high, times in parts]).upper(),
        )


def _tilt(low: Measure, high: Measure, times: int, rate: float) -> _Tilted:
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
        values = np.where(values < _LEAST, 0.0 if error < 0 else _LEAST, values)
        total = float(values.sum())
        shares.append(values / total)
        logs.append(arb(total).log() + top * arb(2).log() + arb(error).log1p())
    return _Tilted(shares[0], shares[1], logs[0], logs[1], times)


def _window(tilted: Sequence[_Tilted]) -> tuple[int, int]:
    """The length of the transform, and the first index of the window."""
    widest = max(len(part.high) for part in tilted)
    points = max(64, 1 << (widest - 1).bit_length())
    if _whole(tilted) <= points:
        return points, 0
    while max(_chernoff(tilted, points / 2, sign)[1] for sign in (-1, 1)) > _ALIAS:
        points *= 2
        if _whole(tilted) <= points:
            return points, 0
        if points > MOST_POINTS:
            raise Undecided(f"the composition needs more than {MOST_POINTS} nodes at this step")
    return points, int(sum(part.times * part.mean for part in tilted)) - points // 2


def _whole(tilted: Sequence[_Tilted]) -> int:
    """How many values the sum of all losses can take."""
    return 1 + sum(part.times * (len(part.high) - 1) for part in tilted)


def _chernoff(tilted: Sequence[_Tilted], distance: float, sign: int) -> tuple[float, float]:
    """About the best rate for a deviation of the sum, and the logarithm of the bound there."""

    def exponent(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return sum(p.times * p.log_mean(sign * rate) for p in tilted) - rate * distance

    # the bins of `coarse` hide what larger rates would do
    bins = max(len(part.high) // len(part.coarse[0]) for part in tilted)
    best = minimum(exponent, -24.0, math.log(2 / (bins + 1)), 0.1)
    return math.exp(best), exponent(best)


def _outside(tilted: Sequence[_Tilted], points: int, origin: int) -> float:
    """A bound on the mass of sums beside the window origin ... origin + points - 1."""
    if _whole(tilted) <= points:
        return 2.0**-900
    total = arb(0)
    sides = [(1, origin + points)] * (origin + points < _whole(tilted))
    sides += [(-1, origin - 1)] * (origin > 0)
    for sign, edge in sides:
        rate = arb(_chernoff(tilted, points / 2, sign)[0])
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
    moment = _dot(masses, table.at(top)) * (1 + 2 * (size + 10) * UNIT) + size * _LEAST
    return arb(moment).log() + top * arb(2).log()


def _transformed(
    tilted: Sequence[_Tilted], points: int, origin: int
) -> tuple[Floats, Floats, float]:
    """The cyclic compositions in the window, below and above, and a bound on their errors.

    Both go through one complex transform: below is its real part, above the imaginary one.
    """
    half = points // 2 + 1
    relative = relative_error(points)
    low, high = np.ones(half, dtype=np.complex128), np.ones(half, dtype=np.complex128)
    modulus, shift, count = np.ones(half), 0.0, 0
    for part in tilted:
        values = np.zeros(points, dtype=np.complex128)
        values[: len(part.low)] = part.low
        values[: len(part.high)] += 1j * part.high
        seen = forward(values)
        mirrored = np.conj(np.roll(seen[::-1], 1)[:half])
        of_low, of_high = (seen[:half] + mirrored) / 2, (seen[:half] - mirrored) * -0.5j
        largest = np.maximum(np.maximum(np.abs(of_low), np.abs(of_high)), 0.5)
        low *= _power(of_low, part.times)
        high *= _power(of_high, part.times)
        modulus *= _power(largest, part.times)
        shift += part.times * (2.02 * relative + 6 * UNIT)
        count += part.times
    if shift > 0.1:
        raise Undecided("too many steps for double precision")
    mean = 1.01 * math.exp(20 * UNIT * count) * 2 * float(modulus.sum()) / points
    growth = math.expm1(2 * shift) + 4 * UNIT * count + 2.1 * relative + 8 * UNIT
    whole = np.empty(points, dtype=np.complex128)
    whole[:half] = low + 1j * high
    whole[half:] = np.conj(low[1 : half - 1][::-1]) + 1j * np.conj(high[1 : half - 1][::-1])
    sums = np.roll(inverse(whole), -(origin % points))
    return sums.real.copy(), sums.imag.copy(), 1.01 * mean * growth + 2.0**-900


def _power(base: NDArray[T], exponent: int) -> NDArray[T]:
    """Entry by entry, by squaring: fewer than exponent roundings count."""
    result, square = np.ones_like(base), base.copy()
    while exponent:
        if exponent & 1:
            result *= square
        exponent >>= 1
        if exponent:
            square *= square
    return result


def _dot(a: Floats, b: Floats) -> float:
    """The inner product, on one thread: such a short one would wait for a second."""
    return float(np.einsum("i,i", a, b))


def _infinite(measures: Sequence[tuple[Measure, int]]) -> arb:
    """The mass at infinity of a composition: all of it less what is finite throughout."""
    finite, ratio = arb(0), arb(0)
    for measure, times in measures:
        size = len(measure.masses)
        sum_ = float(measure.masses.at(0).sum())
        total = arb(sum_, 2 * size * UNIT * sum_ + size * _LEAST)
        finite += times * total.log()
        ratio += times * (measure.infinity / total).log1p()
    return finite.exp() * ratio.expm1()
