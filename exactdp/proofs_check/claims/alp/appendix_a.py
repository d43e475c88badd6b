"""ALP, Appendix A: the closed form of the series in Lemma 4.6."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, factorial

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _binomial(r: Fraction, k: int) -> Fraction:
    """r (r - 1) ... (r - k + 1)/k!."""
    value = Fraction(1)
    for j in range(k):
        value *= r - j
    return value / factorial(k)


def _half_product(start: Fraction, terms: int) -> Fraction:
    """start (start - 1) (start - 2) ... with that many factors."""
    value = Fraction(1)
    for j in range(terms):
        value *= start - j
    return value


def _coefficients(r: Fraction) -> str:
    """Each line of the derivation has the same coefficient of z^k."""
    for k in range(1, 60):
        first = Fraction(k * comb(2 * k, k))
        halves = factorial(k) * _half_product(k - Fraction(1, 2), k)
        second = k * halves * 4**k / Fraction(factorial(k) ** 2)
        third = _half_product(k - Fraction(1, 2), k) * 4**k / factorial(k - 1)
        signed = Fraction(1)
        for j in range(k - 1):
            signed *= -Fraction(3, 2) - j
        fourth = 2 * signed / factorial(k - 1) * Fraction(-4) ** (k - 1)
        fifth = 2 * _binomial(r, k - 1) * Fraction(-4) ** (k - 1)
        lines = (first, second, third, fourth, fifth)
        require(len(set(lines)) == 1, f"k={k}: {[str(c) for c in lines]}")
    return "coefficients of z to z^59 in all five lines"


def _closed(factor: Fraction) -> str:
    """sum k C(2k, k) z^k = factor * 2z/(1 - 4z)^(3/2), by certified partial sums."""
    for z in (Fraction(1, 100), Fraction(1, 8), Fraction(-1, 8)):
        partial = sum((k * comb(2 * k, k) * z**k for k in range(1, 120)), Fraction(0))
        x = abs(4 * z)
        rest = x**120 * (120 / (1 - x) + x / (1 - x) ** 2)  # C(2k, k) <= 4^k
        # compare squares, so that the root in (1 - 4z)^(3/2) disappears
        low, high = sorted((abs(partial) - rest, abs(partial) + rest))
        square = (factor * 2 * z) ** 2 / (1 - 4 * z) ** 3
        require(low**2 <= square <= high**2, f"z={z}: sum {float(partial)}")
    return "z = 1/100, 1/8, -1/8, 119 terms with a geometric remainder"


def _substituted(power: int) -> str:
    """2z/(1 - 4z)^(3/2) at z = p - p^2, p = 1/2 - h with h > 0."""
    import sympy as sp

    h = sp.symbols("h", positive=True)
    p = sp.Rational(1, 2) - h
    z = sp.expand(p - p**2)
    closed = 2 * z / sp.expand(1 - 4 * z) ** sp.Rational(3, 2)
    gap = sp.simplify(closed - 2 * (p - p**2) / (1 - 2 * p) ** power)
    require(gap == 0, f"they differ by {gap} at p = 1/2 - h")
    return "identity in h = 1/2 - p > 0"


def _general(shift: Fraction) -> str:
    """The partial sums of binomial(r, k) z^k enclose (1 + z)^(r + shift).

    Beyond the K-th term, K = 99 > |r| + 1, each is at most |z| (1 + |r|/K) times the one before.
    """
    for r, z in product(
        (Fraction(-3, 2), Fraction(1, 3), Fraction(2)), (Fraction(1, 2), Fraction(-2, 3))
    ):
        terms = [_binomial(r, k) * z**k for k in range(100)]
        ratio = abs(z) * (1 + (abs(r) + 1) / 99)
        rest = abs(terms[-1]) * ratio / (1 - ratio)
        with precision(128):
            power = ball(1 + z) ** ball(r + shift)
            gap = abs(power - ball(sum(terms, Fraction(0))))
            fine = bool(gap <= ball(rest + Fraction(1, 10**30)))
        require(fine, f"r={r}, z={z}: off by {gap.str(5)}")
    return "r = -3/2, 1/3, 2, z = 1/2, -2/3, 100 terms with a geometric remainder"


CLAIMS = (
    ALP.verified(
        "Appendix A",
        "The sum over k of k C(2k, k) z^k is 2z/(1 - 4z)^(3/2) for |z| < 1/4.",
        "enumeration",
        **varied(_closed, Fraction(1), Fraction(10001, 10000), "1.0001 times that"),
        note="The text asks for z < 1/4 only; the series needs |z| < 1/4 (here z >= 0).",
    ),
    ALP.verified(
        "Appendix A, steps",
        "All lines of the derivation have the same coefficients, down to binomial(-3/2, k - 1).",
        "enumeration",
        **varied(_coefficients, Fraction(-3, 2), Fraction(-1, 2), "binomial(-1/2, k - 1)"),
    ),
    ALP.verified(
        "Appendix A, binomial theorem",
        "(1 + z)^r is the sum of binomial(r, k) z^k for real r and |z| < 1.",
        "certified numerics",
        **varied(_general, Fraction(0), Fraction(1, 1000), "it is (1 + z)^(r + 0.001)"),
    ),
    ALP.proved(
        "Appendix A, last display",
        "At z = p - p^2, p < 1/2, the value is 2 (p - p^2)/(1 - 2p)^3.",
        "symbolic",
        **varied(_substituted, 3, 2, "(1 - 2p)^2"),
    ),
    ALP.not_checkable(
        "Appendix A, numbers of cited equations",
        "The definition and the theorem are Equations 5.1 and 5.12 of [GKP94].",
        "the book is not at hand",
    ),
)
