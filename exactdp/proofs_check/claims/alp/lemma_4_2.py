"""ALP, Lemma 4.2: bits stored."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import columns
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


def _bits(least_ratio: Fraction) -> str:
    """m (s + w) <= 2 (s + w) beta/alpha for beta >= least_ratio * alpha; w bits per function."""
    for alpha, step, s, w in product((Fraction(1, 2), Fraction(3)), range(200), (5, 40), (1, 32)):
        beta = alpha * (least_ratio + Fraction(step, 10))
        stored, bound = columns(beta, alpha) * (s + w), 2 * (s + w) * beta / alpha
        require(stored <= bound, f"beta={beta}, alpha={alpha}: {stored} bits > {bound}")
    return "ceil(r) <= 2 r for r >= 1; 1600 instances"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 4.2",
        statement="O((s + log d) beta/alpha) bits store the array and the hash functions: m (s + "
        "w) <= 2 (s + w) beta/alpha with w bits per function.",
        outcome="verified",
        method="enumeration",
        condition="beta = Omega(alpha), here beta >= alpha: a smaller beta still costs one column",
        **varied(_bits, Fraction(1), Fraction(45, 100), "for beta >= 0.45 alpha"),
    ),
)
