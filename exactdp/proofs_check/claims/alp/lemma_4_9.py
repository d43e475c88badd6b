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
    """C(2j, j) sqrt(pi (j + shift)) <= 4^j: the ratio of successive sides decides."""
    import sympy as sp

    for n in (1, 2, 5, 50, 500):
        with precision(128):
            fine = bool(
                ball(Fraction(comb(2 * n, n), 4**n)) * (arb.pi() * ball(n + shift)).sqrt() <= 1
            )
        require(fine, f"j={n}")
    j = sp.symbols("j", positive=True)
    c = sp.Rational(shift)
    growth = ((2 * j + 1) / (2 * j + 2)) ** 2 * (j + 1 + c) / (j + c)
    excess = sp.Poly(sp.expand(sp.numer(sp.together(growth - 1))), j)
    require(all(k >= 0 for k in excess.coeffs()), f"growth - 1 has numerator {excess.as_expr()}")
    return "the left side over the right grows with j, towards 1 (Wallis); values at j = 1 to 500"


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
        note="The quotient of the sides rises with j; that it tends to 1 is Wallis' product.",
    ),
)
