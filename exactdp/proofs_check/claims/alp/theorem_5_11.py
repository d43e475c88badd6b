"""ALP, Theorem 5.11: the approximate variant, whose conditions on epsilon and delta are lost."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._large_epsilon import access
from exactdp.proofs_check.entries import elsewhere, varied

__all__ = ["CLAIMS"]


def _released(constant: Fraction, at_most_one_over_k: bool) -> str:
    """k entries far above t are all released: E max error = H_k/eps1 <= constant ln(1/delta)/eps.

    eps1 = eps/2.
    """
    harmonic = Fraction(0)
    for k in range(1, 3001):
        harmonic += Fraction(1, k)
        if k in (2, 10, 100, 1000, 3000):
            delta = Fraction(1, k) if at_most_one_over_k else Fraction(1, 2)
            with precision(64):
                fine = bool(2 * ball(harmonic) <= ball(constant) * (1 / ball(delta)).log())
            require(fine, f"k={k}, delta={delta}: maximum {float(2 * harmonic):.3g}/eps")
    return "k = 2, 10, 100, 1000, 3000"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Theorem 5.11",
        statement="The access reads O(log(1/delta)) columns: at most (2/3) ln(1/delta) + 1 by the "
        "algorithm of Lemma 5.8 (alpha = 3, epsilon1 = epsilon2 = epsilon/2).",
        outcome="verified",
        method="enumeration",
        condition="epsilon = O(log(1/delta)), here epsilon <= ln(1/delta), as for Lemmas 5.7 to "
        "5.9, from which the theorem is derived",
        rests_on="ALP-Lemma-5.7",
        **elsewhere(
            "the mutant weakens the condition",
            varied(
                partial(access, Fraction(2, 3), Fraction(0), 1),
                1,
                2,
                "for epsilon <= 2 ln(1/delta)",
            ),
        ),
        note="The same condition is needed for space and maximum error. A statement of existence "
        "is not refuted by one algorithm.",
    ),
    Conditional(
        paper="ALP",
        item="Theorem 5.11, maximum error",
        statement="The expected maximum error is O(log(1/delta)/epsilon): the noise of k entries "
        "stays below 4.4 ln(1/delta)/epsilon (k >= 2, epsilon1 = epsilon/2).",
        outcome="verified",
        method="certified numerics",
        condition="delta = O(1/k), here delta <= 1/k: a condition of Lemma 5.8 (and an assumption "
        "of Section 3) that the theorem does not repeat",
        **varied(partial(_released, Fraction(44, 10)), True, False, "for delta = 1/2"),
        note="Noise of bounded range would save the statement of existence.",
    ),
)
