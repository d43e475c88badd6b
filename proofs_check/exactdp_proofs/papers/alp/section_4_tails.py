"""ALP, Lemmas 4.9 to 4.11 and 4.15: tails of the error."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import sympy as sp
from flint import arb

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, below, identity
from exactdp_proofs.papers.alp._model import (
    entry_law,
    estimate_law,
    rates,
    round_law,
)
from exactdp_proofs.papers.alp._walk import last_return
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant

#: (alpha, k/s) with s > 2k.
_CASES = (
    (Fraction(1), Fraction(0)),
    (Fraction(3), Fraction(2, 5)),
    (Fraction(30), Fraction(1, 5)),
    (Fraction(9998), Fraction(0)),
)
_PARTS = (Fraction(0), Fraction(5, 2), Fraction(6))
_ONE = Fraction(1)


def tail_bound(p: Fraction, exponent: Fraction) -> arb:
    """2 (4 (p - p^2))^exponent / (sqrt(pi) (1 - 2p))."""
    return 2 * ball(4 * (p - p * p)) ** ball(exponent) / (arb.pi().sqrt() * ball(1 - 2 * p))


def quantile_steps(p: Fraction, psi: Fraction, of_square: int = 4) -> arb:
    """2 log(2/(psi sqrt(pi) (1 - 2p))) / log(1/(4p - of_square p^2))."""
    inside = 2 / (ball(psi) * arb.pi().sqrt() * ball(1 - 2 * p))
    return 2 * inside.log() / (1 / ball(4 * p - of_square * p * p)).log()


@cache
def _distances(y: int, alpha: Fraction, collision: Fraction, m: int = 7) -> Law[Fraction]:
    """The law of |y - estimate| in columns; y above m counts as m."""
    return estimate_law(min(y, m), m, *rates(alpha, collision)).map(lambda e: abs(y - e))


@cache
def _errors(part: Fraction, alpha: Fraction, collision: Fraction) -> Law[Fraction]:
    """The law of the error of an entry part * alpha, 6 columns."""
    return entry_law(alpha * part, alpha, 6, collision)


def _tail(law: Law[Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    """Every t > 0 at which P(error >= t) jumps, and this probability."""
    chance = Fraction(0)
    for t in sorted(law.support - {Fraction(0)}, reverse=True):
        chance += law[t]
        yield t, chance


@ALP.conditional("Lemma 4.9")
@mutant("0.65 tau in place of tau/2", power=Fraction(65, 100))
@fitted(power=Fraction(64, 100))
def lemma_4_9(power: Fraction = Fraction(1, 2)) -> None:
    """P(|y_i - y~_i| >= tau) <= 2 (4 (p - p^2))^(tau/2)/(sqrt(pi) (1 - 2p)) for tau > 0, with
    p = 1/(gamma + 2).

    Condition: y_i <= m, which Lemmas 4.7 and 4.11 state and this one does not repeat. An entry with
        y_i = m + 6 errs by 6 at least.
    """
    for (alpha, collision), y in product(_CASES, range(8)):
        q = rates(alpha, collision)[1]
        for tau, chance in _tail(_distances(y, alpha, collision)):
            with precision(64):
                bound = tail_bound(q, tau * power)
                at_most(chance, bound, alpha=alpha, collision=collision, y=y, tau=tau)


@ALP.holds("Lemma 4.9", "proof, display")
@mutant("0.88 times that", share=Fraction(88, 100))
def last_nonnegative_step(share: Fraction = _ONE) -> None:
    """The last nonnegative step is at least tau with probability at most (4 (p - p^2))^(tau/2)/
    (sqrt(pi) (1 - 2p)).
    """
    for p in (Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3), Fraction(9, 20)):
        chance = _ONE
        for tau in range(1, 41):
            if tau % 2:  # at least tau and even: not tau - 1
                chance -= last_return(p, tau // 2)
            with precision(64):
                bound = ball(share / 2) * tail_bound(p, Fraction(tau, 2))
                at_most(chance, bound, p=p, tau=tau)


@ALP.holds("Lemma 4.9", "proof, central binomial coefficient")
@mutant("sqrt(pi (j + 0.3)) in the denominator", shift=Fraction(3, 10))
def central_binomial(shift: Fraction = Fraction(0)) -> None:
    """C(2j, j) <= 4^j/sqrt(pi j) for j >= 1: the quotient of both sides rises with j for ever, and
    is below 1 at j = 10^9.
    """
    j, s = sp.symbols("j", positive=True), sp.Rational(str(shift))
    step = (2 * j + 1) ** 2 / (2 * j + 2) ** 2 * (j + 1 + s) / (j + s)  # of the squares
    rise = (1 - 4 * s) * j + 1 - 3 * s
    identity(step - 1 - rise / (4 * (j + 1) ** 2 * (j + s)))
    with precision(128):
        n = arb(10**9)
        power = (2 * n + 1).lgamma() - 2 * (n + 1).lgamma() - n * arb(4).log()
        at_most(power.exp() * (arb.pi() * (n + ball(shift))).sqrt(), 1)
    never_negative([1 - 4 * shift, 1 - 3 * shift], 0, 1)  # rise/j, in 1/j


@ALP.conditional("Lemma 4.10")
@mutant(share=Fraction(77, 100))
@fitted(share=Fraction(78, 100))
def lemma_4_10(share: Fraction = _ONE) -> None:
    """With probability at least 1 - psi, |y_i - y~_i| <= 2 log(2/(psi sqrt(pi) (1 - 2p)))/log(1/(4p
    - 4p^2)).

    Condition: y_i <= m, which Lemmas 4.7 and 4.11 state and this one does not repeat.
    """
    for (alpha, collision), y in product(_CASES, range(8)):
        q = rates(alpha, collision)[1]
        for size, chance in _tail(_distances(y, alpha, collision)):
            psi = chance * Fraction(999, 1000)  # errors of this size are too likely to be left out
            with precision(64):
                bound = ball(share) * quantile_steps(q, psi)
                at_most(size, bound, alpha=alpha, collision=collision, y=y, size=size)


@ALP.holds("Lemma 4.11")
@mutant(share=Fraction(21, 100))
@fitted(share=Fraction(22, 100))
def lemma_4_11(share: Fraction = _ONE) -> None:
    """For x_i <= beta and tau >= alpha, P(|x_i - x~_i| >= tau) < 2 (4 (p - p^2))^(tau/(2 alpha) -
    1/2)/(sqrt(pi) (1 - 2p)), p = 1/(gamma + 2).

    Needs: Lemma 4.9 with its correction, as a tail of central binomials for every tau.
    """
    for (alpha, collision), part in product(_CASES, _PARTS):
        q = rates(alpha, collision)[1]
        for tau, chance in _tail(_errors(part, alpha, collision)):
            if tau >= alpha:
                with precision(64):
                    bound = ball(share) * tail_bound(q, tau / alpha / 2 - Fraction(1, 2))
                    below(chance, bound, alpha=alpha, collision=collision, levels=part, tau=tau)


@ALP.holds("Lemma 4.11", "quantile")
@mutant(share=Fraction(63, 100))
@fitted(share=Fraction(64, 100))
def entry_quantile(share: Fraction = _ONE) -> None:
    """With probability at least 1 - psi, |x_i - x~_i| < (1 + 2 log(2/(psi sqrt(pi) (1 - 2p)))/
    log(1/(4p - 4p^2))) alpha.
    """
    for (alpha, collision), part in product(_CASES, _PARTS):
        q = rates(alpha, collision)[1]
        for size, chance in _tail(_errors(part, alpha, collision)):
            with precision(64):
                steps = quantile_steps(q, chance * Fraction(999, 1000))
                bound = ball(share * alpha) * (1 + steps)
                below(size, bound, alpha=alpha, collision=collision, levels=part, size=size)


@ALP.holds("Lemma 4.11", "proof")
@mutant(one=Fraction(24, 25))
def pointwise(one: Fraction = _ONE) -> None:
    """|x_i - x~_i| < (1 + |y_i - y~_i|) alpha for every outcome.

    Note: the text prints x'_i for the estimate.
    """
    for part in (Fraction(n, 32) for n in range(129)):
        for y in round_law(part).support:
            for guess in estimate_law(min(y, 5), 5, Fraction(1, 5), Fraction(1, 5)).support:
                below(abs(part - guess), one + abs(y - guess), levels=part, y=y, estimate=guess)


@ALP.note("Lemma 4.15", "second display", severity="unsafe")
@as_printed(of_square=1)
@mutant("log(1/(4p - 9p^2))", of_square=9)
@fitted(of_square=8)
def lemma_4_15_quantile(of_square: int = 4) -> None:
    r"""With probability at least 1 - psi the error is below (1 + 2 log(2/(psi sqrt(pi) (1 -
    2p)))/log(1/(4p - p^2))) alpha/epsilon.

    Printed (Section 4.3, Lemma 4.15, second display, line 418): \log(1/(4p - p^2))
    Corrected: The denominator is log(1/(4p - 4p^2)), as in Lemma 4.11, to which the proof refers.
    Regime: p > 2 - sqrt(3) = 0.268, for example alpha = 1, where 4p - p^2 > 1. For smaller p the
        printed formula is larger than the correct one.
    Extraction: possible, a single digit; Lemmas 4.10 and 4.11 print 4p - 4p^2.

    >>> from math import log, pi, sqrt
    >>> alpha, eps, psi, p = 1, 1, 0.1, 1 / 3                 # no collisions: gamma = alpha
    >>> above = 2 * log(2 / (psi * sqrt(pi) * (1 - 2 * p)))
    >>> (1 + above / log(1 / (4 * p - p * p))) * alpha / eps < 0   # no error is below 0
    True
    >>> (1 + above / log(1 / (4 * p - 4 * p * p))) * alpha / eps > 0
    True
    """
    eps, psis = Fraction(1, 4), (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))
    for (alpha, collision), part, psi in product(_CASES, _PARTS, psis):
        q = rates(alpha, collision)[1]
        law = _errors(part, alpha, collision).map(lambda e: e / eps)
        with precision(64):
            limit = ball(alpha / eps) * (1 + quantile_steps(q, psi, of_square))
            inside = law.probability(lambda e: bool(ball(e) < limit))
        at_most(1 - psi, inside, alpha=alpha, collision=collision, levels=part, psi=psi)


@ALP.holds("Lemma 4.15")
@mutant(share=Fraction(21, 100))
@fitted(share=Fraction(22, 100))
def lemma_4_15(share: Fraction = _ONE) -> None:
    """For x_i <= beta and tau >= alpha/epsilon, P(|x_i - x~_i| >= tau) < 2 (4 (p - p^2))^(tau
    epsilon/(2 alpha) - 1/2)/(sqrt(pi) (1 - 2p)).

    Needs: Lemma 4.11 over its whole domain, scaled by epsilon.
    """
    eps = Fraction(1, 4)
    for (alpha, collision), part in product(_CASES, _PARTS):
        q = rates(alpha, collision)[1]
        for tau, chance in _tail(_errors(part, alpha, collision).map(lambda e: e / eps)):
            if tau >= alpha / eps:
                with precision(64):
                    bound = ball(share) * tail_bound(q, tau * eps / alpha / 2 - Fraction(1, 2))
                    below(chance, bound, alpha=alpha, collision=collision, levels=part, tau=tau)
