"""ALP, Lemmas 4.5, 4.6 and Appendix A: simple random walks with negative drift."""

from __future__ import annotations

from itertools import product
from math import comb, factorial

import sympy as sp

from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.alp._walk import (
    hit_bounds,
    last_return,
    last_return_bounds,
    last_time_bounds,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, mutant

_CHANCES = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))
_MORE = Fraction(10001, 10000)


def _enclosed(value: Fraction, ends: tuple[Fraction, Fraction], **case: object) -> None:
    """Require that a value lies between ends that come from counted paths."""
    at_most(ends[0], value, **case)
    at_most(value, ends[1], **case)


@ALP.holds("Lemma 4.5")
@mutant("1.0001 times that", factor=_MORE)
def lemma_4_5(factor: Fraction = Fraction(1)) -> None:
    """A simple random walk with p < 1/2 later gains k with probability (p/(1 - p))^k, which is the
    theorem cited in the proof; for k = 1 it exceeds its present value.

    Needs: that the chance of ever gaining 1 is the smaller root of h = p + (1 - p) h^2 (a limit).
    """
    for k, p in product((3, 1), _CHANCES):
        _enclosed(factor * (p / (1 - p)) ** k, hit_bounds(p, k, 120), k=k, p=p)


@ALP.holds("Lemma 4.6")
@mutant("1.0001 times that", factor=_MORE)
def lemma_4_6(factor: Fraction = Fraction(1)) -> None:
    """For p < 1/2 the last step with S_n >= 0 has mean 4 (p - p^2)/(1 - 2p)^2.

    Needs: the generating function of returns, sqrt(1 - 4 p (1 - p) x^2), differentiated inside its
        radius.
    """
    for p in _CHANCES:
        stated = factor * 4 * (p - p * p) / (1 - 2 * p) ** 2
        _enclosed(stated, last_return_bounds(p, 120), p=p)


@ALP.holds("Lemma 4.6", "proof, first display")
@mutant("1.0001 times that", factor=_MORE)
def unique_maximum(factor: Fraction = Fraction(1)) -> None:
    """S_n is the unique maximum from step n on with probability (1 - p)(1 - p/(1 - p)) = 1 - 2p."""
    for p in _CHANCES:
        low, high = hit_bounds(p, 1, 100)
        # back at or above the start: first step up, or down and a climb by one
        ends = 1 - p - (1 - p) * high, 1 - p - (1 - p) * low
        _enclosed(factor * (1 - 2 * p), ends, p=p)


@ALP.holds("Lemma 4.6", "proof, second display")
@mutant("1.0001 times that", factor=_MORE)
def last_step(factor: Fraction = Fraction(1)) -> None:
    """The last nonnegative step is even, and 2i with probability C(2i, i) (p - p^2)^i (1 - 2p).

    Note: the text multiplies by P(S_i > later maximum); the index must be 2i, which has the same
        value 1 - 2p.
    """
    for p in _CHANCES:
        equal(last_time_bounds(p, 3, 60)[1], 0, p=p)
        for i in range(6):
            _enclosed(factor * last_return(p, i), last_time_bounds(p, 2 * i, 100), p=p, i=i)


@ALP.holds("Appendix A")
@mutant("1.0001 times that", factor=_MORE)
def appendix_a(factor: Fraction = Fraction(1)) -> None:
    """The sum over k of k C(2k, k) z^k is 2z/(1 - 4z)^(3/2) for |z| < 1/4."""
    for z in (Fraction(1, 100), Fraction(1, 8), Fraction(-1, 8)):
        partial = sum((k * comb(2 * k, k) * z**k for k in range(1, 120)), Fraction(0))
        x = abs(4 * z)
        rest = x**120 * (120 / (1 - x) + x / (1 - x) ** 2)  # C(2k, k) <= 4^k
        # squares, so that the root in (1 - 4z)^(3/2) disappears
        ends = (abs(partial) - rest) ** 2, (abs(partial) + rest) ** 2
        _enclosed((factor * 2 * z) ** 2 / (1 - 4 * z) ** 3, ends, z=z)


@ALP.note("Appendix A", "range of z")
@as_printed(z=Fraction(-1, 2))
@mutant("for z = -0.26, too", z=Fraction(-26, 100))
def range_of_z(z: Fraction = Fraction(-1, 4)) -> None:
    r"""The series converges, so its terms are bounded, for every z < 1/4.

    Printed (Appendix A, first display, line 882): Starting from an infinite series with $z < 1/4$
    Corrected: It is for |z| < 1/4: the terms grow no faster than sqrt(k) for |z| <= 1/4, and
        exponentially beyond. The paper uses z = p - p^2 >= 0 only.
    Extraction: no: the sentence is complete.

    >>> from math import comb
    >>> [abs(k * comb(2 * k, k) * (-0.5) ** k) > 2**k / 10 for k in (5, 10, 20)]
    [True, True, True]
    """
    for k in range(1, 200):
        term = k * comb(2 * k, k) * z**k
        at_most(3 * term**2, k, k=k)


@ALP.holds("Appendix A", "steps")
@mutant("binomial(-1/2, k - 1)", r=Fraction(-1, 2))
def steps_of_the_derivation(r: Fraction = Fraction(-3, 2)) -> None:
    """All lines of the derivation have the same coefficients of z to z^39, from k C(2k, k) down to
    2 binomial(-3/2, k - 1) (-4)^(k - 1).
    """
    half = Fraction(1, 2)
    for k in range(1, 40):
        first = k * comb(2 * k, k)
        halves = _falling(k - half, k)
        equal(k * factorial(k) * halves * 4**k / Fraction(factorial(k) ** 2), first, k=k)
        equal(halves * 4**k / factorial(k - 1), first, k=k)
        last = 2 * _falling(r, k - 1) / factorial(k - 1) * Fraction(-4) ** (k - 1)
        equal(last, first, k=k)


def _falling(start: Fraction, terms: int) -> Fraction:
    """The product start (start - 1) (start - 2) ... of `terms` factors."""
    value = Fraction(1)
    for j in range(terms):
        value *= start - j
    return value


@ALP.holds("Appendix A", "last display")
@mutant("(1 - 2p)^2", power=2)
def last_display(power: int = 3) -> None:
    """At z = p - p^2, p < 1/2, the value is 2 (p - p^2)/(1 - 2p)^3."""
    p = sp.symbols("p")
    identity((1 - 4 * (p - p**2)) ** 3 - (1 - 2 * p) ** (2 * power))  # squares of (1 - 4z)^(3/2)


ALP.not_checkable(
    "Appendix A",
    "The generalized binomial coefficient and the binomial theorem are Equations 5.1 and 5.12 of "
    "[GKP94].",
    "the book is not at hand",
    "numbers of cited equations",
)
