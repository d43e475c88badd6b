"""Vectors for matrix mechanisms: Gaussian noise on C x, for a user in some of the steps.

The sensitivity is the largest norm over all sets of steps that are allowed, one by one, and over
all signs of the vectors that the user adds there. The loss is that of the Gaussian mechanism.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for, settled


def _delta(
    strategy: str, steps: str, participations: str, separation: str, sigma: str, epsilon: str
) -> Bounds:
    square = _square(strategy, int(steps), int(participations), int(separation))

    def value() -> mpf:
        mu = mp.sqrt(mpf(square.numerator) / square.denominator) / number(sigma)
        x = mp.exp(number(epsilon))
        return mp.ncdf(mu / 2 - number(epsilon) / mu) - x * mp.ncdf(-mu / 2 - number(epsilon) / mu)

    delta = settled(value)
    with mp.workdps(60):
        mu = mp.sqrt(mpf(square.numerator) / square.denominator) / number(sigma)
        start, x = number(epsilon) / mu + mu / 2, mp.exp(number(epsilon))
        places = [start + 4 * i for i in range(10)]
        other = mp.quad(lambda z: mp.npdf(z - mu) - x * mp.npdf(z), [*places, mp.inf])
    return bracket(delta, (other, "1e-30"), most=1)


def _square(strategy: str, steps: int, participations: int, separation: int) -> Fraction:
    """The largest |C u|^2 over u with entries -1, 0 and 1 at the steps of one user."""
    entries = [Fraction(text) for text in strategy.split()]
    column = [*entries, *[Fraction(0)] * steps][:steps]
    largest = Fraction(0)
    for count in range(1, participations + 1):
        for chosen in combinations(range(steps), count):
            if any(later - step < separation for step, later in pairwise(chosen)):
                continue
            for signs in product((1, -1), repeat=count - 1):
                moved = [Fraction(0)] * steps
                for step, sign in zip(chosen, (1, *signs), strict=True):
                    for i in range(step, steps):
                        moved[i] += sign * column[i - step]
                largest = max(largest, sum((x * x for x in moved), Fraction(0)))
    return largest


_PREFIX = "1 1 1 1 1 1 1 1"
_ROOTS = "1 0.5 0.375 0.3125 0.2734375 0.24609375 0.2255859375 0.20947265625"

TABLE = [
    # strategy, steps, participations, separation, sigma, epsilon, comment, flags
    ("1", "8", "1", "1", "1", "1", "independent noise, one step", "Ordinary"),
    ("1", "8", "3", "2", "1", "1", "independent noise, three steps", "SeveralSteps"),
    (_PREFIX, "8", "1", "1", "4", "0.5", "prefix sums, one step", "Ordinary"),
    (_PREFIX, "8", "2", "4", "4", "0.5", "prefix sums, two steps", "SeveralSteps"),
    (_PREFIX, "8", "3", "1", "8", "1", "any three steps", "SeveralSteps"),
    (_ROOTS, "8", "1", "1", "1", "1", "square root, one step", "Ordinary"),
    (_ROOTS, "8", "4", "2", "4", "0.5", "square root, four steps", "SeveralSteps"),
    ("1 0.5 0.375", "10", "3", "3", "2", "1", "three bands", "SeveralSteps"),
    ("1 -0.5", "9", "3", "3", "2", "1", "two bands of both signs", "SeveralSteps"),
    (_ROOTS, "8", "2", "4", "4", "4", "far out", "SeveralSteps SmallDelta"),
]

_NAMES = ("strategy", "steps", "participations", "separation", "sigma", "epsilon")


GROUP = Group(
    name="matrix",
    description="Matrix mechanisms such as DP-FTRL: C x plus Gaussian noise of standard deviation "
    "sigma, where row i of x is what step i adds up, and C is the lower triangular Toeplitz matrix "
    "whose first column is `strategy`, continued by zeros. A user adds a vector of norm at most "
    "1 to at most this "
    "number of participations, separation steps apart or more. Neighbours: with or without the "
    "user.",
    questions={"delta": "the least delta of all steps together for this epsilon"},
    source="Denisov et al. 2022 (arXiv 2202.08312); Choquette-Choo et al. 2023 (arXiv 2306.08153)",
    methods=(
        "rational arithmetic: the largest norm over all sets of steps and all signs; mpmath: the "
        "Gaussian mechanism's delta, at two precisions",
        "the same delta by quadrature of the positive part",
    ),
    recipes=lambda: recipes_for("delta", _NAMES, _delta, TABLE),
)
