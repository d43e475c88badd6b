"""Means of positive parts of sums of counts, with certain bounds, for pairs of shuffled reports.

T is binomial, and h has the law Bin(T, 1/2). Let a be the least integer >= s, and, for given T, let
S = P(h >= a) and b = P(h = a). The mean of (h - s)_+ is (T/2 - s) S + (a/2) b, as h P(h) for
Bin(T, 1/2) is T/2 times the probability of h - 1 for Bin(T - 1, 1/2).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from flint import arb

from exactdp.balls import ball

#: Working precision.
BITS = 192

#: Counts with a probability below 2^-CUT_BITS are left out.
CUT_BITS = 100


class Row(NamedTuple):
    """A law of T from `first` on, a factor, and m = offset + slope T."""

    factor: arb
    first: int
    masses: list[arb]
    offset: Fraction
    slope: Fraction = Fraction(0)


def excess(row: Row, e: Fraction, r: Fraction) -> arb:
    """The factor times the mean of (h_x - e h_y - m (e - 1)/(r - 1))_+.

    h_x - e h_y - m c = (1 + e) (h_x - s) with s = (e T + m c)/(1 + e). S and b follow T and a from
    one T to the next: s grows with T, but by less than 1, since c < 1 and slope <= 1.
    """
    c = (e - 1) / (r - 1)
    rise, start = (e + c * row.slope) / (1 + e), c * row.offset / (1 + e)
    unit = lcm(rise.denominator, start.denominator)
    rise_units, start_units = int(rise * unit), int(start * unit)
    total, tail, b, a = arb(0), arb(0), arb(0), -1
    for t, mass in enumerate(row.masses, row.first):
        s = rise_units * t + start_units
        least = -(-s // unit)
        if least > t:
            continue
        if a < 0:
            a = least
            tail, b = _tail(t, a)
        else:
            b /= 2 * (t - a)
            tail += b * a
            b *= t
            while a < least:
                tail -= b
                b = b * (t - a) / (a + 1)
                a += 1
        total += mass * (tail * (t * unit - 2 * s) + b * (a * unit))
    return total * row.factor * ball((1 + e) / (2 * unit))


def _tail(t: int, a: int) -> tuple[arb, arb]:
    """P(Bin(t, 1/2) >= a) and P(Bin(t, 1/2) = a), for a >= t/2."""
    b = _choose(t, a) * arb(2) ** -t
    total, term = arb(0), b
    while a < t and not term < b * arb(2) ** -BITS:
        total += term
        term = term * (t - a) / (a + 1)
        a += 1
    # the other terms fall at least as fast as a geometric series with the next ratio
    rest = term if a == t else term / (1 - arb(t - a) / (a + 1))
    return (total + term).union(total + rest), b


def binomial(n: int, p: Fraction) -> tuple[int, list[arb]]:
    """The law Bin(n, p) around its mode: the first count, and the probabilities from that count on.

    Counts with a probability below about 2^-CUT_BITS are left out.
    """
    if p == 1 or n == 0:
        return n, [arb(1)]
    mode, least = min(int((n + 1) * p), n), arb(2) ** -CUT_BITS
    odds = ball(p / (1 - p))
    top = _choose(n, mode) * ball(p) ** mode * ball(1 - p) ** (n - mode)

    def upward() -> Iterator[arb]:
        mass = top
        for t in range(mode, n):
            mass = mass * (n - t) / (t + 1) * odds
            yield mass

    def downward() -> Iterator[arb]:
        mass = top
        for t in range(mode, 0, -1):
            mass = mass * t / (n - t + 1) / odds
            yield mass

    below, above = _until(downward(), least), _until(upward(), least)
    return mode - len(below), [*reversed(below), top, *above]


def _until(masses: Iterator[arb], least: arb) -> list[arb]:
    kept = []
    for mass in masses:
        if mass < least:
            break
        kept.append(mass)
    return kept


def _choose(n: int, k: int) -> arb:
    return (arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()).exp()
