"""CSH, Section 4, running text: releasing the (k + 1)-th largest count as well."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._top_k import neighbours, rank, reduced
from exactdp.proofs_check.claims.csh.lemma_2_8 import distance
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def _distance(times: int) -> str:
    """All changes of H~ and the base are within sqrt(k + times sqrt k)/2."""
    reached = 0
    for root in (1, 2, 3):
        k, gamma = root * root, Fraction(root)
        most = (k + times * gamma) / 4
        for a in range(k + 1):
            for base in (0, 1):
                # the base has noise of variance 1/root and is independent of the rest
                squared = distance(k, a, gamma) + base * root
                reached += squared == most
                require(squared <= most, f"k={k}, a={a}, base moves by {base}: {squared} > {most}")
    return f"k = 1, 4, 9, every change; the bound is reached {reached} times"


def _base(step: int) -> str:
    """One user moves the (k+1)-th largest count by at most `step`."""
    count = 0
    for k in (1, 2):
        for more, less in neighbours(3, 3):
            gap = rank(more, k + 1) - rank(less, k + 1)
            require(abs(gap) <= step, f"{more}, {less}: the base moves by {gap}")
            count += 1
    return f"{count} neighbouring histograms"


def _bias(back: int) -> str:
    """Adding the base to the reduced counters restores the counts above it."""
    for more, _ in neighbours(4, 2):
        for i, count in enumerate(more):
            if count > rank(more, 3):
                found = reduced(more, 2)[i] + back * rank(more, 3)
                require(found == count, f"{more}, k=2: {found} instead of {count}")
    return "every histogram of 4 counters up to 3, k = 2"


CLAIMS = (
    CSH.verified(
        "Section 4, releasing the base",
        "With the (k+1)-th largest count released under N(0, sigma^2/sqrt k), "
        "the noise part of Theorem 3.3 holds with sqrt(k + 5 sqrt k) in place of sqrt(k + sqrt k).",
        "enumeration",
        **varied(_distance, 5, 4, "sqrt(k + 4 sqrt k)"),
        note="the base moves by at most one, which adds sqrt k to the squared distance",
    ),
    CSH.verified(
        "Section 4, sensitivity of the base",
        "The (k+1)-th largest count has sensitivity one.",
        "enumeration",
        **varied(_base, 1, 0, "it never moves"),
    ),
    CSH.verified(
        "Section 4, bias",
        "Subtracting the base biases each remaining counter by exactly the base; adding "
        "an estimate of it back removes the bias.",
        "enumeration",
        **varied(_bias, 1, 0, "without adding it back"),
    ),
)
