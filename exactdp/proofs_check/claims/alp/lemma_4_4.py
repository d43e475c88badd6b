"""ALP, Lemma 4.4: rounding adds at most alpha/2 to the error."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate_law, flip, gamma, round_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _errors(x: Fraction, alpha: Fraction, m: int, collision: Fraction) -> tuple[Fraction, Fraction]:
    """E|x - estimate| and E|y - y~|."""
    p, q = flip(alpha), 1 / (gamma(alpha, collision) + 2)
    whole = inner = Fraction(0)
    for y, weight in round_law(x / alpha).items():
        law = estimate_law(y, m, p, q)
        whole += weight * law.expectation(lambda e: abs(x - alpha * e))
        inner += weight * law.expectation(lambda e: abs(y - e))
    return whole, inner


def _bound(half: Fraction) -> str:
    m = 6
    for alpha, part, collision in product(
        (Fraction(1), Fraction(3), Fraction(1000)),
        range(0, 4 * m, 3),
        (Fraction(0), Fraction(1, 5)),
    ):
        x = alpha * Fraction(part, 4)
        whole, inner = _errors(x, alpha, m, collision)
        require(whole <= (half + inner) * alpha, f"alpha={alpha}, x={x}: {whole}")
    return "alpha = 1, 3, 1000, k/s = 0, 1/5, eight values of x, m = 6, exact laws"


CLAIMS = (
    ALP.verified(
        "Lemma 4.4",
        "The expected error of an entry at most beta is at most (1/2 + E|y_i - y~_i|) alpha.",
        "enumeration",
        **varied(_bound, Fraction(1, 2), Fraction(49, 100), "1/2 is replaced by 0.49"),
    ),
)
