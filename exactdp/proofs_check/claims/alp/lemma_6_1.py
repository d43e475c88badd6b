"""ALP, Lemma 6.1: the logarithm, capped at 0, does not increase distances."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _mapped(x: Fraction, base: Fraction, factor: Fraction) -> arb:
    """max(log_B(x factor ln B), 0)."""
    if not x:
        return arb(0)
    log_base = ball(base).log()
    return ((ball(x * factor) * log_base).log() / log_base).max(arb(0))


def _lipschitz(factor: Fraction) -> str:
    """From each point of a grid to the next; distances add up."""
    grid = [Fraction(n, 16) for n in range(400)]
    for base in (Fraction(21, 20), Fraction(3, 2), Fraction(3), Fraction(50)):
        with precision(64):
            images = [_mapped(x, base, factor) for x in grid]
            for (x, a), (y, b) in pairwise(zip(grid, images, strict=True)):
                case = f"B={base}: {x} and {y} become {a.str(5)} and {b.str(5)}"
                require(bool(b - a <= ball(y - x)), case)
    return "B = 1.05, 1.5, 3, 50, entries 0, 1/16, ..., 24 15/16"


def _derivative(shift: int) -> str:
    """d/dx log_B(x ln B) = 1/(x ln B) is 1 at x = 1/ln B, where the map is 0."""
    import sympy as sp

    x, b = sp.symbols("x b", positive=True)  # b = ln B
    image = sp.log(x * b) / b
    slope = sp.diff(image, x)
    require(sp.simplify(slope - 1 / (x * b)) == 0, f"slope {slope}")
    require(slope.subs(x, shift / b) == 1, f"slope {slope.subs(x, shift / b)} at {shift}/ln B")
    require(image.subs(x, shift / b) == 0, "value at the kink")
    return "slope 1 at 1/ln B, falling beyond; continuous there"


CLAIMS = (
    ALP.verified(
        "Lemma 6.1",
        "x -> max(log_B(x ln B), 0) never increases distances, so the projection on logarithms is "
        "epsilon-differentially private.",
        "certified numerics",
        **varied(_lipschitz, Fraction(1), Fraction(51, 50), "max(log_B(1.02 x ln B), 0)"),
    ),
    ALP.proved(
        "Lemma 6.1, proof, derivative",
        "The derivative 1/(x ln B) is at most 1 from x = 1/ln B on, where the map leaves 0.",
        "symbolic",
        **varied(_derivative, 1, 2, "from 2/ln B on"),
    ),
)
