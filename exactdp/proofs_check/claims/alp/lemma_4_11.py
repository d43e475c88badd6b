"""ALP, Lemma 4.11: tail of the error of an entry."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate_law, round_law
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
_PARTS = (Fraction(0), Fraction(5, 2), Fraction(10, 3), Fraction(6))


def _tail(slope: Fraction) -> str:
    """P(|x - x~| >= t) < bound with exponent slope * t/alpha - 1/2, at jumps t >= alpha."""
    for (alpha, collision), part in product(CASES, _PARTS):
        law = entry_law(alpha * part, alpha, _M, collision)
        _, q = rates(alpha, collision)
        for t in sorted(e for e in law.support if e >= alpha):
            exact = law.probability(lambda e: e >= t)
            with precision(64):
                fine = bool(ball(exact) < tail_bound(q, slope * t / alpha - Fraction(1, 2)))
            require(
                fine, f"alpha={alpha}, k/s={collision}, x={alpha * part}, tau={t}: {float(exact)}"
            )
    return "six pairs (alpha, k/s), four x up to 6 alpha, every jump of the tail from alpha on"


def _quantile(one: Fraction) -> str:
    """P(|x - x~| < (one + steps) alpha) >= 1 - psi."""
    for (alpha, collision), part in product(CASES, _PARTS):
        law = entry_law(alpha * part, alpha, _M, collision)
        for psi in (Fraction(999, 1000), Fraction(1, 10), Fraction(1, 10**4)):
            with precision(64):
                limit = (ball(one) + quantile_steps(rates(alpha, collision)[1], psi)) * ball(alpha)
            inside = law.probability(lambda e: bool(ball(e) < limit))
            require(
                inside >= 1 - psi, f"alpha={alpha}, x={alpha * part}, psi={psi}: {float(inside)}"
            )
    return "six pairs (alpha, k/s), four x, three psi, exact laws"


def _pointwise(one: Fraction) -> str:
    """|x - x~| < (1 + |y - y~|) alpha for every outcome."""
    for alpha, part in product((Fraction(1), Fraction(3)), (Fraction(n, 8) for n in range(33))):
        for y in round_law(part).support:
            for guess in estimate_law(min(y, 5), 5, Fraction(1, 5), Fraction(1, 5)).support:
                error, inner = abs(alpha * (part - guess)), abs(y - guess)
                require(error < (one + inner) * alpha, f"x={alpha * part}, y={y}, y~={guess}")
    return "every outcome for 33 values of x and m = 5"


CLAIMS = (
    ALP.verified(
        "Lemma 4.11",
        "For x_i <= beta and tau >= alpha, P(|x_i - x~_i| >= tau) < 2 (4 (p - p^2))^(tau/(2 alpha) "
        "- 1/2)/(sqrt(pi) (1 - 2p)), p = 1/(gamma + 2).",
        "certified numerics",
        **varied(_tail, Fraction(1, 2), Fraction(4, 5), "the exponent is 0.8 tau/alpha - 1/2"),
        slack="the proof counts both walks in full and the furthest maximizer for the average, and "
        "estimates the central binomial coefficients",
    ),
    ALP.verified(
        "Lemma 4.11, quantile",
        "With probability at least 1 - psi, |x_i - x~_i| < (1 + 2 log(2/(psi sqrt(pi) (1 - 2p)))/"
        "log(1/(4p - 4p^2))) alpha.",
        "certified numerics",
        **varied(_quantile, Fraction(1), Fraction(3, 10), "0.3 instead of 1"),
    ),
    ALP.verified(
        "Lemma 4.11, proof",
        "|x_i - x~_i| < (1 + |y_i - y~_i|) alpha for every outcome.",
        "enumeration",
        **varied(_pointwise, Fraction(1), Fraction(17, 20), "0.85 instead of 1"),
        note="The text prints x'_i for the estimate.",
    ),
)
