"""The paper's own bounds, written from its text and not from the library's code."""

from __future__ import annotations

from flint import arb

from exactdp.balls import ball
from exactdp.normal import tail
from exactdp_proofs.papers.csh._model import Point, gauss, one_shows
from exactdp_proofs.rationals import Fraction


def log_hidden(at: Point, copies: int) -> arb:
    """log of Phi(tau/sigma)^copies, the GSHM's chance that new counters stay hidden."""
    return copies * (-tail(ball(at.tau / at.sigma))).log1p()


def appear(at: Point, j: int, more: int = 0) -> arb:
    """The second term of Lemma 2.7, at j; gamma counts k - j + more counters."""
    gamma = log_hidden(at, at.k - j + more)
    return -gamma.expm1() + gamma.exp() * gauss(at, arb(j).sqrt(), -gamma)


def vanish(at: Point, j: int, more: int = 0) -> arb:
    """The third term of Lemma 2.7, at j."""
    return gauss(at, arb(j).sqrt(), log_hidden(at, at.k - j + more))


def lemma_2_7_maximum(at: Point, more: int = 0) -> arb:
    best = one_shows(ball(at.tau / at.sigma), at.k)
    for j in range(1, at.k + 1):
        best = best.max(appear(at, j, more)).max(vanish(at, j, more))
    return best


def delta_gauss(at: Point, scale: Fraction = Fraction(1)) -> arb:
    """Theorem 3.3: sensitivity sqrt(k + sqrt k)/2."""
    return gauss(at, ball(scale) * (at.k + arb(at.k).sqrt()).sqrt() / 2)


def log_psi(at: Point, m: int) -> arb:
    """log psi(m), psi(m) = Phi(tau/((1 + k^(-1/4)) sigma))^(m+1)."""
    ratio = ball(at.tau / at.sigma) / (1 + 1 / arb(at.k).root(4))
    return (m + 1) * (-tail(ratio)).log1p()


def delta_inf(at: Point) -> arb:
    """Theorem 3.3: 1 - psi(k)."""
    return -log_psi(at, at.k).expm1()


def _gamma(at: Point, j: int) -> arb:
    return arb(j).sqrt().min((j + arb(at.k).sqrt()).sqrt() / 2)


def third(at: Point, j: int, size: int | None = None) -> arb:
    """1 - psi(size - j) plus the Gaussian delta at gamma(j); size is k in Theorem 3.5."""
    return -log_psi(at, (size or at.k) - j).expm1() + gauss(at, _gamma(at, j))


def fourth(at: Point, j: int, size: int | None = None) -> arb:
    """The Gaussian delta at gamma(j) and epsilon + ln psi(size - j)."""
    return gauss(at, _gamma(at, j), log_psi(at, (size or at.k) - j))


def theorem_3_5_maximum(at: Point, scale: Fraction = Fraction(1)) -> arb:
    best = delta_inf(at).max(delta_gauss(at, scale))
    for j in range(1, at.k):
        best = best.max(third(at, j)).max(fourth(at, j))
    return best
