"""ALP, Lemma 4.13: bits stored after scaling."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._shipped import literal, words
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


def _bits(least: Fraction) -> str:
    """Sizes as shipped for alpha = 1, s = 3k, bound beta eps >= least in Algorithm 2."""
    for eps, step, k, log_d in product(
        (Fraction(1, 10), Fraction(2)), range(20), (1, 10**4), (30, 129)
    ):
        beta = (least + Fraction(step**2, 100)) / eps
        made = literal(beta * eps, Fraction(1), k, 3 * k, 2**log_d)
        stored = made.layout.size + words(made.levels, 2**log_d)
        bound = (6 * k + 24 * log_d) * beta * eps
        require(stored <= bound, f"beta eps={beta * eps}, k={k}, d=2^{log_d}: {stored} bits")
    return "160 sizes of shipped sketches, d = 2^30, 2^129, beta epsilon to 4.6"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 4.13",
        statement="The output takes O((k + log d) beta epsilon) bits: for alpha = 1 and s = 3k as "
        "shipped at most (6 k + 24 log2 d) beta epsilon, for d = 2^30 and 2^129.",
        outcome="verified",
        method="enumeration",
        condition="beta epsilon = Omega(1), here beta epsilon >= 1: one column is the least",
        **varied(_bits, Fraction(1), Fraction(49, 100), "for beta epsilon >= 0.49"),
    ),
)
