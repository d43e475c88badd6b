"""ALP, Lemma 7.2: error for histograms without collisions."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _error(share: Fraction) -> str:
    """E|x - x~| <= share * 8 b/(b - 1)^2, b = e^eps, every x up to beta = 8."""
    for base in (Fraction(3, 2), Fraction(3), Fraction(50), Fraction(10**4)):
        p = 1 / (base + 1)
        bound = share * 8 * base / (base - 1) ** 2
        for x in range(9):
            error = estimate_law(x, 8, p, p).expectation(lambda e: abs(x - e))
            require(error <= bound, f"e^eps={base}, x={x}: {float(error)} > {float(bound)}")
    return "e^eps = 3/2, 3, 50, 10^4, every x up to beta = 8, all noise"


def _algebra(factor: int) -> str:
    import sympy as sp

    b = sp.symbols("b", positive=True)
    p = 1 / (b + 1)
    gap = sp.simplify(2 * 4 * (p - p**2) / (1 - 2 * p) ** 2 - factor * b / (b - 1) ** 2)
    require(gap == 0, f"off by {gap}")
    return "identity"


def _growth(constant: int) -> str:
    """The bound times e^eps tends to the constant for large eps, times eps^2 for small eps."""
    import sympy as sp

    eps = sp.symbols("varepsilon", positive=True)
    bound = 8 * sp.exp(eps) / (sp.exp(eps) - 1) ** 2
    ends = sp.limit(bound * sp.exp(eps), eps, sp.oo), sp.limit(bound * eps**2, eps, 0)
    require(ends == (constant, constant), f"limits {ends}")
    return f"limits {ends[0]} and {ends[1]}"


CLAIMS = (
    ALP.verified(
        "Lemma 7.2",
        "Without collisions E|x_i - x~_i| <= 8 e^epsilon/(e^epsilon - 1)^2 for entries up to beta; "
        "at most half of it is reached.",
        "enumeration",
        **varied(_error, Fraction(1, 2), Fraction(49, 100), "at most 0.49 of it"),
        note="The estimate is the average of the maximizers, the proof bounds the distance to the "
        "furthest one: twice as far where two are next to each other.",
    ),
    ALP.proved(
        "Lemma 7.2, proof, display",
        "2 * 4 (p - p^2)/(1 - 2p)^2 = 8 e^epsilon/(e^epsilon - 1)^2 at p = 1/(e^epsilon + 1).",
        "symbolic",
        **varied(_algebra, 8, 4, "4 instead of 8"),
    ),
    ALP.proved(
        "Section 7, growth of the bound of Lemma 7.2",
        "The bound is O(1/e^epsilon) for large and O(1/epsilon^2) for small epsilon, with constant "
        "8 both times.",
        "symbolic",
        **varied(_growth, 8, 4, "with constant 4"),
    ),
)
