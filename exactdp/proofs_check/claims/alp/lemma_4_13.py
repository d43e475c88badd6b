"""ALP, Lemma 4.13: bits stored after scaling."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import columns
from exactdp.proofs_check.entries import varied

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
    Conditional(
        paper="ALP",
        item="Lemma 4.13",
        statement="The output takes O((k + log d) beta epsilon) bits: at most 6 (k + w) beta "
        "epsilon for alpha = 1, s = 3k and w bits per hash function.",
        outcome="verified",
        method="enumeration",
        condition="beta epsilon = Omega(1), here beta epsilon >= 1: one column is the least",
        **varied(_bits, Fraction(1), Fraction(2, 5), "for beta epsilon >= 2/5"),
    ),
)
