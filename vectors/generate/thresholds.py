"""Vectors for the thresholds of stability histograms, by kind of noise."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from mpmath import mp, mpf

from vectors.generate.common import (
    Bounds,
    Group,
    Recipe,
    bracket,
    number,
    recipes_for,
    root,
    settled,
)
from vectors.generate.discrete import above_direct, all_direct, all_poisson
from vectors.generate.discrete_laplace import upper_tail, upper_tail_direct
from vectors.generate.normal import tail, tail_integral

GRID = ("geometric", "discrete_gaussian")


def _laplace(x: mpf, scale: str) -> mpf:
    """P(noise > x) for Laplace noise."""
    ratio = x / number(scale)
    return mp.exp(-ratio) / 2 if x >= 0 else 1 - mp.exp(ratio) / 2


def _laplace_integral(x: mpf, scale: str) -> mpf:
    """The same from the density, by quadrature beyond |x| in units of the scale."""
    start = abs(x) / number(scale)
    inner = mp.quad(lambda t: mp.exp(-t) / 2, [0, 1, 4, 16, 64, 200])
    beyond = mp.exp(-start) * inner
    return beyond if x >= 0 else 1 - beyond


def _one(noise: str, scale: str, threshold: str | mpf, comparison: str, other: bool = False) -> mpf:
    """P(1 + noise passes the threshold); other: by the other method."""
    if noise in GRID:
        level = Fraction(str(threshold)) - 1
        # the largest value of the noise that does not pass
        z = floor(level) if comparison == ">" else ceil(level) - 1
        return _grid(noise, scale, z, other)
    distance = (number(threshold) if isinstance(threshold, str) else threshold) - 1
    if noise == "laplace":
        return (_laplace_integral if other else _laplace)(distance, scale)
    return (tail_integral if other else tail)(distance / number(scale))


def _grid(noise: str, scale: str, z: int, other: bool) -> mpf:
    """P(X > z), the lower tail by symmetry."""
    if z < -1:
        return 1 - _grid(noise, scale, -z - 1, other)
    if noise == "geometric":
        return (upper_tail_direct if other else upper_tail)(z, scale)
    variance = number(scale) ** 2
    return above_direct(z, variance) / (all_direct if other else all_poisson)(variance)


def _any(one: mpf, k: str) -> mpf:
    """P(one of k independent counters shows)."""
    return -mp.expm1(int(k) * mp.log1p(-one))


def _delta(noise: str, scale: str, threshold: str, comparison: str, k: str) -> Bounds:
    value = settled(lambda: _any(_one(noise, scale, threshold, comparison), k))
    with mp.workdps(60):
        other = _any(_one(noise, scale, threshold, comparison, other=True), k)
    return bracket(value, (other, "1e-36"), most=1)


def _tau(noise: str, scale: str, delta: str, comparison: str, k: str) -> Bounds:
    """The least threshold; on the integers an integer."""
    if noise not in GRID:

        def enough(threshold: mpf) -> bool:
            return bool(_any(_one(noise, scale, threshold, comparison), k) <= number(delta))

        return root(enough, mpf(1), 1200)
    with mp.workdps(80):
        low, high = 0, 1
        while not _fits(noise, scale, high, comparison, k, delta):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if _fits(noise, scale, middle, comparison, k, delta):
                high = middle
            else:
                low = middle
    with mp.workdps(160):
        if _fits(noise, scale, high - 1, comparison, k, delta):
            raise ArithmeticError("a smaller threshold is enough")
    return str(high), str(high)


def _fits(noise: str, scale: str, t: int, comparison: str, k: str, delta: str) -> bool:
    return bool(_any(_one(noise, scale, str(t), comparison), k) <= number(delta))


DELTAS = [
    # noise, scale (sigma for the Gaussians), threshold, comparison, k, comment, flags
    ("laplace", "1", "12", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "2", "24.5", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "10", "131", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "1", "1", ">", "1", "threshold 1: one half", "Boundary"),
    ("laplace", "1", "0", ">", "1", "threshold below the count", "Boundary"),
    ("laplace", "1", "0.5", ">", "1", "threshold below the count", "Boundary"),
    ("laplace", "2", "24.5", ">", "8", "eight counters", "ManyContributions"),
    ("laplace", "4", "100", ">", "1000", "a thousand counters", "ManyContributions"),
    ("laplace", "1", "2", ">", "1000", "almost certain to show", "ManyContributions DeltaNearOne"),
    ("laplace", "1", "40", ">", "1", "1e-18", "TinyDelta"),
    ("laplace", "1", "700", ">", "1", "1e-304", "TinyDelta"),
    ("laplace", "1", "740", ">", "1", "among the subnormal doubles", "TinyDelta"),
    ("laplace", "1", "800", ">", "1", "below every double", "TinyDelta"),
    (
        "laplace",
        "1",
        "60",
        ">",
        "1000000",
        "a million counters, 1e-20",
        "ManyContributions TinyDelta",
    ),
    ("laplace", "1000000000", "2e10", ">", "1", "scale 1e9", "HugeScale"),
    ("geometric", "1", "12", ">", "1", "textbook values", "Ordinary StrictThreshold"),
    ("geometric", "1", "12", ">=", "1", "textbook values", "Ordinary WeakThreshold"),
    ("geometric", "2", "24", ">", "1", "textbook values", "Ordinary StrictThreshold"),
    ("geometric", "2", "24", ">=", "1", "textbook values", "Ordinary WeakThreshold"),
    (
        "geometric",
        "2",
        "24.5",
        ">",
        "1",
        "threshold between integers",
        "BetweenGrid StrictThreshold",
    ),
    (
        "geometric",
        "2",
        "24.5",
        ">=",
        "1",
        "threshold between integers",
        "BetweenGrid WeakThreshold",
    ),
    ("geometric", "10", "100", ">", "1", "scale 10", "StrictThreshold"),
    ("geometric", "10", "100", ">=", "1", "scale 10", "WeakThreshold"),
    ("geometric", "1", "5", ">", "1", "0.0049", "IntegerGrid StrictThreshold"),
    ("geometric", "1", "5", ">=", "1", "0.0134, not 0.0049", "IntegerGrid WeakThreshold"),
    ("geometric", "1", "1", ">", "1", "threshold 1", "Boundary IntegerGrid StrictThreshold"),
    ("geometric", "1", "1", ">=", "1", "threshold 1", "Boundary IntegerGrid WeakThreshold"),
    ("geometric", "1", "0", ">", "1", "threshold 0", "Boundary StrictThreshold"),
    ("geometric", "1", "0", ">=", "1", "threshold 0", "Boundary WeakThreshold"),
    ("geometric", "0.0625", "2", ">", "1", "hardly any noise", "TinyScale StrictThreshold"),
    ("geometric", "0.0625", "2", ">=", "1", "hardly any noise", "TinyScale WeakThreshold"),
    ("geometric", "4", "80", ">", "16", "sixteen counters", "ManyContributions StrictThreshold"),
    ("geometric", "4", "80", ">=", "16", "sixteen counters", "ManyContributions WeakThreshold"),
    ("geometric", "1", "700", ">", "1", "1e-304", "TinyDelta StrictThreshold"),
    ("geometric", "1", "800", ">", "1", "below every double", "TinyDelta StrictThreshold"),
    ("geometric", "64", "2048", ">", "10000", "ten thousand counters", "ManyContributions"),
    ("gaussian", "1", "5", ">", "1", "four sigma above the count", "Ordinary"),
    ("gaussian", "4", "18", ">", "1", "four sigma", "Ordinary"),
    ("gaussian", "10", "61", ">", "1", "six sigma", "Ordinary"),
    ("gaussian", "4", "1", ">", "1", "threshold 1: one half", "Boundary"),
    ("gaussian", "4", "33", ">", "64", "64 counters, eight sigma", "ManyContributions SmallDelta"),
    ("gaussian", "4", "17", ">", "100", "a hundred counters", "ManyContributions"),
    ("gaussian", "4", "149", ">", "1", "37 sigma: 1e-299", "TinyDelta"),
    ("gaussian", "4", "161", ">", "1", "40 sigma: below every double", "TinyDelta"),
    ("gaussian", "1000000000", "5e9", ">", "1", "sigma 1e9", "HugeScale"),
    ("gaussian", "16", "97", ">", "1000000", "a million counters, six sigma", "ManyContributions"),
    ("discrete_gaussian", "1", "5", ">", "1", "four sigma", "Ordinary StrictThreshold"),
    ("discrete_gaussian", "1", "5", ">=", "1", "four sigma", "WeakThreshold IntegerGrid"),
    ("discrete_gaussian", "4", "18", ">", "1", "sigma 4", "Ordinary StrictThreshold"),
    ("discrete_gaussian", "4", "18", ">=", "1", "sigma 4", "WeakThreshold IntegerGrid"),
    (
        "discrete_gaussian",
        "10",
        "61.5",
        ">",
        "1",
        "between integers",
        "BetweenGrid StrictThreshold",
    ),
    (
        "discrete_gaussian",
        "10",
        "61",
        ">",
        "25",
        "25 counters",
        "ManyContributions StrictThreshold",
    ),
    ("discrete_gaussian", "0.5", "3", ">", "1", "little noise", "TinyScale StrictThreshold"),
    ("discrete_gaussian", "4", "161", ">", "1", "40 sigma", "TinyDelta StrictThreshold"),
]

TAUS = [
    # noise, scale, delta, comparison, k, comment, flags
    ("laplace", "1", "1e-5", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "2", "1e-6", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "10", "1e-8", ">", "1", "textbook values", "Ordinary"),
    ("laplace", "2", "1e-6", ">", "8", "eight counters", "ManyContributions"),
    ("laplace", "1", "1e-300", ">", "1", "delta 1e-300", "TinyDelta"),
    (
        "laplace",
        "1",
        "1e-18",
        ">",
        "16",
        "1 - (1 - delta)^(1/k) rounds to 0",
        "TinyDelta ManyContributions",
    ),
    ("laplace", "1", "0.5", ">", "1", "delta one half: threshold 1", "Boundary"),
    ("geometric", "1", "1e-5", ">", "1", "textbook values", "Ordinary StrictThreshold"),
    ("geometric", "1", "1e-5", ">=", "1", "textbook values", "Ordinary WeakThreshold"),
    ("geometric", "2", "1e-6", ">", "1", "textbook values", "StrictThreshold"),
    ("geometric", "2", "1e-6", ">=", "1", "textbook values", "WeakThreshold"),
    ("geometric", "10", "1e-8", ">", "4", "four counters", "ManyContributions StrictThreshold"),
    ("geometric", "10", "1e-8", ">=", "4", "four counters", "ManyContributions WeakThreshold"),
    ("geometric", "1", "1e-300", ">", "1", "delta 1e-300", "TinyDelta StrictThreshold"),
    ("geometric", "1000", "1e-6", ">", "1", "scale 1000", "StrictThreshold"),
    ("gaussian", "4", "1e-5", ">", "1", "textbook values", "Ordinary"),
    ("gaussian", "10", "1e-8", ">", "1", "textbook values", "Ordinary"),
    ("gaussian", "10", "1e-8", ">", "64", "64 counters", "ManyContributions"),
    ("gaussian", "4", "1e-300", ">", "1", "delta 1e-300", "TinyDelta"),
    (
        "gaussian",
        "4",
        "1e-18",
        ">",
        "16",
        "1 - (1 - delta)^(1/k) rounds to 0",
        "TinyDelta ManyContributions",
    ),
    ("discrete_gaussian", "4", "1e-5", ">", "1", "sigma 4", "StrictThreshold"),
    ("discrete_gaussian", "4", "1e-5", ">=", "1", "sigma 4", "WeakThreshold"),
    (
        "discrete_gaussian",
        "10",
        "1e-8",
        ">",
        "16",
        "16 counters",
        "ManyContributions StrictThreshold",
    ),
]


def _recipes() -> list[Recipe]:
    deltas = ("noise", "scale", "threshold", "comparison", "k")
    taus = ("noise", "scale", "delta", "comparison", "k")
    return [
        *recipes_for("delta", deltas, _delta, DELTAS),
        *recipes_for("tau", taus, _tau, TAUS, "Calibration"),
    ]


GROUP = Group(
    name="thresholds",
    description="Stability histograms: noise on every non-zero counter, released where the noisy "
    "counter passes the threshold (comparison '>' or '>='). One user changes at most k counters by "
    "1 each; delta is the probability that one of k counters that are 1 in one histogram and "
    "absent in its neighbour is released. noise: 'laplace' (density exp(-|x|/scale)/(2 scale)), "
    "'geometric' (P(z) proportional to exp(-|z|/scale) on the integers), 'gaussian' (standard "
    "deviation scale), 'discrete_gaussian' (P(z) proportional to exp(-z^2/(2 scale^2))). The "
    "threshold is compared with the noisy counter itself, not with its distance from 1.",
    questions={
        "delta": "1 - (1 - P(1 + noise passes the threshold))^k",
        "tau": "the least threshold for this delta; for noise on the integers the least integer",
    },
    source="Korolova et al. 2009; Balcer and Vadhan, Theorem 1.3; Wilkins et al. 2024",
    methods=(
        "closed forms and erfc at two precisions agreeing to 1e-45",
        "quadrature of the densities, or sums term by term, agreeing to 1e-36",
        "tau: bisection; both sides of the end checked",
    ),
    recipes=_recipes,
)
