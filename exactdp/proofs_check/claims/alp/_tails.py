"""The tail bounds of Lemmas 4.9 to 4.15 in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.balls import ball
from exactdp.law import Law
from exactdp.proofs_check.claims.alp._model import estimate_law, flip, gamma, round_law

__all__ = ["CASES", "entry_law", "quantile_steps", "rates", "tail_bound"]

#: (alpha, k/s) with s > 2k.
CASES = (
    (Fraction(1), Fraction(0)),
    (Fraction(3), Fraction(1, 10)),
    (Fraction(3), Fraction(2, 5)),
    (Fraction(30), Fraction(1, 5)),
    (Fraction(1000), Fraction(1, 1000)),
    (Fraction(9998), Fraction(0)),
)


def rates(alpha: Fraction, collision: Fraction) -> tuple[Fraction, Fraction]:
    """The chance that a one of the entry, or a zero beyond it, is reported wrongly."""
    return flip(alpha), 1 / (gamma(alpha, collision) + 2)


def tail_bound(p: Fraction, exponent: Fraction, root: arb | None = None) -> arb:
    """2 (4 (p - p^2))^exponent / (sqrt(pi) (1 - 2p)); root replaces sqrt(pi)."""
    below = arb.pi().sqrt() if root is None else root
    return 2 * ball(4 * (p - p * p)) ** ball(exponent) / (below * ball(1 - 2 * p))


def quantile_steps(p: Fraction, psi: Fraction, base: Fraction | None = None) -> arb:
    """2 log(2/(psi sqrt(pi) (1 - 2p))) / log(1/base), base = 4p - 4p^2 unless given."""
    inside = 2 / (ball(psi) * arb.pi().sqrt() * ball(1 - 2 * p))
    below = 4 * p - 4 * p * p if base is None else base
    return 2 * inside.log() / (1 / ball(below)).log()


def entry_law(x: Fraction, alpha: Fraction, m: int, collision: Fraction) -> Law[Fraction]:
    """The law of the error |x - estimate| of Algorithm 3 for one entry at most alpha m."""
    p, q = rates(alpha, collision)
    rounded = round_law(x / alpha)
    return rounded.then(lambda y: estimate_law(y, m, p, q)).map(lambda e: abs(x - alpha * e))
