"""ALP, Lemma 5.4: bits stored by the combined structure."""

from __future__ import annotations

from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _bits(hashes: int) -> str:
    """m (3k + w) <= 8 (k w + hashes w^2) with w = log2 d, alpha = 1, s = 3k, eps1 = eps2."""
    for exponent, k in product((1, 2, 5, 20, 100, 1000), (1, 2, 10, 100)):
        with precision(64):
            m = (2 * exponent * ball(2).log()).ceil()
            stored = m * (3 * k + exponent)
            bound = 8 * (k * exponent + hashes * exponent**2)
            require(bool(stored <= bound), f"d=2^{exponent}, k={k}: {stored} bits > {bound}")
    return "d = 2 to 2^1000, k = 1 to 100, alpha = 1, s = 3k, eps1 = eps2, log2 d bits per function"


CLAIMS = (
    ALP.verified(
        "Lemma 5.4",
        "Embedding and hash functions take at most 8 (k log2 d + log2(d)^2) bits (alpha = 1, s = "
        "3k, epsilon1 = epsilon2, d >= 2).",
        "certified numerics",
        **varied(_bits, 1, 0, "without the term for the hash functions"),
        note="The O(k log(d + u)) bits of the thresholded vector are cited; see Lemma 5.2 for the "
        "probability.",
    ),
)
