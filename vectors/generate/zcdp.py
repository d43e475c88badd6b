"""Vectors for the conversion from zero-concentrated to approximate differential privacy."""

from __future__ import annotations

from functools import partial

from mpmath import mp, mpf

from vectors.generate.analytic_gaussian import gaussian_epsilon
from vectors.generate.common import Bounds, Group, Recipe, bracket, number, root, settled
from vectors.generate.normal import hockey


def _log_bound(b: mpf, rho: mpf, epsilon: mpf) -> mpf:
    """log of the bound at order alpha = 1 + b."""
    return b * ((b + 1) * rho - epsilon) + b * mp.log(b) - (1 + b) * mp.log1p(b)


def _slope_root(rho: mpf, epsilon: mpf) -> mpf:
    """The b at which the log of the bound has slope 0: bisection of log b, then Newton steps."""
    low, high = mpf(-400), mpf(400)

    def slope(w: mpf) -> mpf:
        return (2 * mp.exp(w) + 1) * rho - epsilon - mp.log1p(mp.exp(-w))

    for _ in range(30):
        w = (low + high) / 2
        low, high = (w, high) if slope(w) < 0 else (low, w)
    w = low
    for _ in range(40):
        step = slope(w) / (2 * mp.exp(w) * rho + 1 / (1 + mp.exp(w)))
        w -= step
        if abs(step) < mp.mpf(2) ** (10 - mp.prec) * (1 + abs(w)):
            return mp.exp(w)
    raise ArithmeticError("Newton's method does not settle")


def _infimum(rho: mpf, epsilon: mpf) -> mpf:
    return mp.exp(_log_bound(_slope_root(rho, epsilon), rho, epsilon))


def _golden(rho: mpf, epsilon: mpf) -> mpf:
    """The same infimum from values of the bound alone, by golden section in log b."""
    share = (mp.sqrt(5) - 1) / 2
    low, high = mpf(-400), mpf(400)

    def value(w: mpf) -> mpf:
        return _log_bound(mp.exp(w), rho, epsilon)

    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(260):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = value(right)
    return mp.exp(min(at_left, at_right))


def _delta(rho: str, epsilon: str) -> Bounds:
    value = settled(lambda: _infimum(number(rho), number(epsilon)))
    with mp.workdps(140):
        other = _golden(number(rho), number(epsilon))
    return bracket(value, (other, "1e-36"), most=1)


def _epsilon(rho: str, delta: str) -> Bounds:
    def enough(epsilon: mpf) -> bool:
        return bool(_infimum(number(rho), epsilon) <= number(delta))

    with mp.workprec(300):
        if enough(mpf(0)):
            return "0", "0"
    return root(enough, number(rho) + 1, 300)


def _gaussian_delta(rho: str, epsilon: str) -> str:
    """The delta of Gaussian noise with this rho: every valid conversion is at least that."""
    return bracket(settled(lambda: hockey(number(epsilon), mp.sqrt(2 * number(rho)))))[0]


def _gaussian_epsilon(rho: str, delta: str) -> str:
    with mp.workdps(60):
        sigma = mp.nstr(1 / mp.sqrt(2 * number(rho)), 45)  # rounding changes epsilon by 1e-45
    lower = gaussian_epsilon(delta=delta, sigma=sigma, sensitivity="1")[0]
    with mp.workdps(60):
        return bracket(number(lower) * (1 - mpf(10) ** -34))[0] if lower != "0" else "0"


DELTAS = [
    # rho, epsilon, comment, flags
    ("0.5", "3", "textbook values", "Ordinary"),
    ("0.5", "1", "textbook values", "Ordinary"),
    ("0.125", "1", "textbook values", "Ordinary"),
    ("0.015625", "0.5", "textbook values", "Ordinary"),
    ("0.0078125", "1", "textbook values", "Ordinary"),
    ("2", "8", "textbook values", "Ordinary"),
    ("1", "16", "textbook values", "Ordinary"),
    ("0.1", "2", "a rho that is not a double", "Ordinary"),
    ("0.5", "0.5", "epsilon = rho", "Boundary"),
    ("0.5", "0.25", "epsilon below rho", "Boundary"),
    ("0.5", "0", "epsilon 0", "EpsilonZero Boundary"),
    ("0.0001220703125", "0", "epsilon 0, small rho", "EpsilonZero Boundary"),
    ("8", "1", "delta near 1", "DeltaNearOne"),
    ("64", "1", "delta near 1", "DeltaNearOne"),
    ("0.0009765625", "1", "1e-112", "TinyDelta"),
    ("0.00048828125", "1.125", "about 1e-281", "TinyDelta"),
    ("0.000244140625", "1", "below every double", "TinyDelta"),
    ("0.0009765625", "8", "far below every double", "TinyDelta"),
    ("5e-19", "1e-9", "sigma 1e9", "HugeNoise SmallEpsilon"),
    ("5e-19", "1e-8", "sigma 1e9", "HugeNoise SmallEpsilon"),
    ("9.5367431640625e-07", "0.0078125", "tiny rho", "SmallEpsilon"),
    ("512", "800", "epsilon beyond 709", "LargeEpsilon"),
    ("700", "1000", "epsilon beyond 709", "LargeEpsilon"),
    ("100000", "110000", "epsilon 110000", "LargeEpsilon"),
]

EPSILONS = [
    # rho, delta, comment, flags
    ("0.5", "1e-5", "textbook values", "Ordinary"),
    ("0.125", "1e-6", "textbook values", "Ordinary"),
    ("0.0078125", "1e-6", "textbook values", "Ordinary"),
    ("2", "1e-8", "textbook values", "Ordinary"),
    ("1", "0.0009765625", "delta 2^-10", "Ordinary"),
    ("0.1", "1e-10", "US census style", "Ordinary"),
    ("2.56", "1e-10", "US census style", "Ordinary"),
    ("0.5", "0.5", "delta one half", "Boundary"),
    ("0.0001220703125", "0.25", "epsilon is 0", "Boundary EpsilonZero"),
    ("0.5", "1e-15", "delta 1e-15", "SmallDelta"),
    ("0.5", "1e-30", "delta 1e-30", "TinyDelta"),
    ("0.5", "1e-300", "delta 1e-300", "TinyDelta"),
    ("0.5", "1e-400", "a target below every double", "TinyDelta"),
    ("5e-19", "1e-12", "sigma 1e9", "HugeNoise"),
    ("9.5367431640625e-07", "1e-6", "tiny rho", "SmallEpsilon"),
    ("600", "1e-6", "epsilon beyond 709", "LargeEpsilon"),
    ("100000", "1e-6", "epsilon beyond 100000", "LargeEpsilon"),
]


def _recipes() -> list[Recipe]:
    recipes = []
    for rho, epsilon, comment, flags in DELTAS:
        parameters = {"rho": rho, "epsilon": epsilon}
        recipes.append(
            Recipe(
                "delta",
                parameters,
                comment,
                tuple(flags.split()),
                partial(_delta, **parameters),
                partial(_gaussian_delta, **parameters),
            )
        )
    for rho, delta, comment, flags in EPSILONS:
        parameters = {"rho": rho, "delta": delta}
        recipes.append(
            Recipe(
                "epsilon",
                parameters,
                comment,
                ("Calibration", *flags.split()),
                partial(_epsilon, **parameters),
                partial(_gaussian_epsilon, **parameters),
            )
        )
    return recipes


GROUP = Group(
    name="zcdp",
    description="rho-zCDP as approximate differential privacy: the infimum over alpha > 1 of "
    "exp((alpha - 1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1). This is the best "
    "known conversion that uses one Renyi order at a time. An answer below it is not unsafe by "
    "that alone: unsafe_below is the exact value for Gaussian noise with sigma^2 = 1/(2 rho), "
    "which is rho-zCDP, so nothing smaller can hold for all such mechanisms.",
    questions={
        "delta": "the conversion's delta at epsilon",
        "epsilon": "the least epsilon >= 0 at which the conversion's delta is at most delta",
    },
    source="Canonne, Kamath, Steinke 2020, Proposition 12; Bun and Steinke 2016",
    methods=(
        "the order at which the derivative vanishes, by Newton's method, at two precisions "
        "agreeing to 1e-45",
        "for delta: golden section on values of the bound alone, agreeing to 1e-36",
        "for epsilon: bisection; both sides of the ends checked",
        "unsafe_below: as in analytic_gaussian",
    ),
    recipes=_recipes,
)
