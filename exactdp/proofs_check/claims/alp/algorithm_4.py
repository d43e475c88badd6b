"""ALP, Algorithm 4: scaling by epsilon before the projection."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import round_law
from exactdp.proofs_check.claims.alp._shipped import literal
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _enough(scaled: bool) -> str:
    """The rounded values of the scaled entries x eps, x <= beta, reach m and no further."""
    for eps, beta, alpha in product(
        (Fraction(1, 3), Fraction(4)), (2, 5), (Fraction(1), Fraction(3))
    ):
        m = literal(beta * eps if scaled else Fraction(beta), alpha).levels
        entries = [Fraction(beta * n, 24) for n in range(25)]
        largest = max(y for x in entries for y in round_law(x * eps / alpha).support)
        require(m == largest, f"eps={eps}, beta={beta}, alpha={alpha}: m={m}, needed {largest}")
    return "eight triples (eps, beta, alpha), 25 entries up to beta each, columns as shipped"


CLAIMS = (
    ALP.verified(
        "Algorithm 4",
        "On x eps with bound beta eps, Algorithm 2 uses m = ceil(beta eps/alpha) columns, as many "
        "as the largest rounded entry needs.",
        "enumeration",
        **varied(_enough, True, False, "Algorithm 2 is called with beta"),
        note="Step (2) prints the parameters 'alpha, beta, epsilon, s'; by the text above it the "
        "second is the product beta epsilon.",
    ),
)
