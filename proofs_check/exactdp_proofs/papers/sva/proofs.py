"""SVA, Lemmas 14, 20, 21 and 23, Theorems 17 and 18: proofs decided for all values."""

from __future__ import annotations

import sympy as sp

from exactdp_proofs.comparisons import identity
from exactdp_proofs.polynomials import never_below_zero
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, fitted, mutant, weaker


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(str(value))


@SVA.holds("Lemma 14")
@mutant(constant=Fraction(7, 4))
@fitted(constant=Fraction(2))
def lemma_14(constant: Fraction = Fraction(3)) -> None:
    """For L-neighbouring v, v' with L/b >= log(2b/delta), the bins differ by more than
    3 sqrt(b L log(2b/delta)) in total with probability at most delta.

    Proof: Let D be the differences of the entries, |D_l| <= 2 and sum |D_l| <= L, and W the sum of
        |bin differences|. e^(t W) is at most the sum over signs e_j of the bins of the product of
        e^(t e_j B_j), whose mean is the product of cosh(t D_l), as the signs of entries are fair.
        cosh x <= e^(x^2/2), since (2n)! >= 2^n n!, and D^2 <= 2 |D|, so the mean of e^(t W) is at
        most 2^b e^(t^2 L). With t = W/(2L), P(W > w) <= 2^b e^(-w^2/(4L)). For w = c sqrt(b L g),
        g = log(2b/delta) >= log 2, that is at most delta = 2b e^(-g) for every c >= 2.
    """
    n, u, v = sp.symbols("n u v", nonnegative=True)
    never_below_zero((2 * n + 1) * (2 * n + 2) - 2 * (n + 1))  # the ratios of (2n)! and 2^n n!
    size = 2 * u / (u + v)  # |D| from 0 to 2
    never_below_zero(2 * size - size**2)
    length, w = sp.symbols("L w", positive=True)
    t = w / (2 * length)
    identity(t**2 * length - t * w + w**2 / (4 * length))
    # b = 1 + m, g = log 2 + s, and log b >= 0 is left out
    more, log_two, s = sp.symbols("m log2 s", nonnegative=True)
    bins, log = 1 + more, log_two + s
    exponent = _rational(constant) ** 2 * bins * log / 4
    never_below_zero(sp.expand(exponent - bins * log_two + log_two - log))


@SVA.holds("Theorem 17", no_mechanism="it adds divergences of any pairs of laws")
@mutant("delta1 + 0.97 delta2", second=Fraction(97, 100))
def theorem_17(second: Fraction = Fraction(1)) -> None:
    """If X, X' are (eps1, delta1)-close and, for every x, Y given x and Y' given x are
    (eps2, delta2)-close, then the pairs are (eps1 + eps2, delta1 + delta2)-close.

    Proof: Split P(x) = A + R with A = min(P, e^eps1 P') and R of mass at most delta1, and
        P(y given x) = B + S alike, S of mass at most delta2 for every x. Then
        P(x) P(y given x) = A B + A S + R (B + S), where A B <= e^(eps1 + eps2) P' P'(y given x);
        A S has a mass of at most delta2, as A <= P, and R (B + S) one of at most delta1.
    Rocq: two_releases
    """
    a, r, b, s, t, u = sp.symbols("A R B S t u", nonnegative=True)
    identity((a + r) * (b + s) - a * b - a * s - r * (b + s))
    never_below_zero((a + t) * (b + u) - a * b)  # A <= e^eps1 P' and B <= e^eps2 P'(y given x)
    mass, first, delta = sp.symbols("h d1 d2", nonnegative=True)  # A has the mass 1/(1 + h)
    never_below_zero(first + _rational(second) * delta - first - delta / (1 + mass))


@SVA.holds("Theorem 18")
@mutant("and delta shrinks by 3 %", share=Fraction(97, 100))
def theorem_18(share: Fraction = Fraction(1)) -> None:
    """Closeness survives any randomized function of the outcome.

    Proof: For an event of the result, let k(x) in [0, 1] be its chance given x. The excess
        sum_x (p - e^epsilon p') k is at most sum_x (p - e^epsilon p')_+ <= delta, term by term.
    Rocq: randomized_mapping
    """
    s, u, v = sp.symbols("s u v", nonnegative=True)
    chance = u / (u + v)
    never_below_zero(0 - (-s) * chance)  # p <= e^epsilon p': the term is at most 0
    never_below_zero(_rational(share) * s - s * chance)


@SVA.holds("Lemma 20")
@mutant(square=Fraction(47, 100))
def lemma_20(square: Fraction = Fraction(1, 2)) -> None:
    """The empirical mean of n samples is within sqrt(log(2d)/(2n)) of the distribution's mean in
    expected L_infinity distance, so within O(sqrt(log d/n)) for d >= 2.

    Proof: The log of the moments of a centred variable in [0, 1] has a second derivative
        p (1 - p) <= 1/4, so it is at most h^2/8 (Hoeffding). For the mean of n, and the largest of
        2d of them with signs, E max <= (log(2d) + h^2/(8n))/h for every h > 0. With
        log(2d) = l^2 and n = m^2, h = sqrt(8) m l gives l/(sqrt(2) m).
    """
    p = sp.Symbol("p", real=True)
    identity(sp.Rational(1, 4) - p * (1 - p) - (p - sp.Rational(1, 2)) ** 2)
    log, m = sp.symbols("l m", positive=True)
    h = sp.sqrt(8) * m * log
    bound = (log**2 + h**2 / (8 * m**2)) / h
    identity(sp.simplify(bound**2) - _rational(square) * log**2 / m**2)


@SVA.holds("Lemma 21")
@mutant(factor=Fraction(194, 100))
def lemma_21(factor: Fraction = Fraction(2)) -> None:
    """The decoding error has probability at most (2/eta) E max|A - mean of P_V|, by Markov's
    inequality, since it needs max|Y - V| >= 1/2: at most 1/5 where that mean is at most eta/10.

    Proof: A coordinate of Y less than 1/2 away from 0 or 1 is rounded to it, so an error needs a
        distance w >= 1/2, whose indicator is at most 2 w; Y - V is (A - mean)/eta.
    Rocq: decoding_error
    """
    s = sp.Symbol("s", nonnegative=True)
    never_below_zero(_rational(Fraction(2)) * s)  # w < 1/2: no error
    eta = sp.Symbol("eta", positive=True)
    identity(2 / eta * eta / 10 - sp.Rational(1, 5))
    never_below_zero(_rational(factor) * (sp.Rational(1, 2) + s) - 1)  # w = 1/2 + s


@SVA.holds("Lemma 23")
@weaker
def lemma_23(loss: Fraction = Fraction(1)) -> None:
    """A private channel that gets its input only with probability eta, else a uniform one, is
    private with e^eps' = 1 + eta (e^eps - 1) and delta' = eta delta, so (O(eta eps), O(eta
    delta)).

    Note: a, b and u are the probabilities of an event for two inputs and for a uniform one; the
        hypotheses are a <= e^eps u + delta and a <= e^eps b + delta, with slacks s and t.
    Rocq: degraded_channel
    """
    b, u, over, s, t, delta, first, rest = sp.symbols("b u o s t d p q", nonnegative=True)
    r, eta = 1 + over, first / (first + rest)  # e^eps >= 1, and 0 <= eta <= 1
    grown = 1 + eta * (r - 1)
    # a is both, so it is also their mean with any weight; this one decides
    weight = grown / r
    a = weight * (r * b + delta - t) + (1 - weight) * (r * u + delta - s)
    excess = eta * a + (1 - eta) * u - grown * (eta * b + (1 - eta) * u)
    never_below_zero(weight)
    never_below_zero(1 - weight)
    never_below_zero(sp.together(eta * delta - excess))
    identity((r - 1) * (1 - eta) + grown - r ** _rational(loss))
