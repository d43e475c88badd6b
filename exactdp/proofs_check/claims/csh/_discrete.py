"""Discrete Gaussian masses in balls, and Renyi divergences by summing over the integers."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.balls import ball

__all__ = ["masses", "renyi", "sum_law"]

#: Masses are cut where they fall below e^-CUT; what is cut off is far below every margin here.
_CUT = 160


def masses(variance: arb) -> dict[int, arb]:
    """P(z) proportional to exp(-z^2/(2 variance)) on the integers, cut far out."""
    reach = int(float((2 * variance * _CUT).sqrt().mid())) + 2
    raw = {z: (-(z * z) / (2 * variance)).exp() for z in range(-reach, reach + 1)}
    total = sum(raw.values(), arb(0))
    return {z: w / total for z, w in raw.items()}


def sum_law(first: dict[int, arb], second: dict[int, arb]) -> dict[int, arb]:
    """The law of a sum of two independent integers."""
    law: dict[int, arb] = {}
    for x, p in first.items():
        for y, q in second.items():
            law[x + y] = law.get(x + y, arb(0)) + p * q
    return law


def renyi(law: dict[int, arb], shift: int, alpha: Fraction) -> arb:
    """D_alpha(X + shift || X), from the masses; the cut ends are left out."""
    total, power = arb(0), ball(alpha)
    for z, p in law.items():
        if z + shift in law:
            q = law[z + shift]  # the mass of X at z + shift, where X + shift has mass p
            total += (power * p.log() + (1 - power) * q.log()).exp()
    return total.log() / (power - 1)
