"""ALP, Algorithm 5: the estimate is scaled back by 1/epsilon."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal, read_off
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _inverse(power: int) -> str:
    """Without noise: scaled, rounded and read off as shipped, then divided by eps^power."""
    beta = Fraction(5)
    for eps, alpha, n in product(
        (Fraction(1, 3), Fraction(4)), (Fraction(1), Fraction(3)), range(21)
    ):
        x, made = beta * n / 20, literal(beta * eps, alpha)
        mean = Fraction(0)
        for y, weight in made.cells.places(x * eps).items():
            mean += weight * read_off([int(b < y) for b in range(made.levels)])
        back = mean * alpha / eps**power
        require(back == x, f"eps={eps}, alpha={alpha}, x={x}: {back} in the mean")
    return "eps = 1/3, 4, alpha = 1, 3, 21 entries up to beta = 5"


CLAIMS = (
    ALP.verified(
        "Algorithm 5",
        "Dividing by epsilon undoes the scaling of Algorithm 4: without noise, the mean estimate "
        "of an entry up to beta over the random rounding is the entry.",
        "enumeration",
        **varied(_inverse, 1, 2, "divide by epsilon twice"),
    ),
)
