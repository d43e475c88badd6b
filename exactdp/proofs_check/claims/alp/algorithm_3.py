"""ALP, Algorithm 3: ALP1-Estimator."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.claims.alp._shipped import maximizers, read_off
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _noiseless(inside: bool) -> str:
    """Without noise every y in 0..m is recovered; the -1 belongs inside the sum."""
    for m in range(1, 9):
        for y in range(m + 1):
            bits = [int(b < y) for b in range(m)]
            sums = [sum(2 * bit - inside for bit in bits[:n]) - (not inside) for n in range(m + 1)]
            best = [n for n, value in enumerate(sums) if value == max(sums)]
            guess = Fraction(sum(best), len(best))
            require(read_off(bits) == y, f"m={m}, y={y}: shipped estimate {read_off(bits)}")
            require(guess == y, f"m={m}, y={y}: estimate {guess}")
    return "every y, m up to 8, by the formula and by the shipped estimate"


def _peaks(gap: int) -> str:
    """The shipped walk finds what the definition of P says; its members differ by the gap."""
    for bits in product((0, 1), repeat=9):
        sums = [sum(2 * bit - 1 for bit in bits[:n]) for n in range(10)]
        best = [n for n in range(10) if all(sums[a] <= sums[n] for a in range(10))]
        found = maximizers(bits)
        require(found == (sum(best), len(best)), f"bits {bits}: sum and number {found}")
        require(estimate(bits) == Fraction(*found), f"bits {bits}: the model of this ledger")
        require(all((n - best[0]) % gap == 0 for n in best), f"bits {bits}: peaks {best}")
    return "all 512 strings of 9 bits, sum and number of the maximizers as shipped"


CLAIMS = (
    ALP.verified(
        "Algorithm 3",
        "Without noise the average of the arguments that maximize the sum of (2 bit - 1) is y, "
        "for every y in 0..m.",
        "enumeration",
        **varied(_noiseless, True, False, "1 is subtracted once, outside the sum"),
        note="The text prints the sum of '2z - 1' without parentheses; they are meant.",
    ),
    ALP.verified(
        "Algorithm 3, Step (2)",
        "P holds exactly the maximizers, and any two of them differ by an even number.",
        "enumeration",
        **varied(_peaks, 2, 4, "by a multiple of 4"),
    ),
)
