"""ALP, Table 1: overview of the variants."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

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
