"""CP, Lemmas 3.1, 3.2, 3.3 and 3.5: proofs whose steps are decided for all values."""

from __future__ import annotations

import sympy as sp
from flint import arb

from exactdp.balls import ball
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import identity
from exactdp_proofs.polynomials import never_below_zero
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, fitted, mutant


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(str(value))


@CP.holds("Lemma 3.1")
@mutant(share=Fraction(97, 100))
def lemma_3_1(share: Fraction = Fraction(1)) -> None:
    """For sets of sizes within (1 +- beta) m/2, beta < 1, |e_1|_2 <= beta/(1 - beta).

    Proof: A set of size n = (1 + x) m/2 has d' = 1/(1 + x t), t = (e^eps - 1)/(e^eps + 1), and its
        outputs have m times the probability d' (1 + t A), A = +-1. So m times the output's law is
        the sum of p_i d'_i (1 + t A_i), and e_1 is the mean of (d'_i - 1)/t in every coordinate,
        over sqrt m: its norm is at most the largest |x|/(1 + x t), for |x| <= beta, t < 1.
    """
    e, m, n, x = sp.symbols("e m n x", positive=True)
    size, t = n * e + m - n, (e - 1) / (e + 1)
    d = m * (e + 1) / (2 * size)
    identity(m * e / size - d * (1 + t))  # A = +1
    identity(m / size - d * (1 - t))  # A = -1
    identity(d.subs(n, (1 + x) * m / 2) - 1 / (1 + x * t))
    sign = sp.Symbol("A", real=True)
    identity((d * (1 + t * sign) - 1) / t - d * sign - (d - 1) / t)
    # |x| = c <= beta = c + s < 1: c = 1 - s - w, and t = u/(u + v)
    c, s, w, u, v = sp.symbols("c s w u v", nonnegative=True)
    part, grown = u / (u + v), 1 + c + s + w  # all lengths divided by c + s + w + 1
    inside, beta = c / grown, (c + s) / grown
    stated = _rational(share) * beta / (1 - beta)
    never_below_zero(stated - inside / (1 + inside * part))  # x = c
    never_below_zero(stated - inside / (1 - inside * part))  # x = -c


@CP.holds("Lemma 3.2")
@mutant("0.97 sqrt(m/n)", share=Fraction(97, 100))
def lemma_3_2(share: Fraction = Fraction(1)) -> None:
    """E|e_2|_2 <= (e^epsilon + 1)/(e^epsilon - 1) sqrt(m/n); the mean square is exactly
    ((e^epsilon + 1)/(e^epsilon - 1))^2 (m/n)(1 - |q|_2^2).

    Proof: e_2 is the difference of the empirical law and q, times sqrt m (e^epsilon + 1)/
        (e^epsilon - 1). A frequency of n reports has the variance q_j (1 - q_j)/n; these add up to
        (1 - |q|^2)/n, as the q_j add up to 1. The root of the mean square is no less than the mean.
    """
    q, other, n, m, factor = sp.symbols("q r n m f", positive=True)
    identity((q * (1 - q) ** 2 + (1 - q) * q**2) / n - q * (1 - q) / n)  # of one report, over n
    rest = 1 - q - other
    total = sum((x - x**2 for x in (q, other, rest)), sp.Integer(0))
    identity(total - (1 - q**2 - other**2 - rest**2))
    square = sp.Symbol("s", nonnegative=True)  # |q|^2
    bound = _rational(share) ** 2 * factor**2 * m / n
    never_below_zero(sp.expand(bound - factor**2 * m / n * (1 - square)))


@CP.holds("Lemma 3.3")
@mutant("1 + 0.45 beta", slope=Fraction(45, 100))
@fitted(slope=Fraction(463, 1000))
def lemma_3_3(slope: Fraction = Fraction(1, 2)) -> None:
    """For n_i <= (1 + beta) m/2 the projected estimate satisfies
    |p - p_hat|_2 <= (1 + beta/2)|p' - f|_2, for epsilon <= 1, the paper's range.

    Proof: p is in the simplex, and a projection to a convex set moves no point of the set and
        brings points no further apart, so |p - p_hat| <= |p - f/d'|. As p = p'/d', that is at most
        the largest 1/d'_i times |p' - f|; 1/d' = 1 + x t (proof, factor) for n = (1 + x) m/2, with
        t = (e^epsilon - 1)/(e^epsilon + 1), at most 1 + beta/2 where t <= 1/2.
    """
    beta, less, u, v = sp.symbols("beta s u v", nonnegative=True)
    t = u / (u + v)
    never_below_zero((1 + (beta + less) * t) - (1 + beta * t))  # it rises with x <= beta

    def room(epsilon: arb) -> arb:
        return ball(slope) * (epsilon.exp() + 1) - (epsilon.exp() - 1)

    always_positive(room, [(0, 1)])


@CP.holds("Lemma 3.5")
@mutant(rate=Fraction(55, 100))
@fitted(rate=Fraction(1, 2))
def lemma_3_5(rate: Fraction = Fraction(1, 6)) -> None:
    """For a random sign matrix all k columns have n_i within (1 +- beta) m/2 with probability at
    least 1 - 2k exp(-beta^2 m/6), 0 <= beta <= 1.

    Proof: 2 n_i - m is a sum of m fair signs. Its moments are cosh(h)^m <= e^(m h^2/2), since
        (2n)! >= 2^n n!, so it exceeds beta m with probability at most e^(m h^2/2 - h beta m), that
        is e^(-beta^2 m/2) for h = beta; the same below, and for each of k columns.
    """
    n = sp.Symbol("n", nonnegative=True)
    never_below_zero((2 * n + 1) * (2 * n + 2) - 2 * (n + 1))  # the ratios of (2n)! and 2^n n!
    beta, m = sp.symbols("beta m", nonnegative=True)
    exponent = m * beta**2 / 2 - beta * beta * m
    never_below_zero(sp.expand(-exponent - _rational(rate) * beta**2 * m))
