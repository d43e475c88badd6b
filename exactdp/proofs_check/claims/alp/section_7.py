"""ALP, Section 7, running text: neighbours, collisions, number of bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.balls import ball, refine
from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.entries import ALP, elsewhere, varied

__all__ = ["CLAIMS"]


def _many(extra: int) -> str:
    """How many entries can differ by 1/(2k) (a step) between k-sparse vectors at distance <= 1."""
    for k, highest in ((1, 3), (2, 2), (3, 1)):
        steps = product(range(highest + 1), repeat=2 * k + 1)
        sparse = [x for x in steps if len(x) - x.count(0) <= k]
        most = 0
        for x, y in product(sparse, repeat=2):
            changes = [abs(a - b) for a, b in zip(x, y, strict=True)]
            if sum(changes) <= 2 * k:  # steps in a distance of 1
                most = max(most, changes.count(1))
        require(most == 2 * k + extra, f"k={k}: {most} entries")
    return "k = 1, 2, 3, all sparse vectors of 2k + 1 entries up to 3, 2, 1 times 1/(2k)"


def _single(most: Fraction) -> str:
    for x, y in product(product(range(3), repeat=3), repeat=2):
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= most:
            differ = sum(a != b for a, b in zip(x, y, strict=True))
            require(differ <= 1, f"{x} and {y} differ in {differ} entries")
    return "729 pairs of histograms"


def _flip(share: Fraction) -> str:
    """(1 - q) p + q (1 - p) >= share * q for q in [0, 1], p in [0, 1/2]: linear in each."""
    for q, p in product((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1, 2))):
        chance = (1 - q) * p + q * (1 - p)
        require(chance >= share * q, f"q={q}, p={p}: {chance}")
    return "both sides are linear in q and in p, so the four corners decide"


def _bits(least: Fraction) -> str:
    """Arrays as shipped for t = 2 ln(d)/eps >= least: below 2 s t bits."""
    for bits, s, t in product((4, 10), (3, 50), (least, Fraction(101, 100), Fraction(19, 4))):
        eps = refine(lambda: 2 * bits * ball(2).log() / ball(t)).lower
        made = HistogramALP(d=2**bits, k=1, s=s, beta=ceil(t), epsilon=eps)
        size = made.layout.size
        require(size < 2 * s * t, f"d=2^{bits}, s={s}, t={t}: {size} bits")
    return "d = 2^4, 2^10, s = 3, 50, thresholds 1, 1.01, 4.75"


CLAIMS = (
    ALP.verified(
        "Section 7, real-valued neighbours",
        "Two k-sparse neighbours can differ by 1/(2k) in 2k entries, and in no more.",
        "enumeration",
        **varied(_many, 0, 1, "in 2k + 1 entries"),
    ),
    ALP.verified(
        "Section 7, neighbouring histograms",
        "Integer neighbours differ in one entry only.",
        "enumeration",
        **varied(_single, Fraction(1), Fraction(2), "also at distance 2"),
    ),
    ALP.proved(
        "Section 7, collisions with probability q",
        "With collision probability q a zero becomes a one with probability at least q/2.",
        "enumeration",
        **varied(_flip, Fraction(1, 2), Fraction(51, 100), "at least 0.51 q"),
    ),
    Conditional(
        paper="ALP",
        item="Section 7, number of bits",
        statement="With threshold t = 2 ln(d)/epsilon the array takes O(s log(d)/epsilon) bits: "
        "as shipped below 2 s t.",
        outcome="verified",
        method="enumeration",
        condition="t >= 1, that is epsilon <= 2 ln d (with 1/delta for d: epsilon = "
        "O(log(1/delta)))",
        **elsewhere(
            "the mutant weakens the condition",
            varied(_bits, Fraction(1), Fraction(1, 2), "for t >= 1/2"),
        ),
    ),
)
