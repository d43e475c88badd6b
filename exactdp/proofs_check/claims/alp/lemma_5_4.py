"""ALP, Lemma 5.4: bits stored by the combined structure."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.mechanisms.projections.thresholds import usual_threshold
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal, words
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _bits(constant: Fraction) -> str:
    """Array and hash functions as shipped, t = 2 ln(d)/eps1 (to 2^-20), alpha = 1, s = 3k."""
    for log_d, k, eps in product((30, 64, 129, 300), (1, 10, 1000), (Fraction(1, 2), Fraction(4))):
        t = usual_threshold(2**log_d, eps, Fraction(1, 2**20))
        made = literal(t * eps, Fraction(1), k, 3 * k, 2**log_d)
        stored = made.layout.size + words(made.levels, 2**log_d)
        bound = constant * (k * log_d + log_d**2)
        require(stored <= bound, f"d=2^{log_d}, k={k}, eps={eps}: {stored} bits > {float(bound)}")
    return "d = 2^30 to 2^300, k = 1, 10, 1000, eps1 = eps2 = 1/2, 4"


CLAIMS = (
    ALP.verified(
        "Lemma 5.4",
        "Embedding and hash functions take O(k log d + log^2 d) bits: as shipped at most 16.1 (k "
        "log2 d + log2(d)^2) for d from 2^30 on (alpha = 1, s = 3k, epsilon1 = epsilon2).",
        "enumeration",
        **varied(_bits, Fraction(161, 10), Fraction(159, 10), "at most 15.9 times"),
        note="The O(k log(d + u)) bits of the thresholded vector are cited; see Lemma 5.2 for the "
        "probability.",
    ),
)
