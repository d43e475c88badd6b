"""Compositions whose tail is too heavy for a tilt: in balls, as precise as delta is small.

Where one large loss is likelier than many small ones (few steps, small rates, tiny delta), no tilt
brings the mass of the sum near epsilon, and the accuracy of doubles is spent elsewhere. Here the
masses are not tilted; the transform (Arb's) works at so many more bits that delta has its accuracy
all the same. What lies outside the window is bounded as in `composed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from flint import acb, arb

from exactdp.accounting.pld.composed import Copies, infinite_mass, start_of
from exactdp.accounting.pld.measure import Measure
from exactdp.accounting.pld.tilted import Tilted, chernoff, tilt, whole, window
from exactdp.accounting.pld.wide import floor
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.progress import tick

__all__ = ["HeavyTailed", "compose_in_balls"]

#: Longer transforms of balls take minutes.
_MOST_POINTS = 1 << 18

_SPARE_BITS = 80
_WATCHED = 4096

#: Masses of all outcomes from one node on, under P and under Q.
_Beyond = list[tuple[arb, arb]]


@dataclass(frozen=True)
class HeavyTailed:
    """Bounds on delta at any epsilon, from the sums of the masses beyond each node.

    outside: at least the mass that is missing in the window, or wrapped into it.
    """

    bits: int
    start: arb
    step: arb
    low: _Beyond
    high: _Beyond
    outside: arb
    infinite_low: arb
    infinite_high: arb

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""
        with precision(self.bits):
            found = self._excess(self.low, epsilon) - self.outside
            return (found.max(arb(0)) + self.infinite_low).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""
        with precision(self.bits):
            return (self._excess(self.high, epsilon) + self.outside + self.infinite_high).upper()

    def _excess(self, beyond: _Beyond, epsilon: arb) -> arb:
        node = max(floor((epsilon - self.start) / self.step) + 1, 0)
        if node >= len(beyond):
            return arb(0)
        p, q = beyond[node]
        return p - (epsilon - self.start).exp() * q


def compose_in_balls(parts: Sequence[Copies], bits: int) -> HeavyTailed:
    """The composition of all copies, for deltas of about 2^-bits.

    Raises Undecided where it needs a transform of more than 2^18 points.
    """
    plain = [tilt(low, high, times, 0.0) for low, high, times in parts]
    points, origin = window(plain, alias_bits=bits)
    if points > _MOST_POINTS:
        raise Undecided(f"the composition needs more than {_MOST_POINTS} balls at this step")
    with precision(bits + _SPARE_BITS):
        low, high = _transformed(parts, points, origin)
        step = ball(parts[0][0].grid.step)
        outside = _outside(parts, plain, points, origin)
        return HeavyTailed(
            bits + _SPARE_BITS,
            ball(start_of(parts)) + origin * step,
            step,
            _beyond(low, step),
            _beyond(high, step),
            outside,
            infinite_mass([(low, times) for low, _, times in parts]).lower(),
            infinite_mass([(high, times) for _, high, times in parts]).upper(),
        )


def _outside(parts: Sequence[Copies], plain: Sequence[Tilted], points: int, origin: int) -> arb:
    """A bound on the mass of sums beside the window, by Chernoff's bound on either side."""
    total, size = arb(0), whole(plain)
    sides = [(1, origin + points)] * (origin + points < size)
    sides += [(-1, origin - 1)] * (origin > 0)
    for sign, edge in sides:
        rate = sign * arb(chernoff(plain, points / 2, sign)[0])
        most = arb(0)
        for choice in (0, 1):
            power = -rate * edge
            for part in parts:
                measure = (part[0], part[1])[choice]
                place = measure.first - min(part[0].first, part[1].first)
                power += part[2] * _moment(measure, place, rate).log()
            most = most.max(power.exp().upper())
        total += most
    return total.upper()


def _moment(measure: Measure, place: int, rate: arb) -> arb:
    """sum m_j e^(rate j), the first j being place."""
    growth, weight, total = rate.exp(), (rate * place).exp(), arb(0)
    for mass in _masses(measure):
        total += mass * weight
        weight *= growth
    return total


def _transformed(parts: Sequence[Copies], points: int, origin: int) -> tuple[list[arb], list[arb]]:
    """The cyclic compositions in the window, from one complex transform: below + i above."""
    half = points // 2 + 1
    low, high = [acb(1)] * half, [acb(1)] * half
    for below, above, times in parts:
        first = min(below.first, above.first)
        values = [acb(0)] * points
        for unit, measure in ((acb(1), below), (acb(0, 1), above)):
            for place, mass in enumerate(_masses(measure), measure.first - first):
                values[place] += unit * mass
        seen = acb.dft(values)
        for k in range(half):
            if k % _WATCHED == 0:
                tick()
            here, mirrored = seen[k], seen[-k % points].conjugate()
            low[k] *= ((here + mirrored) / 2) ** times
            high[k] *= ((here - mirrored) * acb(0, -0.5)) ** times
    spectrum = [a + acb(0, 1) * b for a, b in zip(low, high, strict=True)]
    mirror = [
        a.conjugate() + acb(0, 1) * b.conjugate()
        for a, b in zip(low[half - 2 : 0 : -1], high[half - 2 : 0 : -1], strict=True)
    ]
    sums = acb.dft(spectrum + mirror, inverse=True)
    turned = [sums[(origin + k) % points] for k in range(points)]
    return [c.real for c in turned], [c.imag for c in turned]


def _masses(measure: Measure) -> list[arb]:
    pairs = zip(measure.masses.mantissa.tolist(), measure.masses.exponent.tolist(), strict=True)
    return [arb(m) * arb(2) ** e for m, e in pairs]


def _beyond(masses: list[arb], step: arb) -> _Beyond:
    """At every node the P-mass from there on, and the Q-mass relative to the first node's loss."""
    fall = (-step).exp()
    shrunk = list(accumulate([arb(1)] + [fall] * (len(masses) - 1), lambda a, b: a * b))
    p = accumulate(reversed(masses))
    q = accumulate(m * w for m, w in zip(reversed(masses), reversed(shrunk), strict=True))
    return list(zip(p, q, strict=True))[::-1]
