"""SVA, Appendix C-A: what random rounding to a grid before the noise costs, exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

from exactdp.law import Law
from exactdp.local.sparse.probability_ratio import worst_ratio
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import distance, noisy, sparse
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["ROUNDING"]

_A, _REACH = Fraction(1, 3), 4
_QUARTERS = [Fraction(i, 4) for i in range(-4, 5)]


def _report(v: tuple[Fraction, ...], signs: tuple[int, ...]) -> Law[int]:
    """One bin: the rounded entries with their signs, and geometric noise of ratio 1/3."""
    sums: Law[int] = Law.point(0)
    for value, sign in zip(v, signs, strict=True):
        low = floor(value)
        part = Law({sign * low: 1 - (value - low), sign * (low + 1): value - low})
        sums = sums.product(part).map(sum)
    return sums.then(lambda centre: noisy(centre, _A, _REACH))


def _cost(accounted: bool) -> str:
    """The largest ratio over L1 distances of 1/2 and 3/2, k = 1 and 2, by enumeration."""
    for k, length in product((1, 2), (Fraction(1, 2), Fraction(3, 2))):
        vectors = sparse(2, k, _QUARTERS)
        largest = Fraction(0)
        for signs in ((1, 1), (1, -1)):  # the others mirror these
            laws = [(v, _report(v, signs)) for v in vectors]
            for (v, p), (w, q) in product(laws, laws):
                if distance(v, w) <= length:
                    largest = max(largest, *(p[y] / q[y] for y in p))
        usual = (1 / _A) ** int(2 * length)
        square = _stated(k, length) ** 2 if accounted else usual
        case = f"k = {k}, L = {length}: {float(largest):.4g}, stated {float(square) ** 0.5:.4g}"
        require(largest**2 > usual, f"{case}, no more than s^L")
        require(worst_ratio(_A, length, k) == largest, f"{case}, another one shipped")
        require(largest**2 == square, case)
    return "two items, entries in quarters, grid 1, every sign up to mirroring"


def _stated(k: int, length: Fraction) -> Fraction:
    s, off = 1 / _A, length % 1
    parts = [off + i for i in range(floor(length) + 1) if off + i <= k]
    return max(s ** int(length - f) * (1 + (s - 1) * f / k) ** k for f in parts)


ROUNDING = (
    SVA.verified(
        "Appendix C-A, rounding before the noise",
        "Rounding k entries at random to a grid where noise loses log s per unit costs a change of "
        "length L exactly a factor max over F of s^(L - F) (1 + (s - 1) F/k)^k, F <= min(L, k) "
        "with L - F whole, as shipped: more than s^L for the L tried, 1/2 and 3/2.",
        "enumeration",
        **varied(_cost, True, False, "no more than s^L"),
        note="the paper rounds after the noise, which costs nothing; on a computer noise is drawn "
        "on a grid, so values have to be rounded first",
        ours=True,
    ),
)
