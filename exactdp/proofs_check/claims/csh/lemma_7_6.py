"""CSH, Lemma 7.6: when one of k counters passes the threshold, with discrete noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._discrete import masses
from exactdp.proofs_check.claims.csh._model import BITS, at_most, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS", "split", "truth"]

_POINTS = [
    (k, Fraction(s), Fraction(t))
    for k, s, t in product((1, 2, 4, 30), ("0.3", "1", "4"), ("0.4", "1", "3.5", "12"))
]


def _at_most(law: dict[int, arb], limit: arb) -> arb:
    """P(Z <= limit)."""
    return sum((p for z, p in law.items() if z <= limit), arb(0))


def truth(k: int, sigma: Fraction, tau: Fraction) -> arb:
    """P(some Z_i + Z > 2 tau), summed over the shared noise."""
    own = masses(4 * ball(sigma**2))
    shared = masses(4 * ball(sigma**2) / arb(k).sqrt())
    total = arb(0)
    for z, p in shared.items():
        total += p * (1 - _at_most(own, ball(2 * tau - z)) ** k)
    return total


def split(k: int, sigma: Fraction, tau: Fraction, share: arb) -> arb:
    """1 - P(Z <= 2 tau (1 - share)) P(Z_i <= 2 tau share)^k."""
    own = masses(4 * ball(sigma**2))
    shared = masses(4 * ball(sigma**2) / arb(k).sqrt())
    limit = 2 * ball(tau)
    return 1 - _at_most(shared, limit * (1 - share)) * _at_most(own, limit * share) ** k


def _bound(share: Fraction) -> str:
    """With the stated probability times share; k = 1 has its own line, as ties at tau matter."""
    with precision(BITS):
        for k, sigma, tau in _POINTS:
            part = 1 / (1 + 1 / arb(k).root(4)) if k > 1 else arb(0.5)
            exact, stated = truth(k, sigma, tau), split(k, sigma, tau, part) * ball(share)
            case = f"k={k}, sigma={sigma}, tau={tau}: {exact.mid().str(8)}"
            require(at_most(exact, stated), f"{case} > {stated.mid().str(8)}")
    return f"{len(_POINTS)} points, by summing over the shared noise"


CLAIMS = (
    CSH.verified(
        "Lemma 7.6",
        "With discrete noise Z ~ N_Z(0, 4 sigma^2/sqrt k), Z_i ~ N_Z(0, 4 sigma^2), some "
        "Z + Z_i exceeds 2 tau with probability at most 1 - P(Z <= 2 tau k^(-1/4)/(k^(-1/4)+1)) "
        "P(Z_i <= 2 tau/(k^(-1/4)+1))^k.",
        "certified numerics",
        **varied(_bound, Fraction(1), Fraction(94, 100), "at most 94 percent of that"),
        note="the proof writes j for k",
    ),
)
