"""ALP, Section 8, running text: weak tails of the structure with constant access time."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _collides(share: Fraction) -> str:
    """P(a zero entry meets one of k nonzeros) is about 1/log d at s = k log d."""
    for k, log_d in product((1, 2), (7, 20)):
        hit = [h[0] in h[1:] for h in product(range(k * log_d), repeat=k + 1)]
        chance = Fraction(sum(hit), len(hit))
        require(chance == _chance(k, log_d), f"k={k}, log d={log_d}: {chance}")
    for k, log_d in product((1, 10, 100), (7, 20, 64)):
        chance = _chance(k, log_d)
        require(chance >= Fraction(9, 10) / log_d, f"k={k}, log d={log_d}: too small")
        require(chance <= share / log_d, f"k={k}, log d={log_d}: {float(chance)}")
    return "k = 1, 10, 100, log d = 7, 20, 64; the formula against all functions for k = 1, 2"


def _chance(k: int, log_d: int) -> Fraction:
    return 1 - (1 - Fraction(1, k * log_d)) ** k


CLAIMS = (
    ALP.verified(
        "Section 8, collisions of zero entries",
        "With s = k log d rows a zero entry collides with a nonzero one with probability at most "
        "1/log d, and at least 0.9/log d.",
        "enumeration",
        **varied(_collides, Fraction(1), Fraction(99, 100), "at most 0.99/log d"),
        note="So about (d - k)/log d zero entries are expected to have a large error.",
    ),
)
