"""CSH, Lemma 2.6: adding the deltas bounds the GSHM."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from flint import arb

from exactdp.accounting import gshm
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._gshm import side_a, side_b
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    POINTS,
    SMALL,
    Point,
    at_most,
    hockey,
    one_shows,
    precision,
)
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def gauss_part(at: Point, scale: Fraction = Fraction(1)) -> arb:
    return hockey(ball(at.epsilon), ball(scale) * arb(at.k).sqrt() / ball(at.sigma))


def infinite_part(at: Point, copies: int) -> arb:
    return one_shows(ball(at.tau / at.sigma), copies)


def _bounds(scale: Fraction, missing: int) -> str:
    """The sum is at least the delta of every pair of neighbours, in both orders."""
    pairs = 0
    with precision(BITS):
        for at in SMALL:
            total = gauss_part(at, scale) + infinite_part(at, at.k - missing)
            for changed in {1, at.k // 2 or 1, at.k}:
                fewer = at._replace(k=changed)
                for a in range(changed + 1):
                    for value in (side_a(fewer, a), side_b(fewer, a)):
                        pairs += 1
                        case = f"{at}, {a} of {changed} changes shared: {value.mid()}"
                        require(at_most(value, total), f"{case} > {total.mid()}")
        for at in POINTS:
            exact = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
            total = gauss_part(at, scale) + infinite_part(at, at.k - missing)
            require(at_most(ball(exact.upper), total), f"{at}: exact {exact}, sum {total.mid()}")
    return f"{pairs} pairs by integrating densities, and the exact delta at {len(POINTS)} points"


def _tight(scale: Fraction) -> str:
    at = Point(9, Fraction(3), Fraction(60), Fraction(7, 20))
    with precision(BITS):
        total, value = gauss_part(at, scale) + infinite_part(at, at.k), side_a(at, at.k)
        require(bool(total < value), f"{at}: sum {total.mid()}, pair {value.mid()}")
        return f"{at}: sum {total.mid().str(8)}, pair {value.mid().str(8)}"


CLAIMS = (
    CSH.verified(
        "Lemma 2.6",
        "The GSHM is (epsilon, delta_gauss + delta_inf)-DP when one user changes at most "
        "k counters, by one each: delta_gauss is Lemma 2.5 at sensitivity sqrt(k), and "
        "delta_inf = 1 - Phi(tau/sigma)^k.",
        "certified numerics",
        **varied(partial(_bounds, Fraction(1)), 0, 1, "the threshold protects k - 1 counters"),
        note="that counters change by at most one follows from X_i in {0,1}^d",
    ),
    CSH.verified(
        "Lemma 2.6, constant of delta_gauss",
        "sqrt(k) cannot be lowered: with 99 percent of it the sum falls below the delta "
        "of some pair.",
        "certified numerics",
        **varied(_tight, Fraction(99, 100), Fraction(101, 100), "with 101 percent of it too"),
        ours=True,
    ),
)
