"""ALP, Table 1: overview of the variants."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.balls import ball, refine
from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.mechanisms.projections.thresholds import usual_threshold
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _columns(least: Fraction) -> str:
    """Columns as shipped for t = 2 ln(d)/eps, eps = least, 2 least, ...: Section 7."""
    for bits, j in product((1, 10, 64), range(1, 9)):
        eps = j * least
        t = usual_threshold(2**bits, eps, Fraction(1, 2**20))
        m = HistogramALP(d=2**bits, k=1, s=3, beta=ceil(t), epsilon=eps).levels
        log_d = refine(lambda: bits * ball(2).log()).lower
        require(m <= 2 * log_d + 1, f"d=2^{bits}, eps={eps}: m={m} > 2 ln d + 1")
    return "d = 2, 2^10, 2^64, eps = 1, 2, ..., 8"


CLAIMS = (
    ALP.not_checkable(
        "Table 1",
        "Informal overview of Sections 5 to 8 for pure differential privacy.",
        "a summary; every row below points to the entries that check its exact content",
    ),
    ALP.not_checkable(
        "Table 1, evaluation time",
        "O(log d), O(log(log(d)/epsilon)), O(log d), O(1) in Sections 5 to 8.",
        "asymptotic; columns read are counted under Theorem 5.10, Lemma 6.2 (with a condition on "
        "epsilon), Algorithm 10 and Corollary 8.3",
    ),
    Conditional(
        paper="ALP",
        item="Table 1, evaluation time of Section 7",
        statement="With the threshold technique, beta = t = 2 ln(d)/epsilon, the evaluation time "
        "for histograms is O(log d): at most 2 ln(d) + 1 columns.",
        outcome="verified",
        method="certified numerics",
        condition="epsilon = Omega(1), here epsilon >= 1: Algorithm 10 does not scale its entries,"
        " so its columns are O(log(d)/epsilon), as Section 7 says of the bits",
        **varied(_columns, Fraction(1), Fraction(1, 2), "for epsilon >= 1/2"),
    ),
    ALP.not_checkable(
        "Table 1, error guarantee",
        "Additive, multiplicative, additive, additive.",
        "a classification; bounds under Lemmas 5.5, 6.2, 7.3 and 8.2",
    ),
    ALP.not_checkable(
        "Table 1, input domain",
        "Reals, reals, integers, reals.",
        "a definition; that Section 7 needs integers is verified under Lemma 7.1",
    ),
    ALP.not_checkable(
        "Table 1, strong tail bounds",
        "Yes, no, yes, no.",
        "not a precise term; tails under Lemmas 4.9 to 4.15 and Section 8",
    ),
)
