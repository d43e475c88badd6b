"""ALP, Algorithm 10: the projection for histograms."""

from __future__ import annotations

from itertools import product

from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import laid_out, read_off
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _noiseless(offset: int) -> str:
    """beta columns, no scaling: noiseless integer entries up to beta come back, above: beta."""
    beta = 5
    columns = HistogramALP(d=1, k=1, s=3, beta=beta, epsilon=1).levels + offset
    for x in range(8):
        guess = read_off(laid_out([x], [(0,)] * columns, 1))
        require(guess == min(x, beta), f"x={x}: {guess}")
    return "beta = 5, x = 0 to 7, array and estimate as shipped"


def _changed(raised: int) -> str:
    """Bits changed by a step from x to x + 1: the (x + 1)-th column's, or none if it collides."""
    hashes, found = [(0, 1), (1, 1), (0, 0)], set()
    for x, y in product(range(3), range(4)):
        first, second = laid_out([x, y], hashes, 2), laid_out([x + raised, y], hashes, 2)
        changed = {n for n in range(6) if first[n] != second[n]}
        require(changed <= {2 * x + hashes[x][0]}, f"x={x}, y={y}: bits {changed}")
        found.add(len(changed))
    return f"x = 0, 1, 2, second entry 0 to 3, with collisions: {sorted(found)} bits change"


CLAIMS = (
    ALP.verified(
        "Algorithm 10",
        "With beta columns and no scaling, integer entries up to beta are represented exactly.",
        "enumeration",
        **varied(_noiseless, 0, -1, "beta - 1 columns"),
    ),
    ALP.verified(
        "Algorithm 10, one bit",
        "Raising an entry by 1 changes at most one bit of z, its own in the next column.",
        "enumeration",
        **varied(_changed, 1, 2, "raising it by 2"),
    ),
)
