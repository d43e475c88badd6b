"""CSH, Lemma 2.7: the exact delta of the GSHM, and which of its terms matter."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.accounting import gshm
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._gshm import log_hidden, side_a, side_b
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    SMALL,
    Point,
    at_most,
    equal,
    hockey,
    one_shows,
    point,
    precision,
)
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def appear(at: Point, j: int, more: int = 0) -> arb:
    """The second term of the maximum, at j; gamma counts k - j + more counters."""
    gamma = log_hidden(at, at.k - j + more)
    inner = hockey(ball(at.epsilon) - gamma, arb(j).sqrt() / ball(at.sigma))
    return -gamma.expm1() + gamma.exp() * inner


def vanish(at: Point, j: int, more: int = 0) -> arb:
    """The third term of the maximum, at j."""
    gamma = log_hidden(at, at.k - j + more)
    return hockey(ball(at.epsilon) + gamma, arb(j).sqrt() / ball(at.sigma))


def printed(at: Point, more: int = 0) -> arb:
    best = one_shows(ball(at.tau / at.sigma), at.k)
    for j in range(1, at.k + 1):
        best = best.max(appear(at, j, more)).max(vanish(at, j, more))
    return best


def _exact(more: int) -> str:
    """The printed maximum is the largest delta over pairs, both orders, by densities; of k changes
    or fewer.
    """
    with precision(BITS):
        for at in SMALL:
            pairs = arb(0)
            for changed in {1, at.k // 2 or 1, at.k}:
                fewer = at._replace(k=changed)
                for a in range(changed + 1):
                    pairs = pairs.max(side_a(fewer, a)).max(side_b(fewer, a))
            stated = printed(at, more)
            case = f"{at}: pairs {pairs.mid()}, stated {stated.mid()}"
            require(bool(pairs.overlaps(stated)) and pairs.rad() < 1e-20, case)
    return f"{len(SMALL)} points, every pair of neighbours integrated to 20 digits"


def _shipped(scale: Fraction) -> str:
    """The library, which evaluates two terms only, finds the printed maximum."""
    points = [*SMALL, point(60, "12", "31", "0.7"), point(60, "80", "300", "0.1")]
    with precision(BITS):
        for at in points:
            found = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
            stated = printed(at) * ball(scale)
            inside = equal(ball(found.lower).union(ball(found.upper)), stated)
            require(inside, f"{at}: found {found}, printed {stated.mid()}")
    return f"{len(points)} points, every j of the printed maximum"


def _redundant(first_too: bool) -> str:
    """No j of the last maximum exceeds the same j of the one before (or 1 - Phi^k)."""
    with precision(BITS):
        for at in SMALL:
            for j in range(1, at.k + 1):
                last, other = vanish(at, j), appear(at, j)
                if first_too:
                    other = one_shows(ball(at.tau / at.sigma), at.k)
                require(at_most(last, other), f"{at}, j={j}: {last.mid()} > {other.mid()}")
    return f"{len(SMALL)} points, every j"


CLAIMS = (
    CSH.verified(
        "Lemma 2.7",
        "The exact delta of the GSHM is the maximum of 1 - Phi(tau/sigma)^k and, over j, "
        "of the two families with gamma(j) = (k - j) log Phi(tau/sigma).",
        "certified numerics",
        **varied(_exact, 0, 1, "gamma(j) = (k - j + 1) log Phi"),
    ),
    CSH.verified(
        "Lemma 2.7, the shipped delta",
        "The library, which takes the larger of two ends, returns the printed maximum over j.",
        "certified numerics",
        **varied(_shipped, Fraction(1), 1 + Fraction(1, 10**9), "up to a factor 1 + 1e-9"),
        ours=True,
    ),
    CSH.verified(
        "Lemma 2.7, last maximum",
        "The last maximum is never needed: at every j its term is at most the term of "
        "the second maximum (see the exact analysis, side A suffices).",
        "certified numerics",
        **varied(_redundant, False, True, "its terms are also at most 1 - Phi(tau/sigma)^k"),
        ours=True,
    ),
)
