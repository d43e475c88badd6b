"""ALP, Lemma 4.15: tail of the error after scaling; the second formula lacks a factor 4."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.alp._tails import (
    CASES,
    entry_law,
    quantile_steps,
    rates,
    tail_bound,
)
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_M = 6
_PARTS = (Fraction(0), Fraction(7, 3), Fraction(6))


def _tail(share: Fraction) -> str:
    """P(|x - x~| >= t) < share of the bound, eps = 1/4."""
    eps = Fraction(1, 4)
    for (alpha, collision), part in product(CASES, _PARTS):
        law = entry_law(alpha * part, alpha, _M, collision).map(lambda e: e / eps)
        q = rates(alpha, collision)[1]
        for t in sorted(e for e in law.support if e >= alpha / eps):
            exact = law.probability(lambda e: e >= t)
            with precision(64):
                bound = tail_bound(q, t * eps / alpha / 2 - Fraction(1, 2))
                fine = bool(ball(exact) < ball(share) * bound)
            require(fine, f"alpha={alpha}, k/s={collision}, tau={t}: {float(exact)}")
    return "eps = 1/4, six pairs (alpha, k/s), three x, every jump of the tail from alpha/eps on"


def _quantile(factor: int) -> str:
    """P(error < (1 + 2 log(...)/log(1/(4p - factor p^2))) alpha/eps) >= 1 - psi."""
    eps, psis = Fraction(1, 4), (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))
    for (alpha, collision), part, psi in product(CASES, _PARTS, psis):
        q = rates(alpha, collision)[1]
        law = entry_law(alpha * part, alpha, _M, collision).map(lambda e: e / eps)
        with precision(64):
            limit = (1 + quantile_steps(q, psi, 4 * q - factor * q * q)) * ball(alpha / eps)
        inside = law.probability(lambda e: bool(ball(e) < limit))
        require(
            inside >= 1 - psi,
            f"alpha={alpha}, k/s={collision}, p={q}, psi={psi}: P(error < {float(limit):.4g}) = "
            f"{float(inside):.4g}",
        )
    return "eps = 1/4, psi = 1/2, 1/10, 1/1000, six pairs (alpha, k/s), three x, exact laws"


CLAIMS = (
    Quibble(
        paper="ALP",
        item="Lemma 4.15",
        statement="With probability at least 1 - psi the error is below (1 + 2 log(2/(psi sqrt(pi)"
        " (1 - 2p)))/log(1/(4p - p^2))) alpha/epsilon.",
        printed=Printed(
            r"\log(1/(4p - p^2))",
            "Section 4.3, Lemma 4.15, second display",
            418,
        ),
        method="certified numerics",
        check=lambda: _quantile(1),
        example="""
>>> from math import log, pi, sqrt
>>> alpha, eps, psi, p = 1, 1, 0.1, 1 / 3                 # no collisions: gamma = alpha
>>> above = 2 * log(2 / (psi * sqrt(pi) * (1 - 2 * p)))
>>> (1 + above / log(1 / (4 * p - p * p))) * alpha / eps < 0   # no error is below 0
True
>>> (1 + above / log(1 / (4 * p - 4 * p * p))) * alpha / eps > 0
True
""",
        extraction="possible, a single digit; Lemmas 4.10 and 4.11 print 4p - 4p^2 correctly",
        corrected=ALP.verified(
            "Lemma 4.15, corrected",
            "The denominator is log(1/(4p - 4p^2)), as in Lemma 4.11.",
            "certified numerics",
            **varied(_quantile, 4, 1, "the denominator is log(1/(4p - p^2))"),
        ),
        note="A digit lost, in print or in extraction: the proof refers to Lemma 4.11, which has "
        "it. For 4p - p^2 > 1 (p > 0.268, e.g. alpha = 1) the formula is negative; for smaller p "
        "it is true.",
    ),
    ALP.verified(
        "Lemma 4.15, first bound",
        "For x_i <= beta and tau >= alpha/epsilon, P(|x_i - x~_i| >= tau) < 2 (4 (p - p^2))^(tau "
        "epsilon/(2 alpha) - 1/2)/(sqrt(pi) (1 - 2p)); at most 0.22 of it is reached.",
        "certified numerics",
        **varied(_tail, Fraction(22, 100), Fraction(21, 100), "at most 0.21 of it"),
    ),
)
