"""CSH, Lemma B.1: histograms with the same support."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh.lemma_2_8 import distance, farthest
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def _distance(scale: Fraction) -> str:
    """a - a^2/(j + sqrt k) <= gamma(j)^2 = min(j, (j + sqrt k)/4), every a <= j <= k."""
    for root, most in ((1, 1), (2, 4), (3, 9), (100, 4)):
        for j in range(1, most + 1):
            gamma = min(Fraction(j), Fraction(j + root, 4)) * scale**2
            for a in range(j + 1):
                squared = distance(j, a, Fraction(root))
                require(squared <= gamma, f"k={root * root}, j={j}, a={a}: {squared} > {gamma}")
    return "k = 1, 4, 9, every a <= j <= k, and k = 10^4, j <= 4; covariance inverted in fractions"


def _noise(power: int) -> str:
    """A shared normal of variance sigma^power/sqrt k on top of N(0, sigma^2 I) hides as much as
    Theorem 3.3 says of Algorithm 2: no change is farther than sqrt(k + sqrt k)/2 sigmas, and one is
    that far.
    """
    for k, root, sigma in ((4, 2, Fraction(3)), (9, 3, Fraction(1, 2))):
        found = farthest(sigma**2, sigma**power / root, k)
        wanted = Fraction(k + root, 4) / sigma**2
        case = f"k={k}, sigma={sigma}: squared distance {found}, of Algorithm 2 {wanted}"
        require(found == wanted, case)
    return "k = 4 and 9, every change of 0/1 counters, covariance inverted in fractions"


CLAIMS = (
    CSH.verified(
        "Lemma B.1",
        "For the same support of j <= k counters the Gaussian delta at "
        "gamma = min(sqrt(j + sqrt k)/2, sqrt j) bounds Algorithm 2.",
        "enumeration",
        **varied(_distance, Fraction(1), Fraction(99, 100), "99 percent of gamma"),
    ),
    Refuted(
        paper="CSH",
        item="Lemma B.1, proof, shared noise",
        printed=Printed(
            r"Z_{cor}\sim\mathcal{N}(0,\sigma/\sqrt{k})",
            "Appendix B, Lemma B.1, proof",
            508,
        ),
        statement="Adding a sample of N(0, sigma/sqrt k) to all entries turns the Gaussian "
        "mechanism into Algorithm 2 (the variance is the second parameter throughout).",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _noise(1),
        example="""
>>> k, sigma = 4, 3
>>> in_algorithm_2, in_the_proof = sigma**2 / k**0.5, sigma / k**0.5     # second parameters
>>> in_algorithm_2, in_the_proof
(4.5, 1.5)
""",
        extraction="no: the proof has sigma/sqrt k twice, without the square that Algorithm 2 and "
        "Lemma 3.2 print; as a standard deviation it would be sigma/k^(1/4)",
        corrected=CSH.verified(
            "Lemma B.1, proof, shared noise, corrected",
            "The sample is from N(0, sigma^2/sqrt k).",
            "enumeration",
            **varied(_noise, 2, 1, "N(0, sigma/sqrt k)"),
        ),
    ),
)
