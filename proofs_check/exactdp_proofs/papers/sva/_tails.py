"""Exact tails of the two sums in the utility proof."""

from __future__ import annotations

from functools import cache
from itertools import count
from math import comb

from flint import arb

from exactdp.balls import ball
from exactdp_proofs.rationals import Fraction


@cache
def _walk(steps: int, b: int) -> list[int]:
    """(2b)^steps P(sum = i - steps) for independent steps: +-1 with 1/(2b) each, else 0."""
    row = [1]
    for _ in range(steps):
        padded = [0, 0, *row, 0, 0]
        row = [padded[i] + (2 * b - 2) * padded[i + 1] + padded[i + 2] for i in range(len(row) + 2)]
    return row


def walk_tail(steps: int, b: int, reach: int) -> Fraction:
    """P(|sum| >= reach) for `steps` steps: +-1 with probability 1/(2b) each, else 0."""
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
