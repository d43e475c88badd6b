"""ALP, Algorithm 10: the projection for histograms."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import embedding, estimate
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _noiseless(offset: int) -> str:
    """beta columns, no scaling: noiseless integer entries up to beta come back, above: beta."""
    beta = 5
    for x in range(8):
        bits = embedding([x], [(0,)] * (beta + offset), 1)
        guess = estimate(bits)
        require(guess == min(x, beta), f"x={x}: {guess}")
    return "beta = 5, x = 0 to 7"


def _levels(b: int) -> str:
    """Columns changed by a step from x to x + 1: exactly one, the (x + 1)-th."""
    hashes = [(0, 1), (1, 1), (0, 0)]
    for x, y in product(range(3), range(4)):
        first = embedding([x, y], hashes, 2)
        second = embedding([x + b, y], hashes, 2)
        changed = [n // 2 for n in range(6) if first[n] != second[n]]
        require(set(changed) <= {x} and len(changed) <= 1, f"x={x}, y={y}: {changed}")
    return "x = 0, 1, 2, second entry 0 to 3, with collisions"


CLAIMS = (
    ALP.verified(
        "Algorithm 10",
        "With beta columns and no scaling, integer entries up to beta are represented exactly.",
        "enumeration",
        **varied(_noiseless, 0, -1, "beta - 1 columns"),
    ),
    ALP.verified(
        "Algorithm 10, one bit",
        "Raising an entry by 1 changes at most one bit of z.",
        "enumeration",
        **varied(_levels, 1, 2, "raising it by 2"),
    ),
)
