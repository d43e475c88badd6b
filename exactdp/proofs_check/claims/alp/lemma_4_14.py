"""ALP, Lemma 4.14: expected error after scaling."""

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


def _bounded(excess: Fraction) -> str:
    """The constant is below beta epsilon, so that estimates up to beta could violate the bound."""
    collision = Fraction(1, 100)
    inverses = (Fraction(10), Fraction(1), Fraction(1, 5))
    for alpha, inverse, quarters in product(
        (Fraction(20), Fraction(50), Fraction(1000)), inverses, (*range(0, 45, 2), 1001)
    ):
        p, q = flip(alpha), 1 / (gamma(alpha, collision) + 2)
        constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha
        eps, beta, x = 1 / inverse, 8 * alpha * inverse, quarters * alpha * inverse / 4
        m = columns(beta * eps, alpha)

        law = round_law(x * eps / alpha).then(lambda y: estimate_law(min(y, m), m, p, q))
        error = law.expectation(lambda e: abs(x - e * alpha / eps))
        bound = excess * max(Fraction(0), x - beta) + constant / eps
        require(error <= bound, f"eps={eps}, x={x}, beta={beta}: {float(error)}")
    return "alpha = 20, 50, 1000, k/s = 1/100, eps = 1/10, 1, 5, beta = 8 alpha/eps, also x > beta"


CLAIMS = (
    ALP.verified(
        "Lemma 4.14",
        "E|x_i - x~_i| <= max(0, x_i - beta) + C/epsilon with C = (1/2 + (4 alpha + 4)/alpha^2 + "
        "(4 gamma + 4)/gamma^2) alpha.",
        "enumeration",
        **varied(_bounded, Fraction(1), Fraction(99, 100), "with 0.99 times the first term"),
        note="Evaluation reads m = ceil(beta epsilon/alpha) bits, see Lemma 4.3.",
    ),
)
