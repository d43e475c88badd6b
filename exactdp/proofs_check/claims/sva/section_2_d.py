"""SVA, Sections II-D and II-E: real-valued vectors; the announced lower bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import distance, events, hashes, sparse
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
    """Every event moves the bins by at most 2 in total, some by 2; the estimate is unbiased."""
    family, widest = hashes(3, 2), Fraction(0)
    vectors = sparse(3, 3, (-1, Fraction(1, 2), 1))
    for v in vectors:
        sums = [_bins(v, h, s, own) for h, s in family]
        both = list(zip(sums, family, strict=True))
        means = tuple(sum(s[x] * b[h[x]] for b, (h, s) in both) / len(family) for x in range(3))
        require(means == v, f"mean estimates {means} of {v}")
        for w in (w for w in vectors if events(v, w) == 1):
            moved = [distance(b, _bins(w, h, s, own)) for b, (h, s) in both]
            widest = max(widest, *moved)
    require(widest == 2, f"an event moves the bins by {widest}")
    return "27 vectors, d = 3, b = 2, every h and s"


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
        "plus noise: unbiased, and one event moves the bins by at most 2, attained.",
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
