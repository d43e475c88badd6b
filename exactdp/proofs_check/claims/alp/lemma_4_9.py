"""ALP, Lemma 4.9: tail of the distance between an entry and its estimate."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, Mutant, require
from exactdp.proofs_check.claims.alp._model import estimate_law
from exactdp.proofs_check.claims.alp._tails import CASES, rates, tail_bound
from exactdp.proofs_check.claims.alp._walk import last_return
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _tail(extra: int, power: Fraction, share: Fraction) -> str:
    """P(|y - y~| >= t) <= share of the bound, at every t where it jumps; y up to m + extra."""
    m = 7
    for alpha, collision in CASES:
        p, q = rates(alpha, collision)
        for y in range(m + 1 + extra):
            law = estimate_law(min(y, m), m, p, q).map(lambda e: abs(y - e))
            for t in sorted(law.support - {Fraction(0)}):
                exact = law.probability(lambda e: e >= t)
                with precision(64):
                    fine = bool(ball(exact) <= ball(share) * tail_bound(q, t * power))
                require(fine, f"alpha={alpha}, k/s={collision}, y={y}, tau={t}: {float(exact)}")
    return "six pairs (alpha, k/s), every y up to m = 7, every jump of the tail"


def _walk_tail(root: arb | None) -> str:
    """P(last nonnegative step >= t) against half the bound, t up to 40."""
    for p in (Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3), Fraction(9, 20)):
        for t in range(1, 41):
            exact = 1 - sum((last_return(p, j) for j in range((t + 1) // 2)), Fraction(0))
            with precision(64):
                fine = bool(ball(exact) <= tail_bound(p, Fraction(t, 2), root) / 2)
            require(fine, f"p={p}, tau={t}: {float(exact)}")
    return "p = 1/1000, 1/10, 1/3, 9/20, tau up to 40"


def _central(shift: Fraction) -> str:
    """C(2j, j) sqrt(pi (j + shift)) <= 4^j, with I_n the integral of sin^n from 0 to pi.

    I_2j = pi C(2j, j)/4^j and I_(2j-1) = 4^j/(j C(2j, j)); I_2j <= I_(2j-1), because sin <= 1.
    """
    import sympy as sp

    for n in (1, 2, 5, 50, 500):
        with precision(128):
            fine = bool(
                ball(Fraction(comb(2 * n, n), 4**n)) * (arb.pi() * ball(n + shift)).sqrt() <= 1
            )
        require(fine, f"j={n}")
    _sine_integrals()
    j = sp.symbols("j", positive=True)
    even, odd = sp.pi * sp.binomial(2 * j, j) / 4**j, 4**j / (j * sp.binomial(2 * j, j))
    over = Fraction(str(sp.simplify((even * odd * (j + sp.Rational(shift)) / sp.pi - 1) * j)))
    require(over <= 0, f"the square of the left side over the right is up to 1 + {over}/j")
    return "by I_2j^2 <= I_2j I_(2j-1) = pi/j, for all j; values at j = 1 to 500"


def _sine_integrals() -> None:
    """The closed forms above: the first two, and n I_n = (n - 1) I_(n-2) by parts."""
    import sympy as sp

    x, j = sp.symbols("x j", positive=True)
    n = sp.symbols("n", integer=True, positive=True)
    slope = sp.diff(-sp.cos(x) * sp.sin(x) ** (n - 1), x)
    rest = slope - n * sp.sin(x) ** n + (n - 1) * sp.sin(x) ** (n - 2)
    parts = sp.trigsimp(sp.powsimp(sp.expand(rest / sp.sin(x) ** (n - 2))))
    require(parts == 0, f"by parts: {parts}")
    first = sp.integrate(1, (x, 0, sp.pi)), sp.integrate(sp.sin(x), (x, 0, sp.pi))
    even, odd = sp.pi * sp.binomial(2 * j, j) / 4**j, 4**j / (j * sp.binomial(2 * j, j))
    require((even.subs(j, 0), odd.subs(j, 1)) == first, f"I_0 and I_1 are {first}")
    for name, form, ratio in (
        ("even", even, (2 * j + 1) / (2 * j + 2)),
        ("odd", odd, 2 * j / (2 * j + 1)),
    ):
        rest = sp.simplify(sp.combsimp(form.subs(j, j + 1) / form) - ratio)
        require(rest == 0, f"{name}: off by {rest}")


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 4.9",
        statement="For any fixed index, P(|y_i - y~_i| >= tau) <= 2 (4 (p - "
        "p^2))^(tau/2)/(sqrt(pi) (1 - 2p)) for tau > 0, p = 1/(gamma + 2); at most 0.31 of it is "
        "reached.",
        outcome="verified",
        method="certified numerics",
        condition="y_i <= m, which Lemmas 4.7 and 4.11 state and this one does not repeat",
        check=lambda: _tail(0, Fraction(1, 2), Fraction(31, 100)),
        mutant=Mutant(
            "y_i may exceed m",
            lambda: _tail(6, Fraction(1, 2), Fraction(1)),
            elsewhere="the mutant drops the condition",
        ),
        note="The proof counts both walks in full and the furthest maximizer for the average, and "
        "estimates the central binomial coefficients.",
    ),
    ALP.verified(
        "Lemma 4.9, decay",
        "The exponent tau/2 of the bound is about the best: with 0.64 tau it still holds for all "
        "entries of 7 columns, with 0.65 tau it does not.",
        "certified numerics",
        **varied(partial(_tail, 0), Fraction(64, 100), Fraction(65, 100), "0.65 tau", Fraction(1)),
        ours=True,
    ),
    ALP.verified(
        "Lemma 4.9, proof, display",
        "The last nonnegative step is >= tau with probability at most (4 (p - p^2))^(tau/2)/"
        "(sqrt(pi) (1 - 2p)).",
        "certified numerics",
        check=lambda: _walk_tail(None),
        mutant=Mutant("2.1 instead of sqrt(pi) = 1.77", lambda: _walk_tail(arb("2.1"))),
    ),
    ALP.proved(
        "Lemma 4.9, proof, central binomial coefficient",
        "C(2j, j) <= 4^j/sqrt(pi j) for j >= 1.",
        "symbolic",
        **varied(_central, Fraction(0), Fraction(3, 10), "sqrt(pi (j + 0.3)) in the denominator"),
        note="Shown as Wallis did, by the integrals of sin^n.",
    ),
)
