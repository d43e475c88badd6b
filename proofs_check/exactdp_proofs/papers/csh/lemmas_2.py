"""CSH, Lemmas 2.5 to 2.8: the Gaussian mechanism, the GSHM, and correlated noise."""

from __future__ import annotations

from functools import cache

import sympy as sp
from flint import acb, arb

from exactdp.accounting import gshm
from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick
from exactdp_proofs.comparisons import agree, at_most, equal, identity
from exactdp_proofs.papers.csh._bounds import appear, lemma_2_7_maximum, log_hidden, vanish
from exactdp_proofs.papers.csh._model import (
    BITS,
    FAR,
    POINTS,
    SMALL,
    Point,
    distance,
    gauss,
    loosened,
    one_shows,
    weakened,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, mutant, weaker


def _excess(epsilon: Fraction, mu: arb, log_p: arb | int = 0, log_q: arb | int = 0) -> arb:
    """The integral of (p - e^epsilon q)_+ for p = e^log_p N(mu, 1) and q = e^log_q N(0, 1).

    The densities themselves are integrated, no distribution function is used.
    """
    grown = ball(epsilon) + log_q
    # the log-ratio of the densities, mu x - mu^2/2 + log_p - log_q, is epsilon at the cut
    start = ((grown - log_p) / mu + mu / 2).max(arb(-16))
    root = (2 * arb.pi()).sqrt()

    def difference(x: acb, _: bool) -> acb:
        return ((log_p - (x - mu) ** 2 / 2).exp() - (grown - x**2 / 2).exp()) / root

    value: arb = acb.integral(difference, acb(start), acb((start + 20).max(mu + 16))).real
    # cut off: at most P(|N| > 16) <= e^-128 of each density
    return value + (1 + ball(epsilon).exp()) * (-arb(128)).exp() * arb(0, 1)


@cache
def _pairs(at: Point) -> list[tuple[int, int, arb]]:
    """delta of every pair of neighbours of the GSHM with 1, k/2 or k changes, in both orders.

    Counters are independent, so only the direction of the change matters: N(mu, 1) against
    N(0, 1) with mu^2 = a/sigma^2, weighted by the chance that all new counters stay hidden.
    """
    triples: list[tuple[int, int, arb]] = []
    for changed in {1, at.k // 2 or 1, at.k}:
        for a in range(changed + 1):
            hidden = log_hidden(at, changed - a)
            appears, mu = -hidden.expm1(), arb(a).sqrt() / ball(at.sigma)
            if a:
                triples.append((changed, a, appears + _excess(at.epsilon, mu, log_p=hidden)))
                triples.append((changed, a, _excess(at.epsilon, mu, log_q=hidden)))
            else:
                triples.append((changed, a, appears))
    return triples


@CSH.holds("Lemma 2.5", "on instances", ours=True)
@weaker
def lemma_2_5(loss: Fraction = Fraction(1)) -> None:
    """N(f, sigma^2 I) noise at l2 distance D has exactly the delta Phi(D/(2 sigma)
    - epsilon sigma/D) - e^epsilon Phi(-D/(2 sigma) - epsilon sigma/D): the integral of
    (p - e^epsilon q)_+ along the one axis on which the two output laws differ.
    """
    with precision(BITS):
        for epsilon in map(Fraction, ("0", "0.35", "1", "5")):
            for mu in map(Fraction, ("0.5", "1", "2.5", "8")):
                closed = hockey_stick(ball(epsilon), ball(mu))
                agree(_excess(epsilon, ball(loss * mu)), closed, digits=7, epsilon=epsilon, mu=mu)


@CSH.holds("Lemma 2.5", "growth with the sensitivity")
@mutant(slope=-1)
def lemma_2_5_growth(slope: int = 1) -> None:
    """The derivative of that delta by mu = D/sigma is phi(mu/2 - epsilon/mu) > 0, so the largest
    distance between neighbours decides.
    """
    epsilon, mu = sp.symbols("epsilon mu", positive=True)
    up, down = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu

    def phi(x: sp.Expr) -> sp.Expr:
        return sp.erfc(-x / sp.sqrt(2)) / 2

    derivative = sp.diff(phi(up) - sp.exp(epsilon) * phi(down), mu)
    density = sp.exp(-(up**2) / 2) / sp.sqrt(2 * sp.pi)
    identity(sp.expand(derivative / density) - slope)


@CSH.holds("Lemma 2.6", "on instances", ours=True)
@mutant("the threshold protects k - 1 counters", fewer=1)
def lemma_2_6(
    fewer: int = 0, loss: Fraction = Fraction(1), threshold: Fraction = Fraction(1)
) -> None:
    """The GSHM is (epsilon, delta_gauss + delta_inf)-DP when one user changes at most k counters,
    by one each: delta_gauss is Lemma 2.5 at sensitivity sqrt(k), and
    delta_inf = 1 - Phi(tau/sigma)^k.
    """
    with precision(BITS):
        for at in (*SMALL, *FAR):
            total = loosened(_sum_of_deltas(at, fewer))
            for changed, a, value in _pairs(weakened(at, loss, threshold)):
                at_most(value, total, point=at, changed=changed, shared=a)
        for at in POINTS:
            less = weakened(at, loss, threshold)
            exact = gshm.delta(k=at.k, sigma=less.sigma, tau=less.tau, epsilon=at.epsilon)
            at_most(ball(exact.upper), loosened(_sum_of_deltas(at, fewer)), point=at)


def _sum_of_deltas(at: Point, fewer: int) -> arb:
    shows = one_shows(ball(at.tau / at.sigma), at.k - fewer)
    return gauss(at, arb(at.k).sqrt()) + shows


@CSH.holds("Lemma 2.7", "on instances", ours=True)
@mutant("gamma(j) = (k - j + 1) log Phi", more=1)
def lemma_2_7(
    more: int = 0, loss: Fraction = Fraction(1), threshold: Fraction = Fraction(1)
) -> None:
    """The exact delta of the GSHM is the maximum of 1 - Phi(tau/sigma)^k and, over j, of the two
    families with gamma(j) = (k - j) log Phi(tau/sigma).
    """
    with precision(BITS):
        for at in SMALL:
            pairs = arb(0)
            for _, _, value in _pairs(weakened(at, loss, threshold)):
                pairs = pairs.max(value)
            agree(pairs, lemma_2_7_maximum(at, more), point=at)


@CSH.holds("Lemma 2.7", "last maximum", ours=True)
@mutant("its terms are also at most 1 - Phi(tau/sigma)^k", first=True)
def lemma_2_7_last(first: bool = False) -> None:
    """The last maximum is never needed: at every j its term is at most the term of the second
    maximum (see Exact analysis, side A suffices).
    """
    with precision(BITS):
        for at in SMALL:
            for j in range(1, at.k + 1):
                other = one_shows(ball(at.tau / at.sigma), at.k) if first else appear(at, j)
                at_most(vanish(at, j), loosened(other), point=at, j=j)


@CSH.holds("Lemma 2.8", "on instances", ours=True)
@mutant(scale=Fraction(99, 100))
def lemma_2_8(scale: Fraction = Fraction(1)) -> None:
    """Independent N(0, sigma^2) noise and one shared N(0, sigma^2/gamma) on d counters act like
    the Gaussian mechanism at sensitivity at most sqrt(d + gamma)/2 when all counters move by zero
    or one in the same direction.
    """
    for gamma in map(Fraction, ("1/3", "1", "2", "3", "3.5", "40")):
        for d in range(1, 8):
            for a in range(d + 1):
                most = (d + gamma) / 4 * scale**2
                at_most(distance(d, a, gamma), most, d=d, a=a, gamma=gamma)


@CSH.holds("Lemma 2.8", "exact sensitivity", ours=True)
@mutant(times=Fraction(99, 100))
def lemma_2_8_exact(times: Fraction = Fraction(1)) -> None:
    """When a of the d counters move, the exact squared sensitivity is a - a^2/(d + gamma) in units
    of sigma. So the lemma's is exact only where (d + gamma)/2 is an integer and at most d.
    """
    for gamma in map(Fraction, ("1/2", "2", "5")):
        for d in range(1, 8):
            for a in range(d + 1):
                stated = a - times * Fraction(a * a) / (d + gamma)
                equal(distance(d, a, gamma), stated, d=d, a=a, gamma=gamma)


@CSH.holds("Lemma 2.8", "for every d and gamma")
@mutant(times=2)
def lemma_2_8_square(times: int = 1) -> None:
    """(d + gamma)/4 exceeds that sensitivity a - a^2/(d + gamma) by the square
    (a - (d + gamma)/2)^2/(d + gamma).
    """
    a, d, gamma = sp.symbols("a d gamma", positive=True)
    square = (a - (d + gamma) / 2) ** 2 / (d + gamma)
    identity((d + gamma) / 4 - (a - times * a**2 / (d + gamma)) - square)


@CSH.holds("Lemma 2.8", "proof, choice of gamma")
@mutant(power=Fraction(1, 4))
def lemma_2_8_gamma(power: Fraction = Fraction(1, 2)) -> None:
    """gamma = sqrt(d) minimises the total noise sigma sqrt(1 + 1/gamma) for sigma proportional to
    sqrt(d + gamma)/2; it is then (sqrt(d) + 1)/2, against sqrt(d) without shared noise.
    """
    d, g = sp.symbols("d gamma", positive=True)
    total = (d + g) * (1 + 1 / g)  # 4 times the squared total noise
    identity(sp.limit(d - d**2 / (d + g), g, sp.oo) - d)  # all d counters move, no shared noise
    identity(sp.diff(total, g, 2) - 2 * d / g**3)  # convex
    identity(total.subs(g, sp.sqrt(d)) - (sp.sqrt(d) + 1) ** 2)
    best = d ** sp.Rational(str(power))
    identity(sp.diff(total, g).subs(g, best))
