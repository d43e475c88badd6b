"""ALP, Definition 2.4: density and distribution function of the Laplace distribution."""

from __future__ import annotations

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _distribution(factor: int) -> str:
    """The integral of eps/2 e^(-eps |t| factor) is the stated distribution function."""
    import sympy as sp

    t, tau, eps = sp.symbols("t tau varepsilon", real=True)
    eps = sp.symbols("varepsilon", positive=True)
    left = sp.integrate(eps / 2 * sp.exp(factor * eps * t), (t, -sp.oo, tau))
    require(sp.simplify(left - sp.exp(tau * eps) / 2) == 0, f"below 0: {left}")
    whole = sp.integrate(eps / 2 * sp.exp(factor * eps * t), (t, -sp.oo, 0))
    right = whole + sp.integrate(eps / 2 * sp.exp(-factor * eps * t), (t, 0, tau))
    require(sp.simplify(right - (1 - sp.exp(-tau * eps) / 2)) == 0, f"above 0: {right}")
    return "both branches, integrated"


CLAIMS = (
    ALP.proved(
        "Definition 2.4",
        "The density eps/2 e^(-|t| eps) integrates to e^(t eps)/2 below 0 and 1 - e^(-t eps)/2 "
        "from 0 on.",
        "symbolic",
        **varied(_distribution, 1, 2, "the exponent is doubled"),
    ),
)
