"""ALP, Lemma 8.1: taking maxima does not increase distances."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import all_hashes
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _distance(weight: int) -> str:
    """|y - y'|_1 <= |x - x'|_1 for maxima (weight 1), or for twice the maxima."""
    vectors = list(product(range(3), repeat=3))
    for h in all_hashes(3, 2):
        if h[0]:
            continue  # the two rows are interchangeable
        tables = {
            x: [weight * max([0, *(x[j] for j in range(3) if h[j] == a)]) for a in range(2)]
            for x in vectors
        }
        for x, other in product(vectors, repeat=2):
            gap = sum(abs(a - b) for a, b in zip(x, other, strict=True))
            moved = sum(abs(a - b) for a, b in zip(tables[x], tables[other], strict=True))
            require(moved <= gap, f"h={h}, {x} and {other}: {moved} > {gap}")
    return "729 pairs of vectors (scaling gives all grids), 4 hash functions"


CLAIMS = (
    ALP.verified(
        "Lemma 8.1",
        "The vector of maxima moves by at most |x - x'|_1, so Laplace noise of scale 1/epsilon "
        "makes it epsilon-differentially private.",
        "enumeration",
        **varied(_distance, 1, 2, "for twice the maxima"),
        note="The noise is covered by Algorithm 1.",
    ),
)
