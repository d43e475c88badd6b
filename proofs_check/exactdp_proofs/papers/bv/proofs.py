"""BV, Theorems 4.4, 4.5 and 5.1: proofs whose steps are decided for all values."""

from __future__ import annotations

import sympy as sp

from exactdp_proofs.comparisons import identity
from exactdp_proofs.polynomials import never_below_zero
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, mutant, weaker


@BV.holds("Theorem 4.4")
@weaker
def theorem_4_4(loss: Fraction = Fraction(1)) -> None:
    """The geometric mechanism clamped to [0, n] is (epsilon/2, 0)-DP for counting queries.

    Note: with q = e^(-epsilon/2), from the count c to c + 1, for every n: the outcomes are z = 0,
        z = c - m > 0, z = c + 1 + m < n, and z = n = c + 1 + r.
    """
    q = sp.Symbol("q", positive=True)
    m, c, rest = sp.symbols("m c r", nonnegative=True, integer=True)
    x = q ** sp.Rational(str(loss))  # the ratio of the mechanism
    inner = (1 - x) / (1 + x)  # times x^|z - c|: the noisy count before clamping
    beyond = x**m / (1 - x)  # the sum of x^i over i >= m, which gives the masses of 0 and n
    identity(sp.powsimp(sp.expand((1 - x) * beyond * (1 - x) - (1 - x) * x**m)))
    identity(sp.simplify(inner * beyond - x**m / (1 + x)))
    pairs = (
        (x**c / (1 + x), x ** (c + 1) / (1 + x)),  # z = 0
        (inner * x**m, inner * x ** (m + 1)),  # z = c - m > 0
        (inner * x**m, inner * x ** (m + 1)),  # z = c + 1 + m < n, from c + 1 to c
        (x**rest / (1 + x), x ** (rest + 1) / (1 + x)),  # z = n = c + 1 + r, from c + 1 to c
    )
    for more, less in pairs:
        identity(sp.powsimp(sp.simplify(less / more)) - q)


@BV.holds("Theorem 4.5")
@mutant("with b one larger", more=1)
def theorem_4_5(more: int = 0) -> None:
    """For eps~ = 2 ln(1 + 2^-b), b = ceil(log2(2/epsilon)), a deterministic algorithm maps uniform
    U in 1, ..., d to the clamped geometric mechanism's law for eps~, d = (A + B) A^(n-1) with
    A = 2^b + 1 and B = 2^b.

    Proof: q = e^(-eps~/2) is B/A. The integers F(z) = B^(c-z) A^(n-c+z) for z < c,
        d - B^(z-c+1) A^(n-z+c-1) for c <= z < n, and F(n) = d, are d times the distribution
        function of the clamped law: each difference is d times its probability. The least z with
        F(z) >= U has this law (Lemma 2.7). That eps~ is in (4/9 epsilon, epsilon] is a part of its
        own.
    """
    b_power, below, above, last = sp.symbols("B X Y Z", positive=True)
    a = b_power + 1
    # the law is stated for b + more: q = 2^(b + more)/(2^(b + more) + 1)
    q = 2**more * b_power / (2**more * b_power + 1)
    inner = (1 - q) / (1 + q)
    # z <= c, m = c - z: X = B^m, Y = A^(n-1-m), Z = A^m; so A^(n-1) = Y Z and q^m = X/Z
    d = (a + b_power) * above * last
    identity((below * above * a) - d * (below / last) / (1 + q))  # z = 0
    identity(below * above * a - below * b_power * above - d * inner * below / last)  # 0 < z < c
    # z = c: A^(n-1) = Y
    whole = (a + b_power) * above
    identity(whole - b_power * above - b_power * above - whole * inner)
    identity(whole - b_power * above - whole / (1 + q))  # z = c = 0
    # z > c, m = z - c
    identity((d - below * b_power * above) - (d - below * a * above) - d * inner * below / last)
    # z = n > c, n - 1 - c = m: d - F(n - 1) = B^(m+1) A^(n-1-m)
    identity(below * b_power * above - d * (below / last) * q / (1 + q))


@BV.holds("Theorem 5.1")
@weaker
def theorem_5_1(loss: Fraction = Fraction(1)) -> None:
    """BasicHistogram on a fixed set A of bins is (epsilon, 0)-DP when the counting-query algorithm
    is (epsilon/2, 0)-DP.

    Proof: To replace a row of an element by one of another lowers one count by 1 and raises
        another by 1 (part neighbours); all other counts stay. The noise is independent, so the
        probability of a release is a product, in which all factors but two cancel, and each of
        these changes by a factor of at most r = e^(epsilon/2): p p' <= r^2 q q'.
    Rocq: histogram_of_counts
    """
    q, s, other, t, r = sp.symbols("q s u t r", positive=True)
    p, p_other = sp.symbols("p v", nonnegative=True)
    # r q = p + s and r q' = p' + t with s, t >= 0
    never_below_zero((p + s) * (p_other + t) - p * p_other)
    identity(r * q * (r * other) - r**2 * q * other)
    half = sp.Rational(str(loss)) / 2  # epsilon/2 of the algorithm, in units of epsilon
    identity(half + half - 1)


@BV.holds("Theorem 6.1")
@weaker
def theorem_6_1(loss: Fraction = Fraction(1)) -> None:
    """KeepHeavy is (epsilon, 0)-DP when the counting-query algorithm is (epsilon/2, 0)-DP.

    Proof: Its output is a function of the noisy counts of all bins, which BasicHistogram releases
        with A = X (Theorem 5.1). A result has the sum of the probabilities of the counts that lead
        to it, and p <= e^epsilon q holds for sums if it holds for each.
    Rocq: heavy_counts
    """
    p, s, more, t = sp.symbols("p s u t", nonnegative=True)
    never_below_zero((p + s) + (more + t) - (p + more))  # e^epsilon q = p + s, of two outcomes
    half = sp.Rational(str(loss)) / 2
    identity(half + half - 1)
