"""CSH, Lemma 2.5: the exact delta of the Gaussian mechanism (Balle and Wang 2018)."""

from __future__ import annotations

from fractions import Fraction

from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import BITS, excess, hockey, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_CASES = [
    (Fraction(e), Fraction(m))
    for e in ("0", "0.35", "1", "5")
    for m in ("0.05", "0.7", "1", "2.5", "8")
]


def _closed_form(scale: Fraction) -> str:
    """The closed form at `scale` times the sensitivity is the integral."""
    with precision(BITS):
        for epsilon, mu in _CASES:
            direct = excess(ball(epsilon), ball(mu))
            closed = hockey(ball(epsilon), ball(mu * scale))
            case = (
                f"epsilon={epsilon}, sensitivity/sigma={mu}: {direct.mid()}, stated {closed.mid()}"
            )
            require(bool(direct.overlaps(closed)) and direct.rad() < 1e-25, case)
    return f"{len(_CASES)} points, the integral of (p - e^epsilon q)_+ to 25 digits"


def _rises(sign: int) -> str:
    """d/dmu of the closed form is sign * phi(mu/2 - epsilon/mu)."""
    import sympy as sp

    epsilon, mu, u = sp.symbols("epsilon mu u", positive=True)
    phi = sp.exp(-(u**2) / 2)
    up, down = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    # chain rule with phi for the derivative of Phi
    slope = phi.subs(u, up) * sp.diff(up, mu)
    slope -= sp.exp(epsilon) * phi.subs(u, down) * sp.diff(down, mu)
    rest = sp.simplify(sp.powsimp(sp.expand(slope / phi.subs(u, up)), force=True))
    require(rest == sign, f"the derivative over phi(mu/2 - epsilon/mu) is {rest}")
    return "the derivative by mu is phi(mu/2 - epsilon/mu) > 0"


CLAIMS = (
    CSH.verified(
        "Lemma 2.5",
        "N(f, sigma^2 I) noise at l2 sensitivity D is (epsilon, delta)-DP as soon as "
        "Phi(D/(2 sigma) - epsilon sigma/D) - e^epsilon Phi(-D/(2 sigma) - epsilon sigma/D) "
        "<= delta; at distance D this is the exact delta.",
        "certified numerics",
        **varied(_closed_form, Fraction(1), Fraction(99, 100), "the same with 99 percent of D"),
        note="by rotation the two output laws differ along one axis only",
    ),
    CSH.proved(
        "Lemma 2.5, growth with the sensitivity",
        "The left side rises with D, so the largest distance between neighbours decides.",
        "symbolic",
        **varied(_rises, 1, -1, "it falls"),
    ),
)
