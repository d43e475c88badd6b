"""The paper's own bounds for the CSH, written from its text (not the library's code)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claims.csh._model import Point, hockey, tail

__all__ = ["delta_gauss", "delta_inf", "fourth", "log_psi", "theorem_3_5", "third"]


def delta_gauss(at: Point, times: int = 1, scale: Fraction = Fraction(1)) -> arb:
    """Theorem 3.3: sensitivity sqrt(k + times sqrt k)/2."""
    size = (at.k + times * arb(at.k).sqrt()).sqrt() / 2
    return hockey(ball(at.epsilon), ball(scale) * size / ball(at.sigma))


def log_psi(at: Point, m: int) -> arb:
    """log psi(m), psi(m) = Phi(tau/((1 + k^(-1/4)) sigma))^(m+1)."""
    ratio = ball(at.tau / at.sigma) / (1 + 1 / arb(at.k).root(4))
    return (m + 1) * (-tail(ratio)).log1p()


def delta_inf(at: Point, copies: int) -> arb:
    """Theorem 3.3: 1 - psi(copies - 1); copies is k + 1 there."""
    return -log_psi(at, copies - 1).expm1()


def _gamma(at: Point, j: int) -> arb:
    return arb(j).sqrt().min((j + arb(at.k).sqrt()).sqrt() / 2)


def third(at: Point, j: int, size: int | None = None) -> arb:
    """1 - psi(size - j) plus the Gaussian delta at gamma(j); size is k in the theorem."""
    mu = _gamma(at, j) / ball(at.sigma)
    return -log_psi(at, (size or at.k) - j).expm1() + hockey(ball(at.epsilon), mu)


def fourth(at: Point, j: int, size: int | None = None) -> arb:
    """The Gaussian delta at gamma(j) and epsilon + ln psi(size - j)."""
    mu = _gamma(at, j) / ball(at.sigma)
    return hockey(ball(at.epsilon) + log_psi(at, (size or at.k) - j), mu)


def theorem_3_5(at: Point, *, with_fourth: bool = True, scale: Fraction = Fraction(1)) -> arb:
    best = (-log_psi(at, at.k).expm1()).max(delta_gauss(at, scale=scale))
    for j in range(1, at.k):
        best = best.max(third(at, j))
        if with_fourth:
            best = best.max(fourth(at, j))
    return best
