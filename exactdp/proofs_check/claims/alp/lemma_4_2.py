"""ALP, Lemma 4.2: bits stored."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._shipped import literal, words
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


def _bits(least: Fraction) -> str:
    """Array and hash functions as shipped, for beta from least * alpha on."""
    for log_d in range(31, 4097):  # d from 2^(log_d - 1) + 1 to 2^log_d
        one = words(1, 2**log_d)
        require(one <= 12 * (log_d - 1), f"d up to 2^{log_d}: {one} bits per function")
    for alpha, step, (k, s), log_d in product(
        (Fraction(1, 2), Fraction(3)), range(20), ((1, 3), (10**4, 40000)), (30, 64, 129, 4096)
    ):
        beta = alpha * (least + Fraction(step**2, 100))
        made = literal(beta, alpha, k, s, 2**log_d)
        stored = made.layout.size + words(made.levels, 2**log_d)
        bound = 2 * (s + 12 * log_d) * beta / alpha
        require(stored <= bound, f"beta={beta}, alpha={alpha}, s={s}, d=2^{log_d}: {stored} bits")
    return "320 sizes of shipped sketches, d = 2^30 to 2^4096, beta from alpha to 4.6 alpha"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 4.2",
        statement="O((s + log d) beta/alpha) bits store the array and the hash functions: as "
        "shipped at most 2 (s + 12 log2 d) beta/alpha, for d from 2^30 on.",
        outcome="verified",
        method="enumeration",
        condition="beta = Omega(alpha), here beta >= alpha: a smaller beta still costs one column",
        **varied(_bits, Fraction(1), Fraction(49, 100), "for beta >= 0.49 alpha"),
    ),
)
