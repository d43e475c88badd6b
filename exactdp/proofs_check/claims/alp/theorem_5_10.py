"""ALP, Theorem 5.10: the pure variant."""

from __future__ import annotations

from fractions import Fraction

from exactdp.balls import ball, precision
from exactdp.mechanisms.projections.thresholds import usual_threshold
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _columns(factor: Fraction) -> str:
    """Columns as shipped, t = 2 ln(d)/eps1 (to 2^-20), alpha = 1, eps1 = eps2."""
    for exponent in (1, 2, 3, 10, 64, 1000):
        t = usual_threshold(2**exponent, Fraction(1), Fraction(1, 2**20))
        m = literal(t, Fraction(1)).levels
        require(m <= factor * exponent, f"d=2^{exponent}: m={m}")
    return "d = 2, 4, 8, 2^10, 2^64, 2^1000"


def _maximum(log_terms: Fraction) -> str:
    """In units of 1/eps1: beta + alpha/eps2 + the maximum of d Laplace variables, d = 2^e."""
    for exponent in (1, 2, 3, 6, 10):
        harmonic = sum((Fraction(1, n) for n in range(1, 2**exponent + 1)), Fraction(0))
        with precision(64):
            log_d = exponent * ball(2).log()
            error = 2 * log_d + 1 + ball(harmonic)
            fine = bool(error <= ball(log_terms) * log_d)
        require(fine, f"d=2^{exponent}: maximum error {error.str(5)}/eps1")
    return "d = 2, 4, 8, 64, 1024 with alpha = 1, eps1 = eps2"


CLAIMS = (
    ALP.verified(
        "Theorem 5.10",
        "For d >= 2, alpha = 1 and epsilon1 = epsilon2 the access reads at most 2 log2 d columns.",
        "enumeration",
        **varied(_columns, Fraction(2), Fraction(199, 100), "1.99 log2 d columns"),
        note="Privacy: Lemma 5.3; space: Lemmas 5.2 and 5.4; per-entry error: Lemma 5.5. It holds "
        "for every epsilon. For large d the columns are about 1.39 log2 d.",
    ),
    ALP.verified(
        "Theorem 5.10, maximum error",
        "The expected maximum error, at most beta + alpha/epsilon2 + (1 + 1/2 + ... + 1/d)/"
        "epsilon1, is at most 5.7 ln(d)/epsilon1 (d >= 2, alpha = 1, epsilon1 = epsilon2, beta = "
        "t = 2 ln(d)/epsilon1).",
        "certified numerics",
        **varied(_maximum, Fraction(57, 10), Fraction(56, 10), "5.6 ln(d)/epsilon1"),
        note="The sum is that of Lemma 5.5, maximum error, and Proposition 2.5, maximum error.",
    ),
)
