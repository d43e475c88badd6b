"""ALP, Figure 1: the example of an embedding."""

from __future__ import annotations

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import laid_out
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS", "HASHES", "ROWS"]

HASHES = (2, 3, 5, 3, 4, 4, 1, 2)
ROWS = 5
_PRINTED = ("00000000", "10000000", "01010000", "00001000", "00100000")


def _table(y: int) -> str:
    bits = laid_out([y], [(row - 1,) for row in HASHES], ROWS)
    for a, row in enumerate(_PRINTED):
        drawn = "".join(str(bits[ROWS * b + a]) for b in range(len(HASHES)))
        require(drawn == row, f"row {a + 1}: {drawn}, printed {row}")
    return "5 rows of 8 bits, laid out as shipped"


CLAIMS = (
    ALP.reproduced(
        "Figure 1",
        "The hash values 2, 3, 5, 3, 4, 4, 1, 2 and y_i = 5 give the printed array, with m = 8 "
        "columns and s = 5 rows, bit by bit.",
        "reproduction",
        **varied(_table, 5, 4, "y_i = 4"),
    ),
)
