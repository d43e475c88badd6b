"""CP, Theorem 4.3: the rates of the medium privacy regime, as far as they follow from 4.2."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

#: Just above 1/e, the largest value of exp(-eps) for eps >= 1.
_INVERSE_E = Fraction(367_880, 1_000_000)


def _noise(constant: Fraction) -> str:
    """e^eps g^2 <= constant for eps >= 1: with u = e^(-eps) it is (2 - u)^2/(1 - u)^3."""

    def room(u: arb) -> arb:
        return ball(constant) * (1 - u) ** 3 - (2 - u) ** 2

    return f"u = exp(-eps) in [0, 0.36788] in {always_positive(room, [(0, _INVERSE_E)])} parts"


def _samples(constant: Fraction) -> str:
    """(1+b/2) D ((2/3)b + sqrt(m/n)) g <= alpha with n = constant D^2 m/(e^eps alpha^2).

    beta = alpha/(4 D g), at most 1/2, so that D g (2/3) beta = alpha/6.
    """
    tail = _noise(Fraction(1055, 100))
    with precision(64):
        for eps in (1, 2, 5):
            e = ball(eps).exp()
            g = (2 * e - 1) / (e - 1) ** 1.5
            for alpha in (Fraction(1, 100), Fraction(1, 4)):
                for d in (1, 5):
                    beta = ball(alpha / (4 * d)) / g
                    root = ball(alpha / d) * (e / ball(constant)).sqrt()
                    error = (1 + ball(Fraction(1, 4))) * d * (2 * beta / 3 + root) * g
                    case = f"eps={eps}, alpha={alpha}, D={d}: {error.str(6)}"
                    require(bool(beta <= ball(Fraction(1, 2))), f"{case}, beta={beta.str(4)}")
                    require(bool(error <= ball(alpha)), case)
    return f"{tail}; 12 sets of parameters with beta <= 1/2"


def _first_two_terms(most: Fraction) -> str:
    """1/eps^2 <= 1/(c alpha)^2 for eps = 1 + u and c alpha = most/(1 + v), all u, v >= 0.

    Multiplied by most^2 eps^2 the difference is a polynomial in u and v.
    """
    import sympy as sp

    u, v = sp.symbols("u v", nonnegative=True)
    eps, below = 1 + u, sp.Rational(most) / (1 + v)
    gap = sp.Poly(sp.simplify((1 / below**2 - 1 / eps**2) * eps**2 * sp.Rational(most) ** 2), u, v)
    constant = Fraction(str(gap.nth(0, 0)))
    require(min((gap - gap.nth(0, 0)).coeffs()) > 0, f"a negative coefficient: {gap}")
    require(constant >= 0, f"eps = 1, c alpha = {most}: the difference is {constant}")
    return "no negative coefficient in eps - 1 and 1/(c alpha) - 1"


CLAIMS = (
    Conditional(
        paper="CP",
        item="Theorem 4.3",
        statement="O(m/(e^eps alpha^2)) samples give l2 error alpha: n = 27 D^2 m/(e^eps alpha^2) "
        "for s-sparse p, eps >= 1 and beta <= alpha/(4 D g).",
        outcome="verified",
        method="certified numerics",
        condition="the bound of Theorem 4.2 with beta <= 1/2, and RIP of order 2s of the "
        "standardised matrix, for which m must be of the order e^eps s log(k/s): the printed m is "
        "that for l1, and for l2 only where alpha = O(1/sqrt(s))",
        rests_on="CP-Section-4-rows-for-RIP",
        **varied(_samples, Fraction(27), Fraction(26), "n = 26 D^2 m/(e^eps alpha^2)"),
    ),
    CP.proved(
        "Theorem 4.3, noise factor",
        "e^eps (2e^eps-1)^2/(e^eps-1)^3 <= 10.55 for eps >= 1, so that "
        "the noise m g^2/n is of the order m/(e^eps n).",
        "interval search",
        **varied(_noise, Fraction(1055, 100), Fraction(1054, 100), "<= 10.54"),
    ),
    CP.proved(
        "Theorem 4.3, term for privacy",
        "For eps >= 1 and c alpha <= 1 the term e^eps log(k/delta)/eps^2 of m never "
        "exceeds e^eps log(k/delta)/(c alpha)^2: it asks for nothing.",
        "symbolic",
        **varied(_first_two_terms, Fraction(1), Fraction(102, 100), "also for c alpha <= 1.02"),
        note="taken alone the term would secure beta of the order eps, beyond the beta <= 1 of "
        "Lemma 4.1; e^eps log(k/delta) would be the natural term",
    ),
    CP.not_checkable(
        "Theorem 4.3, rates",
        "O(m/(e^eps alpha^2)) samples for l2 and O(s m/(e^eps alpha^2)) for l1, with "
        "probability 1 - delta - e^(-m), for 1 <= eps <= log m.",
        "asymptotic with unstated constants; the explicit parts and the condition on m are "
        "checked in the other entries on Theorem 4.3 and Section 4",
        note="Section 1 announces 1 <= eps <= log k, Table 1 and this theorem log m; where the "
        "second term of m dominates, its e^eps cancels that of the rate: n is of the order "
        "log(k/delta)/(c^2 alpha^4) for every eps",
    ),
)
