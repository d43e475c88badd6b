"""delta of any sequence of mechanisms by integers: losses shared between the nodes of a grid.

Every point of a loss's law goes to the two nodes beside it so that its masses under P and under Q
stay. That is an upper bound, off by about the square of the step; half the step tells by how much.
Masses are integers in units of 2^-bits; polynomials are multiplied as numbers (Kronecker).
"""

from __future__ import annotations

from collections.abc import Sequence

import gmpy2
from mpmath import mp, mpf

from vectors.generate.contour import Rule, Rules

#: Index of the first node, and the masses from there on.
_Masses = tuple[int, list[int]]

#: The level of the finest rules; and a number of nodes beyond which a sum takes minutes.
_LEVEL = 8
_MOST_NODES = 300_000

#: Relative accuracy of `in_integers`.
_NEAR = "1e-4"


def on_lattice(rules: Rules, epsilon: mpf, value: mpf, step: mpf) -> mpf:
    """delta(epsilon) to nine digits, for losses that are all multiples of the step.

    value: a rough delta, from which the number of bits is chosen.
    """
    with mp.workdps(60):
        weighted = rules(0)
        steps = sum(count for _, count in weighted)
        return _delta(weighted, epsilon, step, int(40 + mp.log(steps, 2) - mp.log(value, 2)))


def in_integers(rules: Rules, epsilon: mpf, theta: mpf, value: mpf) -> list[tuple[mpf, str]]:
    """delta(epsilon) from two grids, with its relative accuracy; empty where it would take minutes.

    theta, value: rough values of the slope of -log delta and of delta, which set the grids.
    """
    with mp.workdps(40):
        weighted = rules(_LEVEL)
        steps = sum(count for _, count in weighted)
        step = mpf("0.15") / mp.sqrt(steps * 2 * theta * (2 * theta + 1))
        bits = int(40 + mp.log(steps, 2) - mp.log(value, 2))
        if _reach(weighted, bits) / step > _MOST_NODES:
            return []
        coarse, fine = (_delta(weighted, epsilon, h, bits) for h in (step, step / 2))
        return [(fine - (coarse - fine) / 3, _NEAR)]


def _reach(rules: Sequence[tuple[Rule, int]], bits: int) -> mpf:
    """About the width of the sums of losses that have masses above 2^-bits."""
    variance, widest = mpf(0), mpf(0)
    for rule, count in rules:
        mean = mp.fsum(loss * mass for loss, mass in rule)
        variance += count * mp.fsum((loss - mean) ** 2 * mass for loss, mass in rule)
        counting = [loss for loss, mass in rule if mass > mpf(2) ** -bits]
        widest = max(widest, max(counting) - min(counting))
    return 2 * mp.sqrt(2 * mp.log(2) * bits * variance) + widest


def _delta(rules: Sequence[tuple[Rule, int]], epsilon: mpf, step: mpf, bits: int) -> mpf:
    whole: _Masses = 0, [1 << bits]
    for rule, count in rules:
        square, left = _shared(rule, step, bits), count
        while left:
            if left & 1:
                whole = _product(whole, square, bits)
            left >>= 1
            if left:
                square = _product(square, square, bits)
    first, masses = whole
    beyond = max(first, int(mp.floor(epsilon / step)) + 1)
    total, falls, fall = mpf(0), mp.exp(epsilon - beyond * step), mp.exp(-step)
    for mass in masses[beyond - first :]:
        total += mass * (1 - falls)
        falls *= fall
    return total / mpf(2) ** bits


def _shared(rule: Rule, step: mpf, bits: int) -> _Masses:
    places = [int(mp.floor(loss / step)) for loss, _ in rule]
    first, masses = min(places), [mpf(0)] * (max(places) - min(places) + 2)
    for (loss, mass), place in zip(rule, places, strict=True):
        left = mass * mp.expm1((place + 1) * step - loss) / mp.expm1(step)
        masses[place - first] += left
        masses[place - first + 1] += mass - left
    return _trimmed(first, [int(mass * mpf(2) ** bits) for mass in masses])


def _product(a: _Masses, b: _Masses, bits: int) -> _Masses:
    size = (2 * bits + min(len(a[1]), len(b[1])).bit_length() + 8) // 8
    packed = (
        gmpy2.mpz(int.from_bytes(b"".join(m.to_bytes(size, "little") for m in part), "little"))
        for _, part in (a, b)
    )
    one, other = packed
    count = len(a[1]) + len(b[1]) - 1
    spread = int(one * other).to_bytes(size * count + size, "little")
    masses = [
        int.from_bytes(spread[i * size : (i + 1) * size], "little") >> bits for i in range(count)
    ]
    return _trimmed(a[0] + b[0], masses)


def _trimmed(first: int, masses: list[int]) -> _Masses:
    """The masses without zeros at either end."""
    used = [i for i, mass in enumerate(masses) if mass]
    return first + used[0], masses[used[0] : used[-1] + 1]
