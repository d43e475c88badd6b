"""Maxima over the number of shared counters: found in doubles, settled at high precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Recipe, bracket, number, root, settled
from vectors.generate.normal import hockey, hockey_integral

#: Up to so many shared counters every term is evaluated at high precision.
ALL = 400

#: The methods behind the answers of a group of thresholded counters, in words.
METHODS = (
    "the formula with mpmath's erfc at two precisions agreeing to 1e-45; up to k = 400 every "
    "j, above that the 24 largest terms of a scan of every j in doubles",
    "the largest term again with the Gaussian divergence by tanh-sinh quadrature, to 1e-32",
    "tau: bisection over all j, ends checked to lie on different sides of the target",
)

#: How a Gaussian divergence is evaluated: (epsilon, mu) -> value.
Hockey = Callable[[mpf, mpf], mpf]

#: A term of a maximum: evaluated with one of the ways to find Gaussian divergences.
Term = Callable[[Hockey], mpf]


def rough_hockey(epsilon: float, mu: float) -> float:
    """The divergence in doubles, only to see which terms may be the largest."""
    u = epsilon / mu - mu / 2
    try:
        return _tail(u) - math.exp(epsilon) * _tail(u + mu)
    except OverflowError:
        return _tail(u)


def largest(terms: Sequence[Term]) -> Bounds:
    """The maximum of the terms: by erfc at two precisions; the largest also by quadrature.

    The terms are bounds on a probability: where they exceed 1, the answer is 1.
    """
    value = settled(lambda: max(term(hockey) for term in terms))
    with mp.workdps(60):
        best = max(terms, key=lambda term: term(hockey) if len(terms) > 1 else 0)
        other = best(hockey_integral)
    bracket(value, (other, "1e-32"))
    return ("1", "1") if value >= 1 else bracket(value, most=1)


def least_tau(delta: str, terms: Callable[[mpf], Sequence[Term]], sigma: str) -> Bounds:
    """The least tau at which no term exceeds delta."""

    def enough(tau: mpf) -> bool:
        return all(term(hockey) <= number(delta) for term in terms(tau))

    return root(enough, number(sigma))


def recipes(
    deltas: Sequence[tuple[str, ...]],
    taus: Sequence[tuple[str, ...]],
    delta: Callable[..., Bounds],
    tau: Callable[..., Bounds],
    bound: str = "k",
) -> list[Recipe]:
    """Vectors from rows (bound, sigma, tau, epsilon, analysis, comment, flags).

    taus: rows with delta instead of tau. bound: the name of the bound on counters.
    """
    recipe_list = []
    for *values, comment, flags in deltas:
        parameters = dict(zip((bound, "sigma", "tau", "epsilon", "analysis"), values, strict=True))
        recipe_list.append(
            Recipe("delta", parameters, comment, tuple(flags.split()), partial(delta, **parameters))
        )
    for *values, comment, flags in taus:
        parameters = dict(
            zip((bound, "sigma", "delta", "epsilon", "analysis"), values, strict=True)
        )
        marks = ("Calibration", *flags.split())
        recipe_list.append(Recipe("tau", parameters, comment, marks, partial(tau, **parameters)))
    return recipe_list


def _tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2
