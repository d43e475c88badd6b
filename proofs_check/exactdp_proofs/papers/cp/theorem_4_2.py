"""CP, Theorems 4.2 and 4.3: error bound and rates in the medium privacy regime."""

from __future__ import annotations

from math import comb

import sympy as sp

from exactdp.balls import ball, precision
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.cp._model import empirical_laws, instances, minus, output, square
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, fitted, mutant

#: Just above 1/e, the largest value of exp(-epsilon) for epsilon >= 1.
_INVERSE_E = Fraction(36788, 100_000)


def _weight(sign: int) -> sp.Expr:
    """1/d'_i = 1 + sign b r for n_i = (1 + sign b) m/e, as an identity; r = (e - 1)/(2e - 1)."""
    e, b, m, r = sp.symbols("e b m r", positive=True)
    n = (1 + sign * b) * m / e
    inverse = (n * e + m - n) / (m * (2 - 1 / e))
    identity(inverse - 1 - sign * b * (e - 1) / (2 * e - 1))
    return 1 + sign * b * r


@CP.conditional("Theorem 4.2", rests_on="CP-Section-4-rows-for-RIP")
@mutant("0.65 beta in place of (2/3) beta", slope=Fraction(65, 100))
def theorem_4_2(slope: Fraction = Fraction(2, 3)) -> None:
    """The expected l2 error is at most D (1 + beta/2)((2/3) beta + sqrt(m/n)) g + (1 + beta/2)^2
    (C/sqrt(s))|p - [p]_s|_1, g = (2 e^epsilon - 1)/(e^epsilon - 1)^(3/2), with C = 16 C'/15.
    Checked are the two error terms and the two factors, one by one.

    Condition: beta <= 1/2, and recovery within (C'/sqrt(s))|p' - [p']_s|_1 + D|e_1 + e_2|_2, for
        which the standardised matrix must be RIP of order 2s. The theorem neither assumes that nor
        counts it in its probability, and C and D are not given.
    """
    _second_error()
    _largest_inverse(Fraction(1, 2))
    _tail(Fraction(16, 15))
    _first_error(slope)


def _second_error() -> None:
    """E|e_2|^2 <= g^2 m/n for e_2 = g sqrt(m) (q_hat - q), over every outcome of two reports."""
    for columns, e, p in instances((Fraction(2), Fraction(3))):
        q = output(columns, e, p)
        laws = empirical_laws(q, 2)
        spread = sum((chance * square(minus(seen, q)) for chance, seen in laws), Fraction(0))
        equal(spread, (1 - square(q)) / 2, e=e, p=p)
        at_most(spread, Fraction(1, 2), e=e, p=p)


def _first_error(slope: Fraction) -> None:
    """|d' - 1| = b r/(1 - b r), largest for n = (1 - b) m/e; b <= 1/2, and r < 1/2 for every e."""
    b, r = sp.symbols("b r", positive=True)
    identity(1 / _weight(-1) - 1 - b * r / (1 - b * r))
    # slope b (1 - b r) - b r, over b and at r = 1/2, where it is least
    never_negative([slope - Fraction(1, 2), -slope / 2], 0, Fraction(1, 2))


def _largest_inverse(half: Fraction) -> None:
    """max 1/d' = 1 + beta r <= 1 + half beta for n <= (1 + beta) m/e."""
    _weight(1)
    # half - r with r = (1 - u)/(2 - u), u = 1/e, times 2 - u
    never_negative([2 * half - 1, 1 - half], 0, 1)


def _tail(constant: Fraction) -> None:
    """max d'/min d' = (1 + b r)/(1 - b r) <= constant (1 + b/2)^2, worst at r = 1/2."""
    b, r = sp.symbols("b r", positive=True)
    factor = _weight(1) / _weight(-1)
    identity(sp.diff(factor, r) - 2 * b / (1 - b * r) ** 2)
    identity(factor.subs(r, sp.Rational(1, 2)) / (1 + b / 2) ** 2 - 1 / (1 - b**2 / 4))
    never_negative([constant - 1, 0, -constant / 4], 0, Fraction(1, 2))


@CP.conditional("Theorem 4.2", "first error term")
@mutant("0.65 beta", slope=Fraction(65, 100))
def first_error_term(slope: Fraction = Fraction(2, 3)) -> None:
    """The unequal sizes contribute at most |e_1|_2 <= (2/3) beta g, that is
    |d'_i - 1| <= (2/3) beta, for every epsilon.

    Condition: beta <= 1/2, as in Lemma 3.1. Theorem 4.2 does not repeat it, and Lemma 4.1 has
        beta <= 1, where an empty set has |d'_i - 1| = 9/10 for e^epsilon = 10.
    """
    _first_error(slope)


@CP.holds("Theorem 4.2", "factor 1 + beta/2")
@mutant("1 + 0.49 beta", half=Fraction(49, 100))
def factor_of_the_error(half: Fraction = Fraction(1, 2)) -> None:
    """max 1/d'_i <= 1 + beta (e^epsilon - 1)/(2 e^epsilon - 1) <= 1 + beta/2 for every epsilon."""
    _largest_inverse(half)


@CP.holds("Theorem 4.2", "factor of the tail term", ours=True)
@mutant("not enlarged", constant=Fraction(1))
def factor_of_the_tail_term(constant: Fraction = Fraction(16, 15)) -> None:
    """As in Theorem 3.4 the tail is scaled by max d'_i, not by max 1/d'_i; the square
    (1 + beta/2)^2 then needs C enlarged by at most 16/15 for beta <= 1/2.
    """
    _tail(constant)


@CP.holds("Theorem 4.2", "probability")
@mutant("2 in place of 3", divisor=Fraction(2))
@fitted(divisor=Fraction(21, 10))
def probability(divisor: Fraction = Fraction(3)) -> None:
    """One column has n within (1 +- beta) m/e^epsilon except with probability
    2 exp(-beta^2 m/(3 e^epsilon)), 0 < beta <= 1.
    """
    for e, m in ((3, 30), (4, 120), (20, 1000)):
        weighted = [comb(m, n) * (e - 1) ** (m - n) for n in range(m + 1)]
        for beta in (Fraction(1, 5), Fraction(2, 5), Fraction(7, 10), Fraction(99, 100)):
            far = sum(w for n, w in enumerate(weighted) if abs(n * e - m) > beta * m)
            with precision(64):
                bound = 2 * (-ball(beta * beta * m / (divisor * e))).exp()
                at_most(Fraction(far, e**m), bound, m=m, e=e, beta=beta)


@CP.conditional("Theorem 4.3", rests_on="CP-Section-4-rows-for-RIP")
@mutant("n = 26 D^2 m/(e^epsilon alpha^2)", samples=26)
def theorem_4_3(samples: int = 27) -> None:
    """For s-sparse p and epsilon >= 1 the bound of Theorem 4.2 is at most alpha, for l2, with
    n = 27 D^2 m/(e^epsilon alpha^2) and beta <= alpha/(4 D g), beta <= 1/2.

    Condition: RIP of order 2s of the standardised matrix, for which m must be of the order
        e^epsilon s log(k/s). The printed m is that for l1, and for l2 only where alpha =
        O(1/sqrt(s)).
    """
    # over alpha: (1 + 1/4)(1/6 + sqrt(e^epsilon g^2/samples)) <= 1
    _noise_factor(samples * (Fraction(4, 5) - Fraction(1, 6)) ** 2)


def _noise_factor(constant: Fraction) -> None:
    """e^epsilon g^2 <= constant for epsilon >= 1: with u = e^-epsilon it is (2 - u)^2/(1 - u)^3."""
    always_positive(lambda u: ball(constant) * (1 - u) ** 3 - (2 - u) ** 2, [(0, _INVERSE_E)])


@CP.holds("Theorem 4.3", "noise factor")
@mutant("at most 10.54", constant=Fraction(1054, 100))
def noise_factor(constant: Fraction = Fraction(1055, 100)) -> None:
    """e^epsilon (2 e^epsilon - 1)^2/(e^epsilon - 1)^3 <= 10.55 for epsilon >= 1, so that the noise
    m g^2/n is of the order m/(e^epsilon n).
    """
    _noise_factor(constant)


CP.not_checkable(
    "Theorem 4.3",
    "O(m/(e^epsilon alpha^2)) samples for l2 and O(s m/(e^epsilon alpha^2)) for l1, with "
    "probability 1 - delta - e^(-m), for 1 <= epsilon <= log m.",
    "asymptotic with unstated constants. Where the second term of m dominates, n is of the order "
    "log(k/delta)/(c^2 alpha^4) for every epsilon",
    "rates",
)
