"""ALP, Lemma 4.13: bits stored after scaling."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import columns
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _bits(least: Fraction) -> str:
    """m (3k + w) <= 6 (k + w) beta eps for alpha = 1, s = 3k, beta eps >= least."""
    for eps, step, k, w in product((Fraction(1, 10), Fraction(2)), range(60), (1, 50), (1, 32)):
        product_ = least + Fraction(step, 7)
        beta = product_ / eps
        stored = columns(beta * eps, Fraction(1)) * (3 * k + w)
        require(stored <= 6 * (k + w) * beta * eps, f"beta eps={product_}, k={k}, w={w}: {stored}")
    return "480 instances with alpha = 1, s = 3k; ceil(r) <= 2 r for r >= 1"


CLAIMS = (
    ALP.verified(
        "Lemma 4.13",
        "With alpha = 1 and s = 3k the array and the hash functions (w bits each) take at most "
        "6 (k + w) beta epsilon bits, provided beta epsilon >= 1.",
        "enumeration",
        **varied(_bits, Fraction(1), Fraction(2, 5), "provided beta epsilon >= 2/5"),
        note="Unstated: beta epsilon = Omega(1). One column is the least.",
    ),
)
