"""ALP, Theorem 5.10: the pure variant."""

from __future__ import annotations

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]


def _summary(columns_per_log: arb, log_terms: int) -> str:
    """alpha = 1, eps1 = eps2: m <= c log2 d and the largest error, for d = 2^e."""
    for exponent in (1, 2, 3, 10, 64, 1000):
        with precision(64):
            log_d = exponent * ball(2).log()
            # in units of 1/eps1: beta + alpha/eps2 + maximum of the noise, against log d
            error = 2 * log_d + 1 + (1 + log_d)
            require(bool(error <= log_terms * log_d), f"d=2^{exponent}: maximum error {error}")
            m = (2 * log_d).ceil()
            require(bool(m <= columns_per_log * exponent), f"d=2^{exponent}: m={m}")
    return "d = 2, 4, 8, 2^10, 2^64, 2^1000 with alpha = 1, eps1 = eps2"


CLAIMS = (
    ALP.verified(
        "Theorem 5.10",
        "For d >= 2, alpha = 1 and epsilon1 = epsilon2 the access reads at most 2 log2 d columns "
        "and the expected maximum error is at most 6 ln(d)/epsilon1.",
        "certified numerics",
        check=lambda: _summary(arb(2), 6),
        mutant=Mutant(
            "1.38 log2 d columns (below the limit 2 ln 2 = 1.386)", lambda: _summary(arb("1.38"), 6)
        ),
        note="Privacy: Lemma 5.3; space: Lemmas 5.2 and 5.4; per-entry error: Lemma 5.5. It holds "
        "for every epsilon.",
    ),
)
