"""SVA, Sections II-D and II-E: real-valued vectors; the announced lower bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import distance, hashes
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _bins(
    v: tuple[Fraction, ...], h: tuple[int, ...], s: tuple[int, ...], own: bool
) -> list[Fraction]:
    return [
        sum((s[x] * v[x] for x in range(len(v)) if h[x] == j or not own), Fraction(0))
        for j in range(2)
    ]


def _real(own: bool) -> str:
    """One coordinate that moves by 2 moves the bins by 2 in total, and the estimate is unbiased."""
    v, w = (Fraction(1), Fraction(1, 2)), (Fraction(-1), Fraction(1, 2))
    means = [Fraction(0), Fraction(0)]
    family, widest = hashes(2, 2), Fraction(0)
    for h, s in family:
        first, second = _bins(v, h, s, own), _bins(w, h, s, own)
        gap = distance(tuple(first), tuple(second))
        widest = max(widest, gap)
        for x in range(2):
            means[x] += s[x] * first[h[x]] / len(family)
    require(tuple(means) == v, f"mean estimates {means}")
    require(widest == 2, f"one coordinate moves by 2, the bins by {widest}")
    return "d = 2, b = 2, every h and s"


def _product_of_signs(square: bool) -> str:
    """s(x) s(x') is a uniform sign for x' != x, and 1 for x' = x."""
    for x, y in product(range(3), repeat=2):
        values = [s[x] * s[y] for _, s in hashes(3, 1)]
        mean = Fraction(sum(values), len(values))
        require(mean == (x == y and square), f"E s({x}) s({y}) = {mean}")
    return "three coordinates, every s"


CLAIMS = (
    SVA.verified(
        "Section II-D, bins",
        "For real vectors, bin j holds the sum of s(x) v_x over the x with h(x) = j, "
        "plus noise: unbiased, and one event moves the bins by at most 2.",
        "enumeration",
        **varied(_real, True, False, "every bin holds the sum over all of [d]"),
        note="the display sums over all x in [d]; the other sections restrict the sum to the bin",
    ),
    SVA.verified(
        "Section II-B, signs",
        "s(x) s(x') is 1 for x' = x and a uniform sign otherwise.",
        "enumeration",
        **varied(_product_of_signs, True, False, "also for x' = x"),
    ),
    SVA.not_checkable(
        "Section II-E",
        "The lower bound of Bassily and Smith closes the event-level case and extends to users.",
        "announces Section VI; the parts are checked under Theorems 3, 11, 15 and Lemmas 20 to 23",
    ),
)
