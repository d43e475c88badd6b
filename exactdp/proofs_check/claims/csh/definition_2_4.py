"""CSH, Definition 2.4: the normal density, printed without the square root."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def _density(power: Fraction) -> str:
    """exp(-x^2/(2 sigma^2)) (2 pi sigma^2)^(-power) has mass 1 and variance sigma^2."""
    import sympy as sp

    x, sigma = sp.symbols("x"), sp.symbols("sigma", positive=True)
    bell = sp.exp(-(x**2) / (2 * sigma**2))
    norm = (2 * sp.pi * sigma**2) ** sp.Rational(power.numerator, power.denominator)
    mass, square = (
        sp.simplify(sp.integrate(f * bell, (x, -sp.oo, sp.oo)) / norm) for f in (1, x**2)
    )
    require(mass == 1, f"total mass {mass}, at sigma = 1: {sp.N(mass.subs(sigma, 1), 6)}")
    require(square == sigma**2, f"mean square {square}")
    return "mass 1 and mean square sigma^2, integrated for every sigma > 0"


CLAIMS = (
    Refuted(
        paper="CSH",
        item="Definition 2.4",
        printed=Printed(
            r"\phi(x,\sigma^{2})=\frac{1}{2\pi\sigma^{2}}\exp(-\frac{x^{2}}{2\sigma^{2}})",
            "Section 2, Definition 2.4",
            77,
        ),
        statement="N(0, sigma^2) has the density exp(-x^2/(2 sigma^2))/(2 pi sigma^2).",
        severity="cosmetic",
        method="symbolic",
        check=lambda: _density(Fraction(1)),
        example="""
>>> from mpmath import exp, inf, nstr, pi, quad
>>> nstr(quad(lambda x: exp(-x**2/2) / (2*pi), [-inf, 0, inf]), 6)   # sigma = 1
'0.398942'
""",
        extraction="no: LaTeX source and plain text of the formula both lack the root, and roots "
        "survive everywhere else in the text",
        corrected=CSH.proved(
            "Definition 2.4, corrected",
            "N(0, sigma^2) has the density exp(-x^2/(2 sigma^2))/sqrt(2 pi sigma^2).",
            "symbolic",
            **varied(_density, Fraction(1, 2), Fraction(1), "without the root"),
            note="Phi without a variance is used as the standard normal distribution function",
        ),
    ),
)
