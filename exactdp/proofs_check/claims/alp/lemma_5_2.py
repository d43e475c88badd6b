"""ALP, Lemma 5.2: with t = 2 ln(d)/epsilon no zero entry is stored, most of the time."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _sparse(factor: Fraction) -> str:
    """1 - (1 - 1/(factor d^2))^d <= 1/(2d): exactly, all d entries being zero."""
    for d in (1, 2, 3, 10, 100, 300):
        chance = 1 / (factor * d**2)
        some = 1 - (1 - chance) ** d
        require(some <= Fraction(1, 2 * d), f"d={d}: {float(some)}")
    return "d = 1, 2, 3, 10, 100, 300, no nonzero entry (the worst case)"


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
        "enumeration",
        **varied(
            _sparse, Fraction(2), Fraction(39, 20), "a zero is stored with probability 1/(1.95 d^2)"
        ),
    ),
    ALP.proved(
        "Lemma 5.2, proof, display",
        "A zero entry is stored with probability e^(-t epsilon)/2 = 1/(2 d^2).",
        "symbolic",
        **varied(_zero, 2, 1, "t = ln(d)/epsilon"),
    ),
)
