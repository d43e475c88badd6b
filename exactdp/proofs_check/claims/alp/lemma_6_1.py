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


def _derivative(start: Fraction) -> str:
    """d/dx log_B(x ln B) = 1/(x ln B) falls, and is 1 at x = 1/ln B, where the map is 0."""
    import sympy as sp

    x, b = sp.symbols("x b", positive=True)  # b = ln B
    image = sp.log(x * b) / b
    slope = sp.simplify(sp.diff(image, x))
    require(slope == 1 / (x * b), f"slope {slope}")
    require(image.subs(x, 1 / b) == 0, "value at the kink")
    require(bool(sp.diff(slope, x).is_negative), "the slope does not fall")
    most = slope.subs(x, sp.Rational(start) / b)
    require(most <= 1, f"slope {most} at {start}/ln B")
    return "slope 1 at 1/ln B, falling; continuous there"


CLAIMS = (
    ALP.verified(
        "Lemma 6.1",
        "x -> max(log_B(x ln B), 0) never increases distances, which is what Lemma 4.12 needs for "
        "the projection on logarithms.",
        "certified numerics",
        **varied(_lipschitz, Fraction(1), Fraction(51, 50), "max(log_B(1.02 x ln B), 0)"),
    ),
    ALP.proved(
        "Lemma 6.1, proof, derivative",
        "The derivative 1/(x ln B) is at most 1 from x = 1/ln B on, where the map leaves 0.",
        "symbolic",
        **varied(_derivative, Fraction(1), Fraction(49, 50), "from 0.98/ln B on"),
    ),
)
