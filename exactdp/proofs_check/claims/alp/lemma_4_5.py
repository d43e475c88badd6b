"""ALP, Lemma 4.5: the chance that a walk with negative drift ever exceeds its present value."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._walk import hit_bounds
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_CHANCES = (Fraction(1, 10), Fraction(1, 5), Fraction(1, 4))


def _reaches(level: int, slack: Fraction) -> str:
    """P(S reaches the level) = (p/(1 - p))^level, between bounds from the first 120 steps."""
    for p in _CHANCES:
        low, high = hit_bounds(p, level, 120)
        stated = (p / (1 - p)) ** level * slack
        require(low <= stated <= high, f"p={p}: stated {float(stated)}, found {float(low)}")
    return f"p = 1/10, 1/5, 1/4: enclosed to {float(high - low):.1g} or better"


CLAIMS = (
    ALP.verified(
        "Lemma 4.5",
        "A simple random walk with p < 1/2 later exceeds its present value with probability "
        "p/(1 - p).",
        "enumeration",
        **varied(partial(_reaches, 1), Fraction(1), Fraction(10001, 10000), "1.0001 p/(1 - p)"),
    ),
    ALP.verified(
        "Lemma 4.5, proof, cited theorem",
        "It later gains k with probability (p/(1 - p))^k (here k = 3).",
        "enumeration",
        **varied(partial(_reaches, 3), Fraction(1), Fraction(10001, 10000), "1.0001 times that"),
    ),
)
