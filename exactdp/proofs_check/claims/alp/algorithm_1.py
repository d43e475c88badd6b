"""ALP, Algorithm 1: the Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _private(scale: Fraction) -> str:
    """The log-ratio of densities at v, (|v - x'| - |v - x|)/scale, is <= eps |x - x'|."""
    grid = [Fraction(n, 2) for n in range(4)]
    for x, other, v in product(product(grid, repeat=2), repeat=3):
        loss = sum(
            (abs(c - b) - abs(c - a) for a, b, c in zip(x, other, v, strict=True)), Fraction(0)
        )
        gap = sum((abs(a - b) for a, b in zip(x, other, strict=True)), Fraction(0))
        require(loss / scale <= gap, f"x={x}, x'={other}, output {v}: {loss / scale} > {gap}")
    return "4096 triples of vectors and outputs, eps = 1 (the loss is linear in eps)"


CLAIMS = (
    ALP.verified(
        "Algorithm 1",
        "Laplace noise of scale 1/eps on every entry changes densities by at most a factor "
        "e^(eps * l1 distance).",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(49, 50), "scale 0.98/eps is enough"),
    ),
)
