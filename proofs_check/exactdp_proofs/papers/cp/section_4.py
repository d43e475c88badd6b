"""CP, Section 4: privacy, linear system and isometry in the medium privacy regime."""

from __future__ import annotations

from itertools import product
from math import comb

import sympy as sp

from exactdp.balls import ball, precision
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.cp._model import (
    MIXED,
    Columns,
    artanh_quotient,
    channel,
    distributions,
    dot,
    first,
    image,
    isometric,
    output,
    plus,
    privacy_factor,
    scaled,
)
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import CP, as_printed, fitted, mutant, weaker

_FACTORS = tuple(Fraction(x) for x in ("5/4", "2", "5", "10", "17"))

#: (1 + 1/sqrt(2))^2 = 3/2 + sqrt(2) < 2.9143 bounds |Bx|^2/|x|^2 from above.
_UPPER = Fraction(29143, 10_000)

CP.not_checkable(
    "Equation (6)",
    "A sign is +1 with probability 1/e^epsilon and -1 otherwise.",
    "a definition; its mean and variance enter the linear system of Section 4",
)


def _normalisers(shift: int) -> None:
    """n e^epsilon + m - n rises with n; its largest ratio is (1 + beta r)/(1 - beta r)."""
    x, b, m, n = sp.symbols("x b m n", positive=True)
    e = 1 + x
    base, r = n * e + m - n, (e - 1) / (2 * e - shift)
    identity(sp.diff(base, n) - x)
    ratio = base.subs(n, (1 + b) * m / e) / base.subs(n, (1 - b) * m / e)
    identity(ratio - (1 + b * r) / (1 - b * r))


@CP.holds("Lemma 4.1", no_mechanism="what unequal sets add; the laws are a part of their own")
@mutant("(epsilon + 1.09 beta)-LDP", slope=Fraction(109, 100))
@fitted(slope=Fraction(11, 10))
def lemma_4_1(slope: Fraction = Fraction(2)) -> None:
    """Sets of sizes within (1 +- beta) m/e^epsilon, 0 <= beta <= 1, make the mechanism
    (epsilon + 2 beta)-LDP, for every epsilon > 0.
    """
    _normalisers(1)
    # the logarithm of their ratio is 2 artanh(beta r), r = (e - 1)/(2e - 1) < 1/2
    always_positive(
        lambda beta, r: ball(slope) / 2 - r * artanh_quotient(beta * r),
        [(0, 1), (0, Fraction(1, 2))],
    )


@CP.holds("Lemma 4.1", "laws of two sets", ours=True)
@weaker
def laws_of_two_sets(loss: Fraction = Fraction(1)) -> None:
    """Two sets of every pair of sizes from 1 to 2 m/e^epsilon, nested or apart, are
    (epsilon + 2 beta)-LDP.
    """
    m = 16
    for e, (a, b) in product((Fraction(4), Fraction(8)), product(range(1, 9), repeat=2)):
        beta = max(abs(n * e / m - 1) for n in (a, b))
        for other in (first(b, m), first(b, m)[::-1]):
            ratio = privacy_factor(channel((first(a, m), other), raised(e, loss)))
            if beta <= 1:
                at_most(ratio, ball(e) * (2 * ball(beta)).exp(), e=e, sizes=(a, b))


@CP.holds("Lemma 4.1", "ratio of the normalisers")
@mutant("r = (e^epsilon - 1)/(2 e^epsilon)", shift=0)
def ratio_of_the_normalisers(shift: int = 1) -> None:
    """The largest ratio of two normalisers is (1 + beta r)/(1 - beta r) with
    r = (e^epsilon - 1)/(2 e^epsilon - 1).
    """
    _normalisers(shift)


@CP.holds("Section 4", "linear system")
@mutant("D' = 0.99 m (2 - 1/e^epsilon) D", share=Fraction(99, 100))
def linear_system(share: Fraction = Fraction(1)) -> None:
    """With D' = m (2 - 1/e^epsilon) D: g (sqrt(m) q - 1/sqrt(m)) = B D'p + g/sqrt(m) J(D' - I)p,
    g = (2 e^epsilon - 1)/(e^epsilon - 1)^(3/2), B the standardised matrix over sqrt(m).
    """
    for columns, e in product(MIXED, _FACTORS):
        m = len(columns[0])
        d = [share * m * (2 - 1 / e) / (plus(c) * e + m - plus(c)) for c in columns]
        # both sides times sqrt(m)/g: sigma = 2 sqrt(e - 1)/e, and sigma g = 2 (2e - 1)/(e (e - 1))
        factor = e * (e - 1) / (2 * (2 * e - 1))
        for p in distributions(len(columns)):
            x, q = scaled(d, p), output(columns, e, p)
            centred = [v - (2 / e - 1) * sum(x) for v in image(columns, x)]
            right = [factor * v + sum(x) - 1 for v in centred]
            equal([m * chance - 1 for chance in q], right, e=e, p=p)


def _bad_column(e: int, m: int) -> Fraction:
    """P(one column of B has a norm outside [1 - 1/sqrt(2), 1 + 1/sqrt(2)]).

    A column with n entries +1 has |b|^2 = (n (e-1)^2 + (m - n))/(m (e-1)).
    """
    half, p = Fraction(3, 2), Fraction(1, e)
    bad = Fraction(0)
    for n in range(m + 1):
        norm = Fraction(n * (e - 1) ** 2 + (m - n), m * (e - 1))
        if (norm - half) ** 2 > 2:  # outside 3/2 -+ sqrt(2)
            bad += comb(m, n) * p**n * (1 - p) ** (m - n)
    return bad


@CP.refuted(
    "Section 4",
    "probability of RIP",
    severity="cosmetic",
    follows_from="CP-Section-3-probability-of-RIP",
)
@as_printed(rate=Fraction(1))
@mutant("at most exp(-m/60)", rate=Fraction(1, 60))
def probability_of_rip(rate: Fraction = Fraction(1, 80)) -> None:
    r"""For e^epsilon = 16, 64 and m = 64, 256 the probability that one column of the standardised
    matrix has a norm outside 1 -+ 1/sqrt(2) is at most exp(-m/80).

    Printed (Section 4, after Lemma 4.1, line 247): It also satisfies $(s, 1/\sqrt{2})$ -RIP with
        probability $1 - e^{-m}$
    Corrected: The exponent has a constant, which falls with epsilon. The term e^epsilon
        log(k/delta) of m in Theorem 4.3 makes up for it.
    Regime: every m.
    Extraction: no: stated in the text and used in Theorem 4.3.

    >>> from math import exp
    >>> e, m = 16, 500
    >>> empty = (1 - 1 / e) ** m                   # a column without a single +1
    >>> norm_squared = 1 / (e - 1)                 # each entry is -sqrt(p/(1-p))/sqrt(m), p = 1/e
    >>> norm_squared < (1 - 0.5 ** 0.5) ** 2 and empty > exp(-m)
    True
    """
    with precision(128):
        for e, m in product((16, 64), (64, 256)):
            at_most(_bad_column(e, m), (-ball(rate * m)).exp(), e=e, m=m)


def _too_few_rows(k: int, s: int, e: int, constant: int) -> None:
    """constant s log(k/s) rows, at least e of them, against s (e - 1)/2.9143."""
    with precision(64):
        rows, mean = constant * s * (ball(k) / s).log(), Fraction(k, e)
        at_most(e, rows, k=k, s=s)  # epsilon <= log m
        # a row almost surely has s entries +1, by Chebyshev's inequality
        at_most(mean * (1 - Fraction(1, e)) / (mean - s) ** 2, Fraction(1, 1000), k=k, s=s)
        at_most(Fraction(s * (e - 1)) / _UPPER, rows, k=k, s=s, e=e, constant=constant)


@CP.refuted("Section 4", "rows for RIP", severity="unsafe")
@as_printed(printed=True)
@mutant("RIP needs m >= 1.02 s (e^epsilon - 1)/2.9143", share=Fraction(102, 100))
def rows_for_rip(share: Fraction = Fraction(1), printed: bool = False) -> None:
    r"""A row with s entries +1 gives an s-sparse x with |Bx|^2 >= s (e^epsilon - 1)|x|^2/m, so RIP
    of order s needs m >= s (e^epsilon - 1)/2.9143. For k >= 2s, (1/2) e^epsilon s log(k/s) is more.

    Printed (Section 4, after Lemma 4.1, line 247): Let $B = \frac{1}{\sqrt{m}} \frac{A -
        \mathbb{E}[A]}{\sigma(A)}$ ... It also satisfies $(s, 1/\sqrt{2})$ -RIP ... for
        $m \geq O(s \log \frac{s}{k})$ (Baraniuk et al. 2008).
    Corrected: m must be of the order e^epsilon s log(k/s). In Theorem 4.3 the second term of m,
        e^epsilon log(k/delta)/(c alpha)^2, makes up for it for l1, and for l2 where alpha =
        O(1/sqrt(s)); for larger alpha its m falls short as well.
    Regime: e^epsilon large against log(k/s), within epsilon <= log m.
    Extraction: no: the cited theorem is for entries with an epsilon-free concentration; here the
        entries +1 are as large as sqrt(e^epsilon - 1)/sqrt(m).

    >>> from math import log
    >>> k, s, e = 2 ** 20, 100, 1024               # a row has k/e = 1024 entries +1 on average
    >>> m = 10 * s * log(k / s)                    # 10 for the constant; eps = 6.9 < log(m) = 9.1
    >>> norm_squared = s * (e - 1) / m             # at least, for x = 1/sqrt(s) on s of them
    >>> norm_squared > 3 * (1 + 0.5 ** 0.5) ** 2   # and so for every constant, as e^eps grows
    True
    """
    if printed:
        for sizes in ((2**30, 100, 2**14, 100), (2**60, 2**20, 2**24, 1000)):
            _too_few_rows(*sizes)
    at_most(1 / _UPPER, ball(2).log() / 2)
    single: Columns = ((1,),) * 3  # one row: equality
    for columns, e in product((single, *MIXED), (*_FACTORS, 1 + Fraction(29, 30))):
        m, variance = len(columns[0]), 4 * (e - 1) / e**2
        standard = [[a - (2 / e - 1) for a in column] for column in columns]
        products = [[dot(a, b) / variance / m for b in standard] for a in standard]
        for row in zip(*columns, strict=True):
            ones = [x for x, sign in enumerate(row) if sign == 1]
            s, norm = len(ones), sum((products[a][b] for a in ones for b in ones), Fraction(0))
            at_most(s * s * (e - 1), m * norm, e=e, s=s)
            if isometric(products, s, Fraction(0), _UPPER):
                at_most(share * s * (e - 1) / _UPPER, m, e=e, s=s)


@CP.note("Section 4", "argument of the logarithm")
@as_printed(swapped=True)
@mutant("log(2k/s)", times=2)
def argument_of_the_logarithm(times: int = 1, swapped: bool = False) -> None:
    r"""s log(k/s) is positive for s < k, and at most log C(k, s), the number of supports.

    Printed (Section 4, after Lemma 4.1, line 247): for $m \geq O(s \log \frac{s}{k})$ (Baraniuk et
        al. 2008)
    Corrected: It is s log(k/s), as in Theorem 4.3.
    Extraction: hardly: the fraction is upside down only here.

    >>> from math import log
    >>> s, k = 10, 10_000
    >>> s * log(s / k) < 0
    True
    """
    for k in range(2, 41):
        for s in range(1, k):
            quotient = Fraction(s, k) if swapped else Fraction(times * k, s)
            at_most(1, quotient, s=s, k=k)
            at_most(quotient**s, comb(k, s), s=s, k=k)


@CP.holds("Section 4", "sets of m/e^eps elements", ours=True)
@mutant("within 5.3 %", excess=Fraction(53, 1000))
def sets_of_m_over_e_elements(excess: Fraction = Fraction(54, 1000)) -> None:
    """The share 1/e^epsilon of +1 gives the noise factor g; the best share is
    1/(e^epsilon + 1), and for epsilon >= 1 the square of g is within 5.4 % of the least.
    """
    e, p = sp.symbols("e p", positive=True)
    noise = (p * (e - 1) + 1) ** 2 / ((e - 1) ** 2 * p * (1 - p))  # the square, for a share p
    least = 4 * e / (e - 1) ** 2
    identity(noise.subs(p, 1 / e) - (2 * e - 1) ** 2 / (e - 1) ** 3)
    identity(noise - least - (p * (e + 1) - 1) ** 2 / ((e - 1) ** 2 * p * (1 - p)))
    identity(noise.subs(p, 1 / e) / least - 1 - 1 / (4 * e * (e - 1)))
    # 1/(4 e (e - 1)) <= excess, with u = 1/e <= 0.36788
    never_negative([4 * excess, -4 * excess, -1], 0, Fraction(36788, 100_000))
