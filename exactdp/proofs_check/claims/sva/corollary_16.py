"""SVA, Corollary 16: the lower bound in terms of L = 2k."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.sva._tails import not_negative
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _rate(share: Fraction) -> str:
    """k log(d/k) >= share * L log d for L = 2k <= sqrt(d).

    x = log k/log d <= 1/2: k log(d/k) = k (1 - x) log d, and L log d = 2k log d.
    """
    not_negative(1 - 2 * share, Fraction(-1), 0, Fraction(1, 2))
    return f"share {share}, all log k/log d in [0, 1/2]; equality at 1/2"


def _far(factor: Fraction) -> str:
    """Any two members of S are at most 2k apart in L1, attained when 2k <= d."""
    for d, k in ((4, 1), (5, 2), (6, 3)):
        sets = list(combinations(range(d), k))
        far = max(len(set(a) ^ set(b)) for a, b in product(sets, repeat=2))
        require(far == 2 * k * factor, f"d={d}, k={k}: {far} apart")
    return "three sizes, every pair"


CLAIMS = (
    Conditional(
        paper="SVA",
        item="Corollary 16",
        statement="For L = 2k <= sqrt(d) the expected error is Omega((1/epsilon) sqrt(L log d/n)), "
        "capped: k log(d/k) >= (L/4) log d.",
        outcome="proved",
        method="symbolic",
        condition="Theorem 15, whose proof needs epsilon^2/k below a constant; and its cap within "
        "the Omega",
        rests_on="SVA-Lemma-20-smaller-order",
        **varied(_rate, Fraction(1, 4), Fraction(10, 39), "(L/3.9) log d"),
    ),
    SVA.verified(
        "Corollary 16, distance",
        "Any two members of S are at most L = 2k apart in L1 distance, some exactly.",
        "enumeration",
        **varied(_far, Fraction(1), Fraction(99, 100), "0.99 times as far"),
        note="the text reads L_infinity distance, where the bound is 1; it needs no condition on d",
    ),
)
