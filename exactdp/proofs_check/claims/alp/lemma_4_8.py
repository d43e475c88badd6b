"""ALP, Lemma 4.8: the expected error of an entry of any size."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import (
    columns,
    estimate_law,
    flip,
    gamma,
    round_law,
    spread,
)
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def entry_error(x: Fraction, alpha: Fraction, beta: Fraction, collision: Fraction) -> Fraction:
    """E|x - x~| of Algorithm 3; rounded values above m are stored as m."""
    m, p, q = columns(beta, alpha), flip(alpha), 1 / (gamma(alpha, collision) + 2)
    law = round_law(x / alpha).then(lambda y: estimate_law(min(y, m), m, p, q))
    return law.expectation(lambda e: abs(x - alpha * e))


def _bounded(excess: Fraction) -> str:
    """The constant is below beta, so that estimates up to beta could violate the bound."""
    cases = product(map(Fraction, (20, 50, 1000)), (Fraction(0), Fraction(1, 100)))
    for alpha, collision in cases:
        g = gamma(alpha, collision)
        constant = (Fraction(1, 2) + spread(alpha) + spread(g)) * alpha
        beta = 8 * alpha
        for x in (alpha * Fraction(n, 4) for n in (*range(0, 45, 2), 1001)):
            error = entry_error(x, alpha, beta, collision)
            bound = max(Fraction(0), x - beta) * excess + constant
            require(error <= bound, f"alpha={alpha}, beta={beta}, x={x}: {float(error)}")
    return "alpha = 20, 50, 1000, k/s = 0, 1/100, beta = 8 alpha, x up to 11 alpha and far beyond"


def _small(share: Fraction) -> str:
    for alpha, collision in product((Fraction(1), Fraction(1000)), (Fraction(0), Fraction(1, 5))):
        constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha
        for x in (alpha * Fraction(n, 2) for n in range(11)):
            error = entry_error(x, alpha, 5 * alpha, collision)
            require(error <= share * constant, f"alpha={alpha}, x={x}: {float(error / constant)}")
    return "alpha = 1, 1000, k/s = 0, 1/5, beta = 5 alpha, x = 0, 1/2, ..., 5 alpha"


CLAIMS = (
    ALP.verified(
        "Lemma 4.8",
        "E|x_i - x~_i| <= max(0, x_i - beta) + (1/2 + (4 alpha + 4)/alpha^2 + (4 gamma + 4)/"
        "gamma^2) alpha.",
        "enumeration",
        **varied(_bounded, Fraction(1), Fraction(99, 100), "with 0.99 times the first term"),
    ),
    ALP.verified(
        "Lemma 4.8, proof, entries at most beta",
        "For x_i <= beta the constant (1/2 + (4 alpha + 4)/alpha^2 + (4 gamma + 4)/gamma^2) alpha "
        "suffices.",
        "enumeration",
        **varied(_small, Fraction(1), Fraction(97, 100), "0.97 times the constant"),
    ),
)
