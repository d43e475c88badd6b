"""ALP, Algorithm 11: maxima of hashed entries with Laplace noise."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import all_hashes
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _table(start: int) -> str:
    """y starts at `start`; y_{h(i)} >= x_i, with equality for the largest entry of its cell."""
    for x in product(range(3), repeat=3):
        for h in all_hashes(3, 3):
            y = [max([start, *(x[j] for j in range(3) if h[j] == a)]) for a in range(3)]
            require(all(y[h[i]] >= x[i] for i in range(3)), f"x={x}, h={h}: y={y}")
            for a in set(h):
                largest = max(x[i] for i in range(3) if h[i] == a)
                require(y[a] == largest, f"x={x}, h={h}: cell {a} has {y[a]}, largest {largest}")
    return "27 vectors, 27 hash functions"


CLAIMS = (
    ALP.verified(
        "Algorithm 11",
        "Each cell holds the largest entry hashed to it (0 when there is none), so y_h(i) >= x_i.",
        "enumeration",
        **varied(_table, 0, 1, "cells start at 1"),
    ),
)
