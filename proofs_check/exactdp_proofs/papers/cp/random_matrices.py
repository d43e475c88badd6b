"""CP, Sections 2 and 3: random sign matrices, their isometry, Lemma 3.5 and Theorem 3.6."""

from __future__ import annotations

from math import comb

from exactdp.balls import ball, precision
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, below
from exactdp_proofs.papers.cp._model import x_coth
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, as_printed, fitted, mutant

#: A little below e, so that rows that are enough with it are enough with e.
_E = Fraction(2_718_281_828, 10**9)


def _not_isometric(m: int) -> Fraction:
    """P(two random sign columns over sqrt(m) are not (2, 1/sqrt(2))-RIP), exactly.

    Their Gram matrix has eigenvalues 1 +- g, g = (m - 2h)/m with h ~ Binomial(m, 1/2). The bounds
    (1 -+ 1/sqrt(2))^2 = 3/2 -+ sqrt(2) ask for |g| <= sqrt(2) - 1/2.
    """
    half = Fraction(1, 2)
    bad = sum(comb(m, h) for h in range(m + 1) if (abs(Fraction(m - 2 * h, m)) + half) ** 2 > 2)
    return Fraction(bad, 2**m)


@CP.refuted("Section 3", "probability of RIP", severity="cosmetic")
@as_printed(rate=Fraction(1), factor=1)
@mutant("at most 2 exp(-0.55 m)", rate=Fraction(55, 100))
def probability_of_rip(rate: Fraction = Fraction(1, 2), factor: int = 2) -> None:
    r"""For two columns the probability that a random sign matrix over sqrt(m) is not
    (2, 1/sqrt(2))-RIP lies between 2^(1 - m) and 2 exp(-m/2).

    Printed (Section 3, Guarantees on Random Matrices, line 229): It is known that for $m \geq O(s
        \log \frac{k}{s})$, B satisfies $(s, 1/\sqrt{2})$ -RIP with probability $1 - e^{-m}$
        (Baraniuk et al. 2008).
    Corrected: The probability is 1 - 2 exp(-c m) with a small constant c < ln 2, as in the source.
        The Omega of Theorem 3.6 absorbs c, as log(k/delta) makes exp(-c m) small against delta.
    Regime: every m and every order s >= 2: two columns are equal with probability 2^-m > e^-m.
    Extraction: no: 1 - e^(-m) stands in Sections 1, 3 and 4 and in two theorems.

    >>> from math import exp
    >>> m = 200                          # any m: two equal columns break RIP of every order s >= 2
    >>> equal = 2.0 ** -m                # the probability that the first two columns are equal
    >>> equal > exp(-m)
    True
    """
    with precision(128):
        for m in (400, 200, 100, *range(1, 41)):
            at_most(Fraction(2, 2**m), _not_isometric(m), m=m)
            at_most(_not_isometric(m), factor * (-ball(rate) * m).exp(), m=m)


@CP.note("Section 2", "rows for RIP", severity="unsafe")
@as_printed(inner=Fraction(1))
@mutant("log(2.6 k/s)", inner=Fraction(26, 10))
def rows_for_rip(inner: Fraction = _E) -> None:
    r"""s log(ek/s) rows, rounded up, are at least s, the least number of rows for RIP of order s.

    Printed (Section 2, after property P2, line 93): a Rademacher random matrix satisfies RIP with
        high probability if $m \geq s \log \frac{k}{s}$
    Corrected: It is m >= O(s log(k/s)), as Sections 1 and 3 say. Without a constant the rows are
        fewer than s for s >= 4 and k <= 2s.

    >>> from math import ceil, log
    >>> s, k = 100, 200
    >>> m = ceil(s * log(k / s))
    >>> m < s                            # any s columns in R^m are dependent: B x = 0, x s-sparse
    True
    """
    with precision(64):
        for k in range(8, 61):
            for s in range(1, k + 1):
                below(s - 1, s * ball(inner * k / s).log(), s=s, k=k)


CP.not_checkable(
    "Section 3",
    "m = O(s log(k/s)) rows suffice for RIP of a random sign matrix.",
    "asymptotic with an unstated constant, cited",
    "rows for RIP",
)


@CP.holds("Section 3", "rows for RIP, s near k", ours=True)
@mutant("log(ek/s) rows are too few as well", inner=_E)
def rows_near_k(inner: Fraction = Fraction(1)) -> None:
    """No constant makes s log(k/s) rows enough for every s < k: s^2 log(k/s) is below s for
    k = s + 1; log(ek/s) does not have this fault.
    """
    with precision(128):
        for s in (1, 10, 1000, 10**6):
            below(s * s * ball(inner * Fraction(s + 1, s)).log(), s, s=s, k=s + 1)


def _outside(m: int, distance: int) -> Fraction:
    """P(|2n - m| >= distance) for n ~ Binomial(m, 1/2)."""
    ways = sum(comb(m, n) for n in range(m + 1) if abs(2 * n - m) >= distance)
    return Fraction(ways, 2**m)


@CP.holds("Lemma 3.5", "on instances", ours=True)
@mutant(rate=Fraction(55, 100))
@fitted(rate=Fraction(1, 2))
def lemma_3_5(rate: Fraction = Fraction(1, 6)) -> None:
    """For a random sign matrix all k columns have n_i within (1 +- beta) m/2 with probability at
    least 1 - 2k exp(-beta^2 m/6), 0 <= beta <= 1.
    """
    cases = [(m, d) for m in range(1, 41) for d in range(m % 2 or 2, m + 1, 2)]
    with precision(128):
        for m, d in (*cases, *((500, d) for d in (20, 50, 126, 250, 500))):
            # the probability jumps at beta = d/m: d itself is counted as outside
            bound = (-ball(rate * Fraction(d * d, m))).exp()
            for k in (1, 5):
                at_most(1 - (1 - _outside(m, d)) ** k, 2 * k * bound, m=m, beta=Fraction(d, m), k=k)


@CP.conditional("Theorem 3.6", rests_on="CP-Theorem-3.4")
@mutant("n = 24 D^2 m/(epsilon alpha)^2", samples=24)
def theorem_3_6(samples: int = 25) -> None:
    """With beta = min(epsilon/2, alpha/(4D)) and m >= 12 log(k/delta)/beta^2, P1 fails with
    probability at most delta by Lemma 3.5, and n = 25 D^2 m/(epsilon alpha)^2 samples make the
    bound of Theorem 3.4 at most alpha, for s-sparse p, epsilon <= 1, alpha <= 1/2 and D >= 1.

    Condition: RIP of order 2s, and its probability, which is not 1 - e^(-m) (see Section 3).
    Note: c = O(1) is 1/(4D). The scheme is 2 epsilon-LDP before epsilon is rescaled.
    """
    # 2k exp(-2 log(k/delta)) <= delta means 2x <= 1 for x = delta/k <= 1/2
    never_negative([1, -2], 0, Fraction(1, 2))
    # beta <= 1/8; the bound over alpha
    half, factor = ball(Fraction(1, 2)), ball(Fraction(17, 16))
    always_positive(
        lambda eps: 1 - factor * (half + 2 * x_coth(eps / 2) / ball(samples).sqrt()), [(0, 1)]
    )


@CP.holds("Theorem 3.6", "against Hadamard response", ours=True)
@mutant(constant=Fraction(74))
def against_hadamard_response(constant: Fraction = Fraction(76)) -> None:
    """Hadamard response with projection needs at most 76 log(k)/(epsilon^2 alpha^4) samples for
    every p, epsilon <= 1 and k >= 2, by 8 coth(epsilon/2)^2 log(2k)/alpha^4. That is the l2 rate of
    Theorem 3.6, up to the constant, where m = log(k)/(c alpha)^2, and m is never less.
    """
    # log(2k) <= 2 log(k)
    always_positive(lambda eps: ball(constant) - 2 * 8 * (2 * x_coth(eps / 2)) ** 2, [(0, 1)])


CP.not_checkable(
    "Theorem 3.6",
    "O(m/(epsilon alpha)^2) samples for l2 and O(s m/(epsilon alpha)^2) for l1, also for "
    "(s, sqrt(s) alpha)- and (s, alpha)-sparse p, with probability 1 - delta - e^(-m).",
    "asymptotic: whether delta + e^(-m) is exceeded depends on the unstated constant in m; "
    "explicit constants are under Theorem 3.6 and Corollary 3.4.1",
    "rates",
)
