"""SVA, Equation (1) and Table II: numbers of bins and error factors of the settings."""

from __future__ import annotations

from itertools import product
from math import isqrt
from typing import Any

from exactdp.balls import ball, precision
from exactdp.local import SparseVectorMean
from exactdp_proofs.comparisons import agree, at_most, equal, identity, within
from exactdp_proofs.papers.sva._tails import walk_tail
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, mutant


@SVA.refuted("Equation (1)", severity="loose")
@as_printed(power=Fraction(2, 3), last=Fraction(3, 2), apart=5)
@mutant("for L <= k^(5/12)", last=Fraction(5, 12))
def equation_1(
    power: Fraction = Fraction(2), last: Fraction = Fraction(1, 3), apart: int = 0
) -> None:
    r"""With b = k/L^(2/3) bins for L <= k^(3/2) noise and collisions are balanced, up to
    logarithms and epsilon: k/b = min(L^2, b L).

    Printed (Section II-C, equation (1), line 170):
        \tilde{\Theta}\left(\frac{k}{L^{\frac{2}{3}}}\right),
        & \text{if } L \leq k^{\frac{3}{2}}
    Corrected: They are balanced at b = k/L^2 for L <= k^(1/3), where both terms are L sqrt(n), and
        at b = sqrt(k/L) beyond.
    Regime: L > 1; at user level, L = 2k, the noise is of the order k^(2/3) where sqrt(k) is
        possible.
    Extraction: no: 'L <= k^(3/2)' is printed twice; but the next paragraph, Section IV-C and Table
        II have k^(1/3) and L^2.
    Note: the printed form may be wrong by a factor 2^(5/2) in each term, as logarithms are dropped.

    >>> k, L = 10**6, 10**3                        # L <= k^(3/2)
    >>> def terms(b): return round((k / b) ** 0.5), round(min(L, (b * L) ** 0.5))
    >>> terms(k / L ** (2 / 3))                    # collisions and noise: not equal
    (10, 1000)
    >>> terms((k / L) ** 0.5)                      # the second case: both (kL)^(1/4)
    (178, 178)
    """
    for log_k, j in ((digits, j) for digits in (6, 12, 15) for j in range(digits + 2)):
        # k = 2^log_k, L = 2^j; squared terms, as logarithms to base 2
        log_b = log_k - power * j if j <= last * log_k else Fraction(log_k - j, 2)
        gap = log_k - log_b - min(Fraction(2 * j), log_b + j)
        at_most(abs(gap), apart, k=2**log_k, L=2**j)


@SVA.holds("Equation (1)", "second case")
@mutant("b = 1.1 sqrt(k/L)", more=Fraction(11, 10))
def second_case(more: Fraction = Fraction(1)) -> None:
    """b = sqrt(k/L) makes sqrt(k/b) + sqrt(b L) least, and both terms (k L)^(1/4)."""
    with precision(80):
        for k, length in ((4096, 16), (10**4, 25), (10**4, 100), (8100, 4)):
            b = more * isqrt(k // length)
            terms = ball(k / b).sqrt(), ball(b * length).sqrt()
            for other in (x for x in range(1, 400) if x != b):
                total = ball(Fraction(k, other)).sqrt() + ball(other * length).sqrt()
                at_most(sum(terms), total, k=k, L=length, b=other)
            for term in terms:
                agree(term, ball(k * length).root(4), k=k, L=length)


@SVA.holds("Table II", "event-level row")
@mutant("Delta = 1.99", noise=Fraction(199, 100))
def event_row(noise: Fraction = Fraction(2)) -> None:
    """At L = 2 the b = epsilon^2 k/4 bins and Delta = 2 make both error terms 2/epsilon: as
    shipped, collisions have the mean square (2/epsilon)^2, and the noise has the variance of
    Lap(2/epsilon) within 0.003 %.
    """
    for k, epsilon in product((16, 64, 256), (Fraction(1), Fraction(1, 2), Fraction(2))):
        basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": epsilon, "level": "event"}
        plan = SparseVectorMean(**basic, bins=int(epsilon**2 * k / 4)).plan
        # a collision is the walk of k ones that fall into the bin with probability 1/b
        tails = (walk_tail(k, plan.bins, m) for m in range(1, k + 1))
        square = sum(((2 * m - 1) * p for m, p in enumerate(tails, start=1)), Fraction(0))
        equal(square, (2 / epsilon) ** 2, k=k, epsilon=epsilon)
        equal(plan.collisions, square, k=k, epsilon=epsilon)
        laplace = 2 * (noise / epsilon) ** 2
        within(plan.noise, laplace, 3 * laplace / 10**5, k=k, epsilon=epsilon)


@SVA.conditional("Table II", "row L >= cube root of k")
@mutant(least=Fraction(201, 100))
def third_row(least: Fraction = Fraction(2)) -> None:
    """The best number of bins gives the error factor 2 (k L l)^(1/4)/sqrt(epsilon), l the
    logarithm: the least value of sqrt(k/b) + sqrt(b L l)/epsilon. The dependence on epsilon is
    better than the printed 1/epsilon.

    Condition: epsilon <= 1 and b* = epsilon sqrt(k/(L l)) >= 1. For fewer bins than one, as at
        L = 2k with epsilon^2 < 2 l, b = 1 is best and its factor is larger by a power of l.
    """
    import sympy as sp

    # fourth roots as symbols: k = kappa^4, b = beta^4, L l = m^4; and epsilon = e^2
    kappa, beta, m, e = sp.symbols("kappa beta m e", positive=True)
    gap = (kappa / beta) ** 2 + (beta * m / e) ** 2 - sp.Rational(str(least)) * kappa * m / e
    identity(gap - (kappa / beta - beta * m / e) ** 2)
    identity(gap.subs(beta, sp.sqrt(kappa * e / m)))  # 0 at b*


SVA.not_checkable(
    "Table II",
    "Parameters, errors and communication of the four settings.",
    "asymptotic; Theorems 1, 2 and 12 have the constants of the error factors and of the "
    "communication, and Section IV-C has the rows without delta (f1) and the clipping range",
)
