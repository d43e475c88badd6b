"""Our exact delta of the GSHM: max(1 - Phi(tau/sigma)^k, H(epsilon, sqrt(k)/sigma)).

The proof is Section 9 of exactdp/pages/exact-csh.md; its steps are parts of the entry.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from flint import arb

from exactdp.accounting import gshm
from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick, tail
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import agree, identity, within
from exactdp_proofs.papers.csh._bounds import appear, lemma_2_7_maximum, vanish
from exactdp_proofs.papers.csh._model import BITS, SMALL, Point, gauss, hull, one_shows
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, mutant


def _ends(at: Point) -> tuple[arb, arb]:
    """1 - Phi(tau/sigma)^k and H(epsilon, sqrt(k)/sigma)."""
    return one_shows(ball(at.tau / at.sigma), at.k), gauss(at, arb(at.k).sqrt())


def _points(count: int) -> list[Point]:
    """Random sigma and epsilon, and tau so that both ends are about the same: the hardest case."""
    rng, points = np.random.default_rng(8), list(SMALL)
    for _ in range(count):
        k = int(rng.choice((2, 3, 5, 9, 20, 60)))
        sigma = Fraction(f"{k**0.5 * 10 ** rng.uniform(-1, 1.3):.6g}")
        epsilon = Fraction(str(rng.choice(("0", "0.01", "0.35", "1", "3"))))
        low, high = Fraction(0), 40 * sigma
        for _ in range(30):
            tau = (low + high) / 2
            shows, noise = _ends(Point(k, sigma, tau, epsilon))
            low, high = (tau, high) if shows > noise else (low, tau)
        points.append(Point(k, sigma, low, epsilon))
    return points


@CSH.holds(
    "Exact analysis",
    "GSHM in two terms",
    ours=True,
    elsewhere="the mutant has a negative epsilon, which the statement leaves out",
)
@mutant("and for epsilon = -1/20", epsilons=(Fraction(-1, 20),))
def two_terms(epsilons: tuple[Fraction, ...] = ()) -> None:
    """The maximum of Lemma 2.7 is max(1 - Phi(tau/sigma)^k, H(epsilon, sqrt(k)/sigma)), for every
    k, sigma, tau >= 0 and epsilon >= 0: no mixed case is worse. (Not so for the CSH.)
    """
    with precision(BITS):
        for at in _points(25):
            for epsilon in epsilons or (at.epsilon,):
                at = at._replace(epsilon=epsilon)
                shows, noise = _ends(at)
                agree(lemma_2_7_maximum(at), shows.max(noise), point=at)


@CSH.holds("Exact analysis", "GSHM in two terms, shipped delta", ours=True)
@mutant(scale=1 + Fraction(1, 10**9))
def shipped_delta(scale: Fraction = Fraction(1)) -> None:
    """gshm.delta, which evaluates these two terms, returns the maximum of Lemma 2.7 over
    j = 1, 2, 4, ..., k.
    """
    large = [Point(51914, Fraction(2222), Fraction(t), Fraction("0.35")) for t in (0, 13910)]
    for at in (*_points(10), *large):
        delta = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        with precision(256):
            best = one_shows(ball(at.tau / at.sigma), at.k)
            for j in {min(2**i, at.k) for i in range(at.k.bit_length() + 1)}:
                best = best.max(appear(at, j)).max(vanish(at, j))
            agree(hull(delta), best * ball(scale), digits=10, point=at)


@CSH.holds("Exact analysis", "GSHM in two terms, slope in j", ours=True, slack="equality, to 1e-9")
@mutant(two=Fraction(201, 100))
def slope_in_j(two: Fraction = Fraction(2)) -> None:
    """d delta_A/dx = psi (phi(u) mu/(2 y) - beta Phi(-u)), x = j/k, by the envelope theorem: here
    against difference quotients, to 1e-9.
    """
    for texts in (("1", "2", "0", "0.4"), ("3", "0.5", "1", "0.7"), ("0.4", "4", "0.3", "0.2")):
        with precision(BITS):
            mu, beta, epsilon, at = (ball(Fraction(t)) for t in texts)
            step = arb(10) ** -12
            quotient = _delta_a(mu, beta, epsilon, at + step) - _delta_a(
                mu, beta, epsilon, at - step
            )
            y, shift = at.sqrt(), beta * (1 - at)
            u = mu * y / 2 - (epsilon + shift) / (mu * y)
            density = (-u * u / 2).exp() / (2 * arb.pi()).sqrt()
            stated = (-shift).exp() * (density * mu / (ball(two) * y) - beta * tail(u))
            within(quotient / (2 * step), stated, Fraction(1, 10**9), mu=mu, x=at)


def _delta_a(mu: arb, beta: arb, epsilon: arb, x: arb) -> arb:
    shift = beta * (1 - x)
    return 1 - (-shift).exp() * (1 - hockey_stick(epsilon + shift, mu * x.sqrt()))


def _written_out(u: sp.Expr) -> sp.Expr:
    """lambda(u) = phi(u)/Phi(-u) as an expression."""
    return sp.sqrt(2 / sp.pi) * sp.exp(-(u**2) / 2) / sp.erfc(u / sp.sqrt(2))


@CSH.holds("Exact analysis", "GSHM in two terms, slope of R", ours=True)
@mutant(half=Fraction(1, 3))
def slope_of_r(half: Fraction = Fraction(1, 2)) -> None:
    """dR/dv = lambda(u) (1/2 - (lambda(v) - v)/(lambda(u) + lambda(v)))."""
    u, v, lu = sp.symbols("u v L", positive=True)  # L = lambda(u)
    lam = _written_out(v)
    value = sp.log(1 / lu + 1 / lam) + lu * (u + v) / 2
    stated = lu * (sp.Rational(str(half)) - (lam - v) / (lu + lam))
    identity(sp.diff(value, v) - stated)


@CSH.holds("Exact analysis", "GSHM in two terms, start of R", ours=True)
@mutant("u^2 lambda'(u)", power=2)
def start_of_r(power: int = 1) -> None:
    """R(u) = ln(2 Phi(-u)) + u lambda(u) is 0 at 0 and has the slope u lambda'(u), with
    lambda' = lambda (lambda - u).
    """
    u = sp.symbols("u", positive=True)
    lam = _written_out(u)
    value = sp.log(sp.erfc(u / sp.sqrt(2))) + u * lam
    identity(value.subs(u, 0))
    identity(sp.diff(lam, u) - lam * (lam - u))
    identity(sp.diff(value, u) - u**power * sp.diff(lam, u))


def _hazard(u: arb) -> arb:
    """phi(u)/Phi(-u)."""
    return (-u * u / 2).exp() / (2 * arb.pi()).sqrt() / tail(u)


@CSH.holds("Exact analysis", "hazard rate rises by less than one", ours=True)
@mutant(one=Fraction(93, 100))
def hazard_below(one: Fraction = Fraction(1)) -> None:
    """lambda = phi/Phi(-.) has lambda (lambda - u), its slope, < 1 for -4 <= u <= 4.

    Note: For all u by Sampford 1953.
    """
    always_positive(lambda u: ball(one) - _hazard(u) * (_hazard(u) - u), [(-4, 4)], bits=128)


@CSH.holds("Exact analysis", "hazard rate rises", ours=True)
@mutant(times=Fraction(106, 100))
def hazard_rises(times: Fraction = Fraction(1)) -> None:
    """lambda(u) > u, so lambda' > 0, for -4 <= u <= 4.

    Note: For all u by Gordon 1941.
    """
    always_positive(lambda u: _hazard(u) - ball(times) * u, [(-4, 4)], bits=128)
