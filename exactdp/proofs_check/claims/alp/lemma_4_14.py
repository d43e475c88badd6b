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


def _bounded(excess: int) -> str:
    alpha, collision = Fraction(2), Fraction(1, 5)
    p, q = flip(alpha), 1 / (gamma(alpha, collision) + 2)
    constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha
    for eps, scaled in product((Fraction(1, 10), Fraction(1), Fraction(5)), range(0, 90, 4)):
        beta, x = 10 / eps, Fraction(scaled) / eps
        m = columns(beta * eps, alpha)
        law = round_law(x * eps / alpha).then(lambda y: estimate_law(min(y, m), m, p, q))
        error = law.expectation(lambda e: abs(x - e * alpha / eps))
        bound = excess * max(Fraction(0), x - beta) + constant / eps
        require(error <= bound, f"eps={eps}, x={x}, beta={beta}: {float(error)}")
    return "eps = 1/10, 1, 5, beta = 10/eps, x up to 88/eps, alpha = 2, k/s = 1/5"


CLAIMS = (
    ALP.verified(
        "Lemma 4.14",
        "E|x_i - x~_i| <= max(0, x_i - beta) + C/epsilon with C = (1/2 + (4 alpha + 4)/alpha^2 + "
        "(4 gamma + 4)/gamma^2) alpha.",
        "enumeration",
        **varied(_bounded, 1, 0, "without the first term"),
        note="Evaluation reads m = ceil(beta epsilon/alpha) bits, see Lemma 4.3.",
    ),
)
