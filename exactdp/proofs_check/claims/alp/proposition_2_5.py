"""ALP, Proposition 2.5: error of the Laplace mechanism, with the constants behind the O."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _mean(constant: Fraction) -> str:
    import sympy as sp

    t, eps = sp.symbols("t varepsilon", positive=True)
    mean = 2 * sp.integrate(t * eps / 2 * sp.exp(-eps * t), (t, 0, sp.oo))
    require(sp.simplify(mean - sp.Rational(constant) / eps) == 0, f"E|Lap| = {mean}")
    return "E|Lap(1/eps)| = 1/eps"


def _tail(sides: int) -> str:
    """P(|Lap(1/eps)| > ln(1/psi)/eps) = psi."""
    import sympy as sp

    eps, psi = sp.symbols("varepsilon psi", positive=True)
    a, h = sp.symbols("a h", positive=True)
    tail = sp.integrate(eps / 2 * sp.exp(-eps * h), (h, a, sp.oo))
    outside = sides * tail.subs(a, sp.log(1 / psi) / eps)
    require(sp.simplify(outside - psi) == 0, f"P = {sp.simplify(outside)}")
    return "the tail is exactly psi, for psi <= 1"


def _maximum(offset: Fraction) -> str:
    """E max of d values |Lap(1)| is H_d <= offset + ln d."""
    import sympy as sp

    from exactdp.balls import ball, precision

    x = sp.symbols("x", positive=True)
    harmonic = Fraction(0)
    for d in range(1, 200):
        harmonic += Fraction(1, d)
        if d < 6:
            survival = sp.expand(1 - (1 - sp.exp(-x)) ** d)
            mean = sp.integrate(survival, (x, 0, sp.oo))
            require(mean == sp.Rational(harmonic), f"d={d}: E max = {mean}")
        with precision(64):
            require(bool(ball(harmonic) <= ball(offset) + ball(d).log()), f"d={d}: {harmonic}")
    return "E max = 1 + 1/2 + ... + 1/d, integrated for d < 6; at most 1 + ln d for d < 200"


CLAIMS = (
    ALP.proved(
        "Proposition 2.5",
        "P(|Lap(1/eps)| <= ln(1/psi)/eps) >= 1 - psi, with equality for psi <= 1.",
        "symbolic",
        **varied(_tail, 2, 1, "only one tail counts"),
    ),
    ALP.proved(
        "Proposition 2.5, per-entry error",
        "The expected error of an entry is exactly 1/eps.",
        "symbolic",
        **varied(_mean, Fraction(1), Fraction(49, 50), "it is 0.98/eps"),
    ),
    ALP.verified(
        "Proposition 2.5, maximum error",
        "The expected maximum error is (1 + 1/2 + ... + 1/d)/eps <= (1 + ln d)/eps.",
        "symbolic",
        **varied(_maximum, Fraction(1), Fraction(49, 50), "at most (0.98 + ln d)/eps"),
        note="O(log d/eps) needs d >= 2: at d = 1 the logarithm is 0 and the error is 1/eps.",
    ),
)
