"""SVA, Theorems 17 and 18 (Appendix A): composition and post-processing of closeness."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _coin(p: Fraction) -> Law[int]:
    return Law({0: 1 - p, 1: p})


_COINS = tuple(_coin(Fraction(x, 200)) for x in (0, 2, 50, 151, 200))
_FACTORS = (Fraction(1), Fraction(3, 2))


def _delta(p: Law[int], q: Law[int], factor: Fraction) -> Fraction:
    return hockey_stick(p, q, e_epsilon=factor).upper


def _composed(second: Fraction) -> str:
    """delta of the pair at e^(eps1 + eps2) <= delta1 + second * (the worst delta2 over x)."""
    tried = 0
    for x, xp in product(_COINS[:4], repeat=2):
        for y0, y0p, y1, y1p in product(_COINS[:3:2], repeat=4):
            pair = x.then(lambda i: Law.point(i).product((y0, y1)[i]))
            other = xp.then(lambda i: Law.point(i).product((y0p, y1p)[i]))
            for f1, f2 in product(_FACTORS, repeat=2):
                worst = max(_delta(y0, y0p, f2), _delta(y1, y1p, f2))
                bound = _delta(x, xp, f1) + second * worst
                found = hockey_stick(pair, other, e_epsilon=f1 * f2).upper
                require(found <= bound, f"delta {found} > {bound} at factors {f1}, {f2}")
                tried += 1
    return f"{tried} pairs of two-stage laws"


def _processed(allowance: Fraction) -> str:
    """delta does not grow under a randomized function of the outcome."""
    tried = 0
    for x, xp, y0, y1, factor in product(_COINS, _COINS, _COINS, _COINS, _FACTORS):
        after = _delta(x.then(lambda i: (y0, y1)[i]), xp.then(lambda i: (y0, y1)[i]), factor)
        before = _delta(x, xp, factor)
        require(after <= before * allowance, f"{before} before, {after} after")
        tried += 1
    return f"{tried} laws and randomized functions of one bit"


CLAIMS = (
    SVA.verified(
        "Theorem 17",
        "If X, X' are (eps1, delta1)-close and, for every x, Y given x and Y' given x "
        "are (eps2, delta2)-close, then the pairs are (eps1 + eps2, delta1 + delta2)-close.",
        "enumeration",
        **varied(_composed, Fraction(1), Fraction(19, 20), "delta1 + 0.95 delta2"),
    ),
    SVA.verified(
        "Theorem 18",
        "Closeness survives any randomized function.",
        "enumeration",
        **varied(_processed, Fraction(1), Fraction(99, 100), "and shrinks by 1 %"),
    ),
)
