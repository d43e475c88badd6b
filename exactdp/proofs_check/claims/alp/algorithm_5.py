"""ALP, Algorithm 5: the estimate is scaled back by 1/epsilon."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _inverse(power: int) -> str:
    """Without noise, entries on the grid alpha/eps are recovered."""
    for eps, alpha, y in product(
        (Fraction(1, 3), Fraction(4)), (Fraction(1), Fraction(3)), range(6)
    ):
        x = y * alpha / eps
        bits = [int(b < x * eps / alpha) for b in range(5)]
        back = estimate(bits) * alpha / eps**power
        require(back == x, f"eps={eps}, alpha={alpha}, x={x}: {back}")
    return "24 cases"


CLAIMS = (
    ALP.verified(
        "Algorithm 5",
        "Dividing by epsilon undoes the scaling of Algorithm 4: noiseless entries that are "
        "multiples of alpha/epsilon come back unchanged.",
        "enumeration",
        **varied(_inverse, 1, 2, "divide by epsilon twice"),
    ),
)
