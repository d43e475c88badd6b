"""Divergences between exact laws: how well an adversary can tell two outputs apart."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.lazy import own_names
from exactdp.parameters import Real, non_negative, positive, rational

__all__ = ["hockey_stick", "max_loss", "renyi", "total_variation"]


def total_variation(p: Law[Any], q: Law[Any]) -> Enclosure:
    """The total variation distance, exact for laws without residual mass.

    Residual mass may belong to any outcome, so it widens the enclosure.
    """
    return _hockey_stick(p, q, Fraction(1))


def hockey_stick(
    p: Law[Any], q: Law[Any], *, epsilon: Real | None = None, e_epsilon: Real | None = None
) -> Enclosure:
    """The smallest delta with p(Y) <= e^epsilon q(Y) + delta for every event Y.

    Give either epsilon >= 0, or the rational number e_epsilon = e^epsilon >= 1; with the latter the
    answer is exact. This is one direction; differential privacy needs the larger of both.

    >>> p = Law({0: Fraction(2, 3), 1: Fraction(1, 3)})
    >>> q = Law({0: Fraction(1, 3), 1: Fraction(2, 3)})
    >>> hockey_stick(p, q, e_epsilon="3/2").lower
    Fraction(1, 6)
    >>> print(hockey_stick(p, q, epsilon="0.5"))
    [0.1170929097, 0.1170929098]
    """
    if e_epsilon is not None and epsilon is None:
        factor = rational("e_epsilon", e_epsilon)
        if factor < 1:
            raise InvalidParameter("e_epsilon", e_epsilon, ">= 1")
        return _hockey_stick(p, q, factor)
    if epsilon is None or e_epsilon is not None:
        raise InvalidParameter("epsilon", epsilon, "given, or e_epsilon instead (not both)")
    loss = non_negative("epsilon", epsilon)
    if not loss:
        return _hockey_stick(p, q, Fraction(1))
    factor_at = refine(lambda: ball(loss).exp(), relative_width=Fraction(1, 10**30))
    most = _hockey_stick(p, q, factor_at.lower).upper
    least = _hockey_stick(p, q, factor_at.upper).lower
    return Enclosure(least, most)


def max_loss(p: Law[Any], q: Law[Any]) -> Fraction | float:
    """The largest ratio p(x)/q(x): e^epsilon of the tightest pure guarantee in this direction.

    p, q: laws without residual mass. Returns the exact ratio, or math.inf where an outcome is
    possible under p and not under q. Raises InvalidParameter.
    """
    for name, law in (("p", p), ("q", q)):
        if law.residual:
            raise InvalidParameter(f"{name}.residual", law.residual, "0 for a pure guarantee")
    if not p.support <= q.support:
        return math.inf
    above, below = 0, 1  # integers: fractions that are not reduced compare several times as fast
    for outcome, weight in p.items():
        other = q[outcome]
        top, bottom = weight.numerator * other.denominator, weight.denominator * other.numerator
        if top * below > above * bottom:
            above, below = top, bottom
    return Fraction(above, below)


def renyi(p: Law[Any], q: Law[Any], *, order: Real) -> Enclosure:
    """The Renyi divergence of an order > 0; order 1 is the Kullback-Leibler divergence.

    Raises InvalidParameter where the divergence is infinite, or a law has residual mass.
    """
    alpha = positive("order", order)
    if p.residual or q.residual:
        raise InvalidParameter("residual", p.residual or q.residual, "0 for a Renyi divergence")
    shared = [(weight, q[x]) for x, weight in p.items() if q[x]]
    if not shared or (alpha >= 1 and len(shared) < len(p)):
        raise InvalidParameter("order", order, "one at which the divergence is finite")

    def compute() -> arb:
        pairs = [(ball(a), ball(b)) for a, b in shared]
        if alpha == 1:
            return sum((a * (a / b).log() for a, b in pairs), arb(0))
        power = ball(alpha)
        total = sum((a**power * b ** (1 - power) for a, b in pairs), arb(0))
        return total.log() / (power - 1)

    if all(a == b for a, b in shared) and len(shared) == len(p):
        return Enclosure.exact(0)
    return refine(compute)


def _hockey_stick(p: Law[Any], q: Law[Any], factor: Fraction) -> Enclosure:
    """At least the part of the known outcomes; at most that and what residual mass could add."""
    above, below = int(factor.numerator), int(factor.denominator)
    over: dict[int, int] = {}  # denominator -> sum of the numerators of p - factor q, times below
    for outcome, weight in p.items():
        other = q[outcome]
        here, there = weight.denominator, other.denominator
        excess = weight.numerator * there * below - above * other.numerator * here
        if excess > 0:
            over[here * there] = over.get(here * there, 0) + excess
    base = sum((Fraction(top, bottom) for bottom, top in over.items()), Fraction(0)) / below
    least = max(base - factor * q.residual, Fraction(0))
    return Enclosure(least, min(base + p.residual, Fraction(1)))


__dir__ = own_names(__name__)
