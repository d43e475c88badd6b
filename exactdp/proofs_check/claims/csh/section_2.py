"""CSH, Section 2, running text: sensitivities, and what is cited."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import binary
from exactdp.proofs_check.claims.csh.lemma_2_8 import distance
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_GAMMAS = tuple(Fraction(n, 2) for n in (1, 2, 4, 14, 2000))


def _norms(power: int) -> str:
    """A user with k entries moves the histogram by k in l1 and, squared, by k^power in l2."""
    for d in range(1, 6):
        for k in range(1, d + 1):
            users = [user for user in binary(d) if sum(user) <= k]
            l1 = max(sum(abs(x) for x in user) for user in users)
            squared = max(sum(x * x for x in user) for user in users)
            require(l1 == k and squared == k**power, f"d={d}, k={k}: l1 {l1}, l2^2 {squared}")
    return "d up to 5, every user"


def _one_kind_each(most: int) -> str:
    """Shared counters that change and counters that appear: together at most k - most + 1. With k
    changes either kind alone can be k, not both.
    """
    pairs = []
    for less in product(range(3), repeat=4):
        for user in list(binary(4))[1:]:
            k, more = sum(user), tuple(x + u for x, u in zip(less, user, strict=True))
            shared = {i for i in range(4) if less[i] and more[i] and less[i] != more[i]}
            new = {i for i in range(4) if not less[i] and more[i]}
            require(all(more[i] == 1 for i in new), f"H={less}, H'={more}: appear {new}")
            pairs.append((k, len(shared), len(new)))
    kinds = set(pairs)
    for k in range(1, 5):
        require({(k, k, 0), (k, 0, k)} <= kinds, f"k={k}: one of the worst cases never occurs")
        require((k, k, k) not in kinds, f"k={k}: both worst cases in one pair")
    for k, change, appear in kinds:
        require(change + appear <= k - most + 1, f"{change} change, {appear} appear, k={k}")
    return f"{len(pairs)} pairs of neighbours of 4 counters; k in one kind leaves 0 for the other"


def _little_gain(factor: Fraction) -> str:
    """(1 + 1/gamma) times the exact squared sensitivity is above k (1 - factor k/d)."""
    small = [(d, k) for d in range(2, 6) for k in range(1, d // 2 + 1)]
    large = [(10**6, k) for k in (1, 1000, 300_000, 500_000)]
    for (d, k), gamma in product(small + large, _GAMMAS):
        squared = k - k * k / (d + gamma)  # of k moved counters, k <= (d + gamma)/2
        if d < 10:
            squared = max(distance(d, a, gamma) for a in range(k + 1))
        total, least = (1 + 1 / gamma) * squared, k * (1 - factor * Fraction(k, d))
        require(total > least, f"d={d}, k={k}, gamma={gamma}: {total} <= {least}")
    return "d up to 5 and 10^6, k <= d/2; in general 1 + 1/gamma > 1 and k^2/(d + gamma) < k^2/d"


CLAIMS = (
    CSH.verified(
        "Section 2.1, l2 instead of l1 sensitivity",
        "A user with k items has l1 sensitivity k, but l2 sensitivity only sqrt(k).",
        "enumeration",
        **varied(_norms, 1, 2, "l2 sensitivity k"),
    ),
    CSH.verified(
        "Section 2.3, each counter counts once",
        "A changed counter either is shared or appears with count 1, never both: at most "
        "k of the two kinds together. Each worst case, k of one kind, occurs, but not both in one "
        "pair.",
        "enumeration",
        **varied(_one_kind_each, 1, 2, "at most k - 1 together"),
    ),
    CSH.verified(
        "Section 2.4, little gain for k much smaller than d",
        "For users with at most k <= d/2 of d entries no amount of shared noise brings "
        "the total noise below sqrt(1 - k/d) of that of the Gaussian mechanism.",
        "enumeration",
        **varied(_little_gain, Fraction(1), Fraction(98, 100), "sqrt(1 - 0.98 k/d)"),
        note="the optimal amount itself, by Joseph and Yu, is cited without formula; checked is "
        "noise of the form of Lemma 2.8",
    ),
    CSH.not_checkable(
        "Section 2.4, Joseph and Yu",
        "For users with k <= d/2 entries there is an optimal amount of shared noise.",
        "cited without formula; that it hardly helps where k is much smaller than d is the "
        "entry before",
    ),
    CSH.not_checkable(
        "Section 2.3, convention of the threshold",
        "The threshold is called 1 + tau here and tau by Wilkins et al.",
        "a convention; it is used consistently except in Appendix B, probability of no "
        "output bottom",
    ),
)
