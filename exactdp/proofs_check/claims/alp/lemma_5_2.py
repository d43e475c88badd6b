"""ALP, Lemma 5.2: with t = 2 ln(d)/epsilon no zero entry is stored, most of the time."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _sparse(factor: Fraction) -> str:
    """P(a zero is stored) <= 1/(2d) at t = factor ln(d)/eps, all d entries being zero."""
    for d, eps in product((2, 3, 10, 100, 300), (Fraction(1, 10), Fraction(3))):
        with precision(128):
            t = ball(factor) * ball(d).log() / ball(eps)
            chance = (-ball(eps) * t).exp() / 2  # P(Lap(1/eps) >= t), Definition 2.4
            some = 1 - (1 - chance) ** d
            require(bool(some <= ball(Fraction(1, 2 * d))), f"d={d}, eps={eps}: {some.str(5)}")
    return "d = 2, 3, 10, 100, 300, eps = 1/10, 3, no nonzero entry (the worst case)"


def _zero(factor: int) -> str:
    """e^(-eps t)/2 = 1/(2 d^2) at t = factor ln(d)/eps."""
    import sympy as sp

    d, eps = sp.symbols("d varepsilon", positive=True)
    t = factor * sp.log(d) / eps
    gap = sp.simplify(sp.exp(-t * eps) / 2 - 1 / (2 * d**2))
    require(gap == 0, f"off by {gap}")
    return "identity in d and eps"


CLAIMS = (
    ALP.verified(
        "Lemma 5.2",
        "With t = 2 ln(d)/epsilon the output of Algorithm 6 is k-sparse with probability at least "
        "1 - 1/(2d).",
        "certified numerics",
        **varied(_sparse, Fraction(2), Fraction(199, 100), "t = 1.99 ln(d)/epsilon"),
    ),
    ALP.proved(
        "Lemma 5.2, proof, display",
        "A zero entry is stored with probability e^(-t epsilon)/2 = 1/(2 d^2).",
        "symbolic",
        **varied(_zero, 2, 1, "t = ln(d)/epsilon"),
    ),
)
