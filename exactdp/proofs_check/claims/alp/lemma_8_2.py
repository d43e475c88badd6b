"""ALP, Lemma 8.2: expected error of the maxima."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import all_hashes
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _error(share: Fraction, rows: int) -> str:
    """E|x_i - y_h(i)| <= sum of max(x_j - x_i, 0)/s <= share * |x|_1/s, all hash functions."""
    for x in ((0, 1, 2), (0, 5, 0), (3, 1, 2)):
        for i in range(3):
            total = Fraction(0)
            for h in all_hashes(3, rows):
                cell = max(x[j] for j in range(3) if h[j] == h[i])
                total += cell - x[i]
            mean = total / rows**3
            middle = Fraction(sum(max(v - x[i], 0) for v in x), rows)
            require(mean <= middle, f"x={x}, i={i}: {mean} > {middle}")
            require(middle <= share * Fraction(sum(x), rows), f"x={x}, i={i}: {middle}")
    return f"three vectors, every entry, all {rows**3} functions to {rows} rows"


def _total(factor: Fraction) -> str:
    """s = ceil(eps |x|_1): the mean over all hash functions, and 1/eps for Laplace noise."""
    for eps, x in product((Fraction(1, 2), Fraction(1), Fraction(3)), ((0, 4, 0), (1, 0, 3))):
        rows = ceil(eps * sum(x))
        for i in range(3):
            cells = [max(x[j] for j in range(3) if h[j] == h[i]) for h in all_hashes(3, rows)]
            mean = Fraction(sum(cells), len(cells)) - x[i] + 1 / eps
            require(mean <= factor / eps, f"eps={eps}, x={x}, i={i}, s={rows}: {mean}")
    return "three eps, two vectors, every entry, all hash functions to s rows"


CLAIMS = (
    ALP.verified(
        "Lemma 8.2",
        "With s >= epsilon |x|_1 rows the expected error of an entry is at most 2/epsilon.",
        "enumeration",
        **varied(_total, Fraction(2), Fraction(99, 50), "at most 1.98/epsilon"),
    ),
    ALP.verified(
        "Lemma 8.2, proof, display",
        "E|x_i - y_h(i)| <= (1/s) sum of max(x_j - x_i, 0) <= |x|_1/s for a universal family.",
        "enumeration",
        **varied(_error, Fraction(1), Fraction(49, 50), "at most 0.98 |x|_1/s", 12),
    ),
)
