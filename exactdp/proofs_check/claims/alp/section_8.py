"""ALP, Section 8, running text: weak tails of the structure with constant access time."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _collides(share: Fraction) -> str:
    """P(a zero entry meets one of k nonzeros) = 1 - (1 - 1/s)^k is about 1/log d at s = k log d."""
    for k, log_d in product((1, 10, 100), (7, 20, 64)):
        s = k * log_d
        chance = 1 - (1 - Fraction(1, s)) ** k
        upper = share / log_d
        require(chance >= Fraction(1, log_d) * Fraction(9, 10), f"k={k}, log d={log_d}: too small")
        require(chance <= upper, f"k={k}, log d={log_d}: {float(chance)}")
    return "k = 1, 10, 100, log d = 7, 20, 64: between 0.9/log d and 1/log d"


CLAIMS = (
    ALP.verified(
        "Section 8, collisions of zero entries",
        "With s = k log d rows a zero entry collides with probability at most 1/log d, and not "
        "much less, so about (d - k)/log d zero entries have a large error.",
        "enumeration",
        **varied(_collides, Fraction(1), Fraction(99, 100), "at most 0.99/log d"),
    ),
)
