"""ALP, Theorem 5.11: the approximate variant; conditions on epsilon and delta are lost."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Mutant, Refuted, require
from exactdp.proofs_check.claims.alp._large_epsilon import access
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _released(constant: int, at_most_one_over_k: bool) -> str:
    """k entries far above t are all released: E max error = H_k/eps1 <= constant ln(1/delta)/eps.

    eps1 = eps/2.
    """
    harmonic = Fraction(0)
    for k in range(1, 3001):
        harmonic += Fraction(1, k)
        if k in (2, 10, 100, 1000, 3000):
            delta = Fraction(1, k) if at_most_one_over_k else Fraction(1, 2)
            with precision(64):
                fine = bool(2 * ball(harmonic) <= constant * (1 / ball(delta)).log())
            require(fine, f"k={k}, delta={delta}: maximum {float(2 * harmonic):.3g}/eps")
    return "k = 2, 10, 100, 1000, 3000"


CLAIMS = (
    ALP.verified(
        "Theorem 5.11",
        "For epsilon <= ln(1/delta) and delta <= 1/k the algorithm of Lemma 5.8 reads at most "
        "2 ln(1/delta) columns (alpha = 3, epsilon1 = epsilon2).",
        "enumeration",
        check=lambda: access(2, 0, most_epsilon=1),
        mutant=Mutant("for every epsilon > 0", lambda: access(2, 0)),
        note="The theorem states neither condition. As a statement of existence it is not refuted "
        "by this algorithm; see the entries of Lemmas 5.7 to 5.9 and the proof below.",
    ),
    Refuted(
        paper="ALP",
        item="Theorem 5.11, proof, condition on delta",
        statement="Theorem 5.11 is derived from Lemma 5.8 without repeating its condition delta = "
        "O(1/k): "
        "expected maximum error O(log(1/delta)/epsilon) for every delta > 0.",
        severity="cosmetic",
        method="certified numerics",
        check=lambda: _released(20, False),
        example="""
>>> from math import log
>>> k, delta = 10**5, 0.5                       # k entries far above the threshold, all released
>>> noise = sum(1 / j for j in range(1, k + 1)) # E max of k values |Lap(1/eps1)|, times eps1
>>> noise > 15 * log(1 / delta)
True
""",
        extraction="no: Lemma 5.8 has delta = O(1/k), the theorem 'epsilon, delta > 0'",
        corrected=ALP.verified(
            "Theorem 5.11, proof, condition on delta, corrected",
            "For delta <= 1/k the maximum of the noise is at most 5 ln(1/delta)/epsilon (k >= 2).",
            "certified numerics",
            **varied(partial(_released, 5), True, False, "for delta = 1/2"),
        ),
        note="Section 3 assumes delta <= 1/k. Noise of bounded range would save the statement of "
        "existence.",
    ),
)
