"""ALP, Lemma 4.3: one pass over the m bits suffices."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _one_pass(bits: tuple[int, ...], strict: bool) -> Fraction:
    """The estimate with constant memory, each bit read once."""
    value = best = total = 0
    count = 1
    for n, bit in enumerate(bits, 1):
        value += 2 * bit - 1
        if value > best:
            best, total, count = value, n, 1
        elif value == best and not strict:
            total, count = total + n, count + 1
    return Fraction(total, count)


def _passes(strict: bool) -> str:
    for m in range(9):
        for bits in product((0, 1), repeat=m):
            found = _one_pass(bits, strict)
            require(found == estimate(bits), f"bits {bits}: {found}")
    return "all strings of up to 8 bits"


CLAIMS = (
    ALP.verified(
        "Lemma 4.3",
        "Reading each of the m = ceil(beta/alpha) bits once, with constant work per bit, gives the "
        "estimate.",
        "enumeration",
        **varied(_passes, False, True, "ties need not be kept"),
    ),
)
