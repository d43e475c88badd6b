"""ALP, Algorithm 8: the estimate from both parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import columns, estimate
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _noiseless(prefer_stored: bool) -> str:
    """Without noise, multiples of alpha/eps come back, below and above the threshold."""
    for alpha, eps, y in product((1, 3), (Fraction(1, 2), Fraction(2)), range(12)):
        unit = alpha / eps
        x, t = y * unit, 5 * unit
        value = x if x >= t else Fraction(0)
        bits = [int(b < y) for b in range(columns(t * eps, Fraction(alpha)))]
        small = estimate(bits) * unit
        answer = value if value and prefer_stored else small
        require(answer == x, f"alpha={alpha}, eps={eps}, x={x}, t={t}: {answer}")
    return "48 cases on both sides of the threshold"


CLAIMS = (
    ALP.verified(
        "Algorithm 8",
        "The stored value when there is one, else the estimate from the embedding: noiseless "
        "entries come back.",
        "enumeration",
        **varied(_noiseless, True, False, "always the embedding"),
    ),
)
