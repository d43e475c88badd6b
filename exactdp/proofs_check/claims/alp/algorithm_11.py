"""ALP, Algorithm 11: maxima of hashed entries with Laplace noise."""

from __future__ import annotations

from functools import cache

from exactdp.law import Law
from exactdp.mechanisms.projections.noisy_rows import DenseLaplace, MaxProjection
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import all_hashes
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_MAXIMA = MaxProjection(d=3, k=2, u=2, epsilon=1, grid=1, s=2)
_LAPLACE = DenseLaplace(d=2, k=2, u=2, epsilon=1, grid=1)


@cache
def _noisy(y: tuple[int, ...]) -> Law[tuple[int, ...]]:
    return _LAPLACE.law(dict(enumerate(y)), None)


def _table(empty: int) -> str:
    """The shipped law is that of noise on the largest entry of each cell, `empty` where none is."""
    for x in ((0, 0, 0), (1, 0, 2), (2, 1, 0), (0, 2, 0)):
        for h in all_hashes(3, 2):
            y = tuple(
                max((x[j] for j in range(3) if h[j] == cell), default=empty) for cell in range(2)
            )
            law = _MAXIMA.law(dict(enumerate(x)), Tables((h,)))
            require(law == _noisy(y), f"x={x}, h={h}: not noise on {y}")
    return "four vectors, eight hash functions, noise on a grid as shipped"


CLAIMS = (
    ALP.verified(
        "Algorithm 11",
        "What is released is noise on the largest entry hashed to each cell, on 0 where there is "
        "none.",
        "exact law",
        **varied(_table, 0, 1, "on 1 where there is none"),
    ),
)
