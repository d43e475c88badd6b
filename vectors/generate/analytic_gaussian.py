"""Vectors for the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""

from __future__ import annotations

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
from vectors.generate.normal import hockey, hockey_integral


def gaussian_delta(epsilon: str, sigma: str, sensitivity: str, copies: str = "1") -> Bounds:
    """delta by erfc at two precisions, and by quadrature."""

    def mu() -> mpf:
        return mp.sqrt(number(copies)) * number(sensitivity) / number(sigma)

    value = settled(lambda: hockey(number(epsilon), mu()))
    with mp.workdps(60):
        other = hockey_integral(number(epsilon), mu())
    return bracket(value, (other, "1e-32"), most=1)


def gaussian_epsilon(delta: str, sigma: str, sensitivity: str, copies: str = "1") -> Bounds:
    """The least epsilon >= 0, by bisection between certified answers."""

    def enough(epsilon: mpf) -> bool:
        mu = mp.sqrt(number(copies)) * number(sensitivity) / number(sigma)
        return bool(hockey(epsilon, mu) <= number(delta))

    with mp.workprec(600):
        if enough(mpf(0)):
            return "0", "0"
    return root(enough, mpf(1), 700)


def _sigma(epsilon: str, delta: str, sensitivity: str) -> Bounds:
    def enough(sigma: mpf) -> bool:
        return bool(hockey(number(epsilon), number(sensitivity) / sigma) <= number(delta))

    return root(enough, mpf(1), 1200)


DELTAS = [
    # epsilon, sigma, sensitivity, comment, flags
    ("1", "1", "1", "textbook values", "Ordinary"),
    ("0.5", "2", "1", "textbook values", "Ordinary"),
    ("1", "4", "1", "textbook values", "Ordinary"),
    ("0.125", "8", "1", "textbook values", "Ordinary"),
    ("2", "1.5", "1", "textbook values", "Ordinary"),
    ("4", "1.25", "1", "textbook values", "Ordinary"),
    ("8", "0.75", "1", "textbook values", "Ordinary"),
    ("0.35", "17.66", "1", "parameters that are not doubles", "Ordinary"),
    ("0.1", "38.2", "1", "parameters that are not doubles", "Ordinary"),
    ("1", "3.730631635", "1", "about delta = 1e-5", "Ordinary"),
    ("0.25", "1024", "1", "noise far above what epsilon needs", "Ordinary TinyDelta"),
    ("0", "1", "1", "total variation of unit shift", "EpsilonZero Boundary"),
    ("0", "1024", "1", "total variation, much noise", "EpsilonZero Boundary"),
    ("0", "1000000000", "1", "total variation, sigma 1e9", "EpsilonZero HugeNoise"),
    ("0", "0.03125", "1", "total variation almost 1", "EpsilonZero DeltaNearOne TinyNoise"),
    ("0", "1e300", "1", "total variation about 4e-301", "EpsilonZero HugeNoise TinyDelta"),
    ("1", "0.0625", "1", "delta is 1 up to 1e-15", "DeltaNearOne TinyNoise"),
    ("1", "0.125", "1", "delta is 1 up to 1e-4", "DeltaNearOne"),
    ("100", "0.03125", "1", "delta is 1 although epsilon is 100", "DeltaNearOne TinyNoise"),
    ("1", "0.015625", "1", "delta is 1 beyond every double", "DeltaNearOne TinyNoise"),
    ("1", "9", "1", "delta about 1e-20", "TinyDelta"),
    ("1", "16", "1", "delta about 1e-59", "TinyDelta"),
    ("1", "32", "1", "delta about 1e-227", "TinyDelta"),
    ("1", "36.75", "1", "delta about 1e-298", "TinyDelta"),
    ("1", "37.5", "1", "delta near the least double", "TinyDelta"),
    ("1", "38", "1", "delta between normal and subnormal doubles", "TinyDelta"),
    ("1", "38.25", "1", "delta at the edge of the doubles", "TinyDelta"),
    ("1", "40", "1", "delta below every double", "TinyDelta"),
    ("1", "64", "1", "delta about 1e-894", "TinyDelta"),
    ("1", "128", "1", "delta about 1e-3562", "TinyDelta"),
    ("0.5", "80", "1", "delta below every double, epsilon 1/2", "TinyDelta"),
    ("16", "2.5", "1", "large epsilon, delta below every double", "TinyDelta"),
    ("0.0009765625", "1024", "1", "small epsilon, much noise", "SmallEpsilon HugeNoise"),
    ("9.5367431640625e-07", "1048576", "1", "epsilon 2^-20", "SmallEpsilon HugeNoise"),
    ("9.313225746154785e-10", "1000000000", "1", "epsilon 2^-30", "SmallEpsilon HugeNoise"),
    ("1e-12", "1e12", "1", "epsilon 1e-12", "SmallEpsilon HugeNoise"),
    ("1e-300", "1e9", "1", "epsilon below what 1 + x can show", "SmallEpsilon HugeNoise"),
    ("0.000000001", "1000000000", "1", "sigma 1e9", "HugeNoise"),
    ("0.00000001", "1000000000", "1", "sigma 1e9, delta about 1e-34", "HugeNoise TinyDelta"),
    ("0.000000125", "1e9", "1", "sigma 1e9, delta below every double", "HugeNoise TinyDelta"),
    ("709", "0.0265625", "1", "epsilon just below the overflow", "TinyNoise"),
    ("710", "0.0265625", "1", "e^epsilon overflows", "LargeEpsilon TinyNoise"),
    ("750", "0.02578125", "1", "e^epsilon overflows", "LargeEpsilon TinyNoise"),
    ("800", "0.025", "1", "e^epsilon overflows, delta about one half", "LargeEpsilon TinyNoise"),
    ("1024", "0.03125", "1", "e^epsilon overflows, delta small", "LargeEpsilon TinyNoise"),
    ("5000", "0.0078125", "1", "e^epsilon overflows, delta near 1", "LargeEpsilon DeltaNearOne"),
    ("5000", "0.01", "1", "e^epsilon overflows, delta one half", "LargeEpsilon TinyNoise"),
    ("1000000", "0.0007", "1", "epsilon a million", "LargeEpsilon TinyNoise"),
    ("10000", "0.0078125", "1", "e^epsilon far beyond every double", "LargeEpsilon TinyNoise"),
    ("1", "4", "2", "the same ratio as sigma 2", "Sensitivity"),
    ("1", "2", "0.5", "the same ratio as sigma 4", "Sensitivity"),
    ("0.5", "48", "16", "the same ratio as sigma 3", "Sensitivity"),
    ("1", "4000000000", "1000000000", "both of size 1e9", "Sensitivity"),
    ("1", "1e-300", "2.5e-301", "both near the least double", "Sensitivity"),
    ("0.75", "10", "3", "a ratio that is not a double", "Sensitivity"),
    ("3", "1", "1.4142135623730951", "two unit queries as one", "Sensitivity"),
]

SIGMAS = [
    ("1", "1e-5", "1", "textbook values", "Ordinary"),
    ("0.5", "1e-6", "1", "textbook values", "Ordinary"),
    ("0.35", "1e-5", "1", "textbook values", "Ordinary"),
    ("2", "1e-8", "1", "textbook values", "Ordinary"),
    ("8", "1e-5", "1", "textbook values", "Ordinary"),
    ("1", "0.0009765625", "1", "delta 2^-10", "Ordinary"),
    ("0.125", "9.5367431640625e-07", "1", "delta 2^-20", "Ordinary"),
    ("1", "0.5", "1", "delta one half", "Boundary"),
    ("1", "0.9990234375", "1", "delta near 1", "DeltaNearOne"),
    ("0.0009765625", "1e-9", "1", "epsilon 2^-10", "SmallEpsilon"),
    ("9.5367431640625e-07", "1e-10", "1", "epsilon 2^-20", "SmallEpsilon HugeNoise"),
    ("9.313225746154785e-10", "1e-12", "1", "epsilon 2^-30", "SmallEpsilon HugeNoise"),
    ("1", "1e-12", "1", "delta at the tolerance of many searches", "SmallDelta"),
    ("1", "1e-15", "1", "delta below the tolerance of many searches", "SmallDelta"),
    ("1", "1e-20", "1", "delta 1e-20", "TinyDelta"),
    ("1", "1e-100", "1", "delta 1e-100", "TinyDelta"),
    ("1", "1e-300", "1", "delta 1e-300", "TinyDelta"),
    ("0.5", "1e-40", "1", "delta 1e-40", "TinyDelta"),
    ("1", "1e-400", "1", "a target below every double", "TinyDelta"),
    ("16", "1e-16", "1", "large epsilon, tiny delta", "SmallDelta"),
    ("64", "1e-6", "1", "large epsilon", "TinyNoise"),
    ("800", "1e-6", "1", "e^epsilon overflows", "LargeEpsilon"),
    ("5000", "1e-9", "1", "e^epsilon overflows", "LargeEpsilon"),
    ("0", "0.0009765625", "1", "epsilon 0", "EpsilonZero Boundary"),
    ("1", "1e-5", "4", "sensitivity 4", "Sensitivity"),
    ("1", "1e-5", "0.25", "sensitivity 1/4", "Sensitivity"),
    ("1", "1e-5", "1000000000", "sensitivity 1e9", "Sensitivity"),
]

EPSILONS = [
    ("1e-5", "1", "1", "textbook values", "Ordinary"),
    ("1e-5", "4", "1", "textbook values", "Ordinary"),
    ("1e-6", "2", "1", "textbook values", "Ordinary"),
    ("0.0009765625", "0.5", "1", "little noise", "Ordinary"),
    ("1e-8", "32", "1", "much noise", "Ordinary"),
    ("0.5", "1", "1", "the noise alone keeps delta: epsilon is 0", "Boundary EpsilonZero"),
    ("0.25", "2", "1", "the noise alone keeps delta: epsilon is 0", "Boundary EpsilonZero"),
    ("0.25", "1.5", "1", "epsilon close to 0", "Boundary"),
    ("1e-12", "4", "1", "delta 1e-12", "SmallDelta"),
    ("1e-15", "4", "1", "delta 1e-15", "SmallDelta"),
    ("1e-20", "4", "1", "delta 1e-20", "TinyDelta"),
    ("1e-100", "4", "1", "delta 1e-100", "TinyDelta"),
    ("1e-300", "4", "1", "delta 1e-300", "TinyDelta"),
    ("1e-400", "4", "1", "a target below every double", "TinyDelta"),
    ("1e-12", "1000000000", "1", "sigma 1e9", "HugeNoise"),
    ("1e-15", "1000000000", "1", "sigma 1e9", "HugeNoise SmallDelta"),
    ("1e-5", "0.03125", "1", "epsilon about 645", "TinyNoise"),
    ("1e-5", "0.015625", "1", "epsilon beyond 709", "LargeEpsilon TinyNoise"),
    ("1e-5", "0.001", "1", "epsilon beyond 500000", "LargeEpsilon TinyNoise"),
    ("0.9990234375", "0.125", "1", "delta near 1", "DeltaNearOne"),
    ("1e-5", "4", "2", "sensitivity 2", "Sensitivity"),
    ("1e-5", "1", "0.25", "sensitivity 1/4", "Sensitivity"),
]


def _recipes() -> list[Recipe]:
    sigmas, epsilons = ("epsilon", "delta", "sensitivity"), ("delta", "sigma", "sensitivity")
    return [
        *recipes_for("delta", ("epsilon", "sigma", "sensitivity"), gaussian_delta, DELTAS),
        *recipes_for("sigma", sigmas, _sigma, SIGMAS, "Calibration"),
        *recipes_for("epsilon", epsilons, gaussian_epsilon, EPSILONS, "Calibration"),
    ]


GROUP = Group(
    name="analytic_gaussian",
    description="One query with Gaussian noise N(0, sigma^2) and l2 sensitivity `sensitivity`: "
    "delta = Phi(s/(2 sigma) - epsilon sigma/s) - e^epsilon Phi(-s/(2 sigma) - epsilon sigma/s) "
    "is the least delta for which it is (epsilon, delta)-differentially private.",
    questions={
        "delta": "the least delta at epsilon",
        "sigma": "the least sigma for (epsilon, delta)",
        "epsilon": "the least epsilon >= 0 at delta",
    },
    source="Balle and Wang 2018, Theorem 8",
    methods=(
        "the formula with mpmath's erfc at two precisions, the second twice the first, agreeing to "
        "1e-45",
        "for delta: tanh-sinh quadrature of the positive part of p - e^epsilon q, agreeing to "
        "1e-32",
        "for sigma and epsilon: bisection; the two ends printed were checked to lie on different "
        "sides of the target at 1400 bits or more",
    ),
    recipes=_recipes,
)
