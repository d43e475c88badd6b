"""ALP, Algorithm 1: the Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._threshold import Vector, distance, power
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _private(share: Fraction) -> str:
    """Products of densities eps/2 e^(-eps |v - x|) at v: ratios <= share * e^(eps |x - x'|_1)."""
    grid = [Fraction(n, 2) for n in range(4)]
    for base in (Fraction(4), Fraction(121, 100)):  # e^eps

        def density(v: Vector, x: Vector, base: Fraction = base) -> Fraction:
            """Up to the factor (eps/2)^d."""
            each = (power(base, -abs(a - b)) for a, b in zip(v, x, strict=True))
            return prod(each, start=Fraction(1))

        for x, other, v in product(product(grid, repeat=2), repeat=3):
            if x != other:
                ratio, limit = density(v, x) / density(v, other), power(base, distance(x, other))
                require(ratio <= share * limit, f"e^eps={base}, x={x}, x'={other}, v={v}: {ratio}")
    return "4096 triples of vectors and outputs, e^eps = 4, 1.21"


CLAIMS = (
    ALP.verified(
        "Algorithm 1",
        "Laplace noise of scale 1/eps on every entry changes densities by at most a factor "
        "e^(eps * l1 distance).",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(49, 50), "0.98 times that"),
    ),
)
