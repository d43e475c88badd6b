"""The GSHM pair by pair: a shared counters change, k - a further ones exist on side A only.

Unshared and shared counters are independent, so only the direction of the change matters: N(mu, 1)
against N(0, 1) with mu^2 = a/sigma^2, weighted by psi, the chance that all further ones stay
hidden.
"""

from __future__ import annotations

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claims.csh._model import Point, excess, tail

__all__ = ["log_hidden", "side_a", "side_b"]


def log_hidden(at: Point, copies: int) -> arb:
    """log of Phi(tau/sigma)^copies."""
    return copies * (-tail(ball(at.tau / at.sigma))).log1p()


def side_a(at: Point, a: int) -> arb:
    """delta from the side that has the k - a further counters, by integrating densities."""
    log_psi = log_hidden(at, at.k - a)
    shown = -log_psi.expm1()
    if not a:
        return shown
    return shown + excess(ball(at.epsilon), arb(a).sqrt() / ball(at.sigma), log_p=log_psi)


def side_b(at: Point, a: int) -> arb:
    """delta from the other side."""
    log_psi = log_hidden(at, at.k - a)
    if not a:
        return (1 - (ball(at.epsilon) + log_psi).exp()).max(arb(0))
    return excess(ball(at.epsilon), arb(a).sqrt() / ball(at.sigma), log_q=log_psi)
