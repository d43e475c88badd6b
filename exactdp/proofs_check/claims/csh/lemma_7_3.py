"""CSH, Lemma 7.3: from zCDP to approximate differential privacy."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting import gaussian, zcdp
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import BITS, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_CASES = [
    (Fraction(r), Fraction(d))
    for r in ("0.0001", "0.02", "0.5", "4")
    for d in ("0.3", "1e-3", "1e-10", "1e-100")
]


def _epsilon(rho: Fraction, delta: Fraction, twice: Fraction) -> Fraction:
    """rho + twice sqrt(rho log(1/delta)), rounded up."""
    with precision(BITS):
        value = ball(rho) + ball(twice) * (ball(rho) * -ball(delta).log()).sqrt()
        return Fraction(str(value.upper().str(25, radius=False))) * (1 + Fraction(1, 10**20))


def _optimal(twice: Fraction) -> str:
    """At this epsilon the best conversion, over all orders, allows a larger rho."""
    for rho, delta in _CASES:
        found = zcdp.rho(epsilon=_epsilon(rho, delta, twice), delta=delta)
        case = f"rho={rho}, delta={float(delta)}: best only with {float(found.upper):.6g}"
        require(rho <= found.lower, case)
    return f"{len(_CASES)} points, against the infimum over all orders"


def _gaussian(twice: Fraction) -> str:
    """Of the Gaussian mechanism, rho-zCDP at rho = 1/(2 sigma^2), less noise is enough for it."""
    for rho, delta in _CASES:
        least = gaussian.calibrate(epsilon=_epsilon(rho, delta, twice), delta=delta).sigma
        case = f"rho={rho}, delta={float(delta)}: sigma={float(least):.6g}"
        require(Fraction(least) ** 2 <= 1 / (2 * rho), case)
    return f"{len(_CASES)} points, the exact delta of the Gaussian mechanism"


def _order(numerator: int) -> str:
    """rho alpha + log(1/delta)/(alpha - 1) is least at alpha = 1 + sqrt(log(1/delta)/rho)."""
    import sympy as sp

    rho, log, above = sp.symbols("rho L alpha_minus_1", positive=True)
    stated = rho * (1 + above) + log / above
    best = sp.sqrt(log / rho)
    slope, bend = sp.diff(stated, above), sp.diff(stated, above, 2)
    require(sp.simplify(slope.subs(above, best)) == 0, "the slope there is not zero")
    require(bool(bend.is_positive), f"not convex: {bend}")
    gap = sp.simplify(stated.subs(above, best) - (rho + numerator * sp.sqrt(rho * log)))
    require(gap == 0, f"they differ by {gap}")
    return "by Markov's inequality for exp((alpha - 1) loss), at the best order"


CLAIMS = (
    CSH.verified(
        "Lemma 7.3",
        "rho-zCDP implies (rho + 2 sqrt(rho log(1/delta)), delta)-DP.",
        "certified numerics",
        **varied(_optimal, Fraction(2), Fraction(198, 100), "with 1.98 sqrt(..)"),
        note="log is natural, and delta < 1",
    ),
    CSH.proved(
        "Lemma 7.3, derivation",
        "The epsilon is the least of rho alpha + log(1/delta)/(alpha - 1), at "
        "alpha = 1 + sqrt(log(1/delta)/rho).",
        "symbolic",
        **varied(_order, 2, 1, "with sqrt(..) instead of 2 sqrt(..)"),
        note="the paper cites it",
        ours=True,
    ),
    CSH.verified(
        "Lemma 7.3, for the Gaussian mechanism",
        "At rho = 1/(2 sigma^2) the promise holds with the exact delta of Lemma 2.5.",
        "certified numerics",
        **varied(_gaussian, Fraction(2), Fraction(197, 100), "with 1.97 sqrt(..)"),
        ours=True,
    ),
)
