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


def _tail(share: Fraction) -> str:
    """P(|x - x~| >= t) < share of the bound, at jumps t >= alpha."""
    for (alpha, collision), part in product(CASES, _PARTS):
        law = entry_law(alpha * part, alpha, _M, collision)
        _, q = rates(alpha, collision)
        for t in sorted(e for e in law.support if e >= alpha):
            exact = law.probability(lambda e: e >= t)
            with precision(64):
                fine = bool(
                    ball(exact) < ball(share) * tail_bound(q, t / alpha / 2 - Fraction(1, 2))
                )
            require(
                fine, f"alpha={alpha}, k/s={collision}, x={alpha * part}, tau={t}: {float(exact)}"
            )
    return "six pairs (alpha, k/s), four x up to 6 alpha, every jump of the tail from alpha on"


def _quantile(share: Fraction) -> str:
    """Errors e that are reached with probability above psi: e < share (1 + steps) alpha."""
    for (alpha, collision), part in product(CASES, _PARTS):
        law = entry_law(alpha * part, alpha, _M, collision)
        for size in sorted(law.support - {Fraction(0)}):
            psi = law.probability(lambda e: e >= size) * Fraction(999, 1000)
            with precision(64):
                steps = quantile_steps(rates(alpha, collision)[1], psi)
                fine = bool(ball(size) < ball(share * alpha) * (1 + steps))
            require(fine, f"alpha={alpha}, x={alpha * part}: {float(size)} at psi={float(psi)}")
    return "six pairs (alpha, k/s), four x, psi just below each jump of the tail, exact laws"


def _pointwise(one: Fraction) -> str:
    """|x - x~| < (1 + |y - y~|) alpha for every outcome."""
    for alpha, part in product((Fraction(1), Fraction(3)), (Fraction(n, 32) for n in range(129))):
        for y in round_law(part).support:
            for guess in estimate_law(min(y, 5), 5, Fraction(1, 5), Fraction(1, 5)).support:
                error, inner = abs(alpha * (part - guess)), abs(y - guess)
                require(error < (one + inner) * alpha, f"x={alpha * part}, y={y}, y~={guess}")
    return "every outcome for 129 values of x and m = 5"


CLAIMS = (
    ALP.verified(
        "Lemma 4.11",
        "For x_i <= beta and tau >= alpha, P(|x_i - x~_i| >= tau) < 2 (4 (p - p^2))^(tau/(2 alpha) "
        "- 1/2)/(sqrt(pi) (1 - 2p)), p = 1/(gamma + 2); at most 0.22 of it is reached.",
        "certified numerics",
        **varied(_tail, Fraction(22, 100), Fraction(21, 100), "at most 0.21 of it"),
    ),
    ALP.verified(
        "Lemma 4.11, quantile",
        "With probability at least 1 - psi, |x_i - x~_i| < (1 + 2 log(2/(psi sqrt(pi) (1 - 2p)))/"
        "log(1/(4p - 4p^2))) alpha; at most 0.64 of it is needed.",
        "certified numerics",
        **varied(_quantile, Fraction(64, 100), Fraction(63, 100), "0.63 of it is enough"),
    ),
    ALP.verified(
        "Lemma 4.11, proof",
        "|x_i - x~_i| < (1 + |y_i - y~_i|) alpha for every outcome.",
        "enumeration",
        **varied(_pointwise, Fraction(1), Fraction(24, 25), "0.96 instead of 1"),
        note="The text prints x'_i for the estimate.",
    ),
)
