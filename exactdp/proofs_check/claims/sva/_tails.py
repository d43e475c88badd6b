"""Exact tails of the two sums in the utility proof, and comparisons of balls that never guess."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import count
from math import comb

from flint import arb

from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.proofs_check.claim import require

__all__ = ["at_most", "laplace_tail", "least_integer", "not_negative", "walk_tail"]


def at_most(low: arb | Fraction | int, high: arb | Fraction | int, case: str) -> None:
    """Require low <= high for two numbers known as balls; Undecided where they overlap."""
    if not isinstance(low, arb) and not isinstance(high, arb):
        require(low <= high, f"{case}: {low} > {high}")
        return
    left = low if isinstance(low, arb) else ball(low)
    right = high if isinstance(high, arb) else ball(high)
    if left.overlaps(right) and not left <= right:
        raise Undecided(case)
    require(bool(left <= right), f"{case}: {_short(left)} > {_short(right)}")


def not_negative(
    constant: Fraction, slope: Fraction, low: Fraction | int, high: Fraction | int
) -> None:
    """Require constant + slope x >= 0 for all x of an interval: of a line its ends decide."""
    for x in (low, high):
        value = constant + slope * x
        require(value >= 0, f"{constant} + {slope} x is {value} at x = {x}")


def _short(value: arb) -> str:
    return str(value.str(6, radius=False))


@cache
def _walk(steps: int, b: int) -> list[int]:
    """(2b)^steps P(sum = i - steps) for independent steps: +-1 with 1/(2b) each, else 0."""
    row = [1]
    for _ in range(steps):
        padded = [0, 0, *row, 0, 0]
        row = [padded[i] + (2 * b - 2) * padded[i + 1] + padded[i + 2] for i in range(len(row) + 2)]
    return row


def walk_tail(steps: int, b: int, reach: int) -> Fraction:
    """P(|sum| >= reach) for so many steps of +-1 with probability 1/(2b) each, else 0."""
    row = _walk(steps, b)
    heavy = sum(w for i, w in enumerate(row) if abs(i - steps) >= reach)
    return Fraction(heavy, (2 * b) ** steps)


def laplace_tail(n: int, t: arb) -> arb:
    """P(|sum of n independent Lap(1)| >= t), t > 0: the modulus is a mixture of Erlang laws."""
    total = arb(0)
    term = partial = arb(1)  # t^j / j! and their sum for j < shape
    for shape in range(1, n + 1):
        weight = Fraction(comb(2 * n - shape - 1, n - 1), 2 ** (2 * n - shape - 1))
        total += ball(weight) * partial
        term = term * t / shape
        partial = partial + term
    return total * (-t).exp()


def least_integer(value: arb) -> int:
    """The least integer certainly >= a positive number."""
    return next(m for m in count(int(float(value))) if arb(m) >= value)
