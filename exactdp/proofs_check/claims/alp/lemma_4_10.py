"""ALP, Lemma 4.10: the tail bound solved for tau."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import estimate_law
from exactdp.proofs_check.claims.alp._tails import CASES, quantile_steps, rates, tail_bound
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_PSIS = (Fraction(9, 10), Fraction(1, 10), Fraction(1, 1000))


def _solved(factor: Fraction) -> str:
    """At tau = factor * (stated) the bound of Lemma 4.9 is psi."""
    for (alpha, collision), psi in product(CASES, _PSIS):
        _, q = rates(alpha, collision)
        with precision(128):
            tau = quantile_steps(q, psi) * ball(factor)
            base = tail_bound(q, Fraction(0)) * ball(4 * (q - q * q)) ** (tau / 2)
            equal = bool(abs(base - ball(psi)) < ball(Fraction(1, 10**20)))
            require(equal, f"alpha={alpha}, k/s={collision}: {base}")
    return "six pairs (alpha, k/s), psi = 9/10, 1/10, 1/1000, at 128 bits"


def _quantile(share: Fraction) -> str:
    """Errors e that are reached with probability above psi: e <= share of the bound for psi."""
    m = 7
    for (alpha, collision), y in product(CASES, range(m + 1)):
        p, q = rates(alpha, collision)
        law = estimate_law(y, m, p, q).map(lambda e: abs(y - e))
        for size in sorted(law.support - {Fraction(0)}):
            psi = law.probability(lambda e: e >= size) * Fraction(999, 1000)
            with precision(64):
                fine = bool(ball(size) <= ball(share) * quantile_steps(q, psi))
            require(fine, f"alpha={alpha}, k/s={collision}, y={y}: {size} at psi={float(psi)}")
    return "six pairs (alpha, k/s), every y up to m = 7, psi just below each jump of the tail"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 4.10",
        statement="With probability at least 1 - psi, |y_i - y~_i| <= 2 log(2/(psi sqrt(pi) (1 - "
        "2p)))/log(1/(4p - 4p^2)); at most 0.78 of it is needed.",
        outcome="verified",
        method="certified numerics",
        condition="y_i <= m, which Lemmas 4.7 and 4.11 state and this one does not repeat",
        **varied(_quantile, Fraction(78, 100), Fraction(77, 100), "0.77 of that is enough"),
    ),
    ALP.verified(
        "Lemma 4.10, proof, display",
        "psi = 2 (4 (p - p^2))^(tau/2)/(sqrt(pi) (1 - 2p)) solved for tau gives the stated value.",
        "certified numerics",
        **varied(_solved, Fraction(1), Fraction(99, 100), "0.99 times that"),
    ),
)
