"""Vectors for matrix mechanisms on cyclic Poisson samples.

Users belong to as many parts as the strategy has bands, and the parts take turns. Of a Toeplitz
strategy the users of the first part lose most: in step j, for every multiple j of the number of
bands, they have Gaussian noise on a Poisson sample at the norm of column j. These steps compose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for
from vectors.generate.contour import Rule, Rules, composed
from vectors.generate.rules import gaussian, pair
from vectors.generate.shares import in_integers

_DIGITS = 75


def _norms(strategy: str, steps: int) -> Counter[Fraction]:
    """The squares of the norms of every part's columns, for the first part."""
    entries = [Fraction(text) for text in strategy.split()]
    rows = [
        [entries[i - j] if 0 <= i - j < len(entries) else 0 for j in range(steps)]
        for i in range(steps)
    ]
    columns = range(0, steps, len(entries))
    return Counter(Fraction(sum(row[j] ** 2 for row in rows)) for j in columns)


def _orders(strategy: str, steps: str, rate: str, sigma: str) -> Iterator[Rules]:
    def rules(order: str, level: int) -> list[tuple[Rule, int]]:
        listed = []
        for square, times in _norms(strategy, int(steps)).items():
            length = mp.sqrt(mpf(square.numerator) / square.denominator) / number(sigma)
            law = pair([(mpf(1), length)], number(rate), order)
            listed.append((gaussian(*law, level // 2), times))
        return listed

    for order in ("remove", "add"):
        yield partial(rules, order)


def _delta(strategy: str, steps: str, rate: str, sigma: str, epsilon: str) -> Bounds:
    with mp.workdps(_DIGITS):
        deltas = []
        for rules in _orders(strategy, steps, rate, sigma):
            line, value = composed(rules, number(epsilon))
            deltas.append((value, line, rules))
        value, line, rules = max(deltas, key=lambda each: each[0])
        second = in_integers(rules, number(epsilon), line.theta, value)
        return bracket(value, *second, most=1)


TABLE = [
    # strategy, steps, rate, sigma, epsilon, comment, flags
    ("1 0.5", "200", "0.1", "2", "2", "two bands", "SeveralSteps"),
    ("1 0.5 0.375", "300", "0.1", "2", "2", "three bands of the square root", "SeveralSteps"),
    ("1 1 1 1", "400", "0.1", "4", "2", "sums of four steps", "SeveralSteps"),
    ("1 -0.5 0.25", "301", "0.1", "2", "2", "signs, and a last column that is cut", "SeveralSteps"),
    ("0.6 0.8", "2000", "0.01", "1", "1.8282", "columns of norm 1", "Ordinary"),
]

_NAMES = ("strategy", "steps", "rate", "sigma", "epsilon")


GROUP = Group(
    name="sampled_matrix",
    description="Banded matrix mechanisms on cyclic Poisson samples: C x plus Gaussian noise of "
    "standard deviation sigma, where C is the lower triangular Toeplitz matrix whose first column "
    "is `strategy`, continued by zeros, and row i of x sums vectors of norm at most 1. Users "
    "belong to b fixed parts, b being the number of entries of `strategy`; step i = 0, 1, ... "
    "draws every user of part i mod b with probability `rate`. Neighbours: with or without one "
    "user, of any part.",
    questions={"delta": "the least delta of all steps together for this epsilon"},
    source="Choquette-Choo et al. 2023 (arXiv 2306.08153), Section 5",
    methods=(
        "the integral of the product of the transforms of all steps' losses along a line in the "
        "complex plane, on two lines, agreeing to 1e-43",
        "the same by integers on grids, where at most 300000 nodes suffice, agreeing to 1e-4",
    ),
    recipes=lambda: recipes_for("delta", _NAMES, _delta, TABLE),
)
