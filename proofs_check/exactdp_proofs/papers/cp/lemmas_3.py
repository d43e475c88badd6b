"""CP, Section 3, Lemmas 3.1 to 3.3: the two error terms, and from them to the estimate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

import sympy as sp

from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.cp._model import (
    ALL_PRIVACY,
    HIGH_PRIVACY,
    MIXED,
    Columns,
    Vector,
    deviation,
    distributions,
    empirical_laws,
    first,
    hadamard_response,
    image,
    instances,
    measured,
    minus,
    output,
    plus,
    projection,
    scaled,
    square,
    weights,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, as_printed, mutant

#: m and n for one set of every size, but for the empty and the full one.
_SIZES = [(m, n) for m in range(2, 13) for n in range(1, m)]


def _first_error(columns: Columns, e: Fraction, p: Vector) -> Fraction:
    """|e_1|^2, as what the exact channel leaves: y - A D'p/sqrt(m) with q known exactly."""
    clean = image(columns, scaled(weights(columns, e), p))
    return square(minus(measured(output(columns, e, p), e), clean)) / len(columns[0])


@CP.holds("Lemma 3.1", "on instances", ours=True)
@mutant(share=Fraction(98, 100))
def lemma_3_1(share: Fraction = Fraction(1)) -> None:
    """For sets of sizes within (1 +- beta) m/2, beta < 1, |e_1|_2 <= beta/(1 - beta)."""
    one_set = (((first(n, m),), Fraction(10**6), (Fraction(1),)) for m, n in _SIZES)
    for columns, e, p in (*instances(ALL_PRIVACY), *one_set):
        beta = deviation(columns)
        if beta < 1:
            most = (share * beta / (1 - beta)) ** 2
            at_most(_first_error(columns, e, p), most, beta=beta, e=e)


@CP.holds("Lemma 3.1", "second inequality")
@mutant("at most 1.96 beta", slope=Fraction(196, 100))
def second_inequality(slope: Fraction = Fraction(2)) -> None:
    """beta/(1 - beta) <= 2 beta for 0 < beta < 1/2."""
    never_negative([slope - 1, -slope], 0, Fraction(1, 2))


@CP.holds("Lemma 3.1", "tight form", ours=True)
@mutant("with 0.98 t in place of t", share=Fraction(98, 100))
def tight_form(share: Fraction = Fraction(1)) -> None:
    """|e_1|_2 <= beta/(1 - beta t), t = (e^epsilon - 1)/(e^epsilon + 1), attained by one set of
    size (1 - beta) m/2.
    """
    for (m, n), e in product(_SIZES, ALL_PRIVACY[::3]):
        columns, t = (first(n, m),), share * (e - 1) / (e + 1)
        beta, exact = deviation(columns), _first_error((first(n, m),), e, (Fraction(1),))
        at_most(exact, (beta / (1 - beta * t)) ** 2, m=m, n=n, e=e)
        if 2 * n < m:
            equal(exact, (beta / (1 - beta * t)) ** 2, m=m, n=n, e=e)


@CP.holds("Lemma 3.1", "proof, second display")
@mutant("without the factor 1 - beta", power=0)
def second_display(power: int = 1) -> None:
    """|d'_i - 1| = |m/2 - n_i| (e^epsilon - 1)/(n_i e^epsilon + m - n_i), which is at most
    beta (e^epsilon - 1)/((1 - beta)(e^epsilon + 1)).
    """
    for (m, n), e in product(_SIZES, ALL_PRIVACY):
        beta, (d,) = deviation((first(n, m),)), weights((first(n, m),), e)
        equal(abs(d - 1), abs(Fraction(m, 2) - n) * (e - 1) / (n * e + m - n), m=m, n=n, e=e)
        at_most(abs(d - 1), beta * (e - 1) / ((1 - beta) ** power * (e + 1)), m=m, n=n, e=e)


@CP.holds("Lemma 3.2", "on instances", ours=True)
@mutant("0.99 sqrt(m/n)", share=Fraction(99, 100))
def lemma_3_2(share: Fraction = Fraction(1)) -> None:
    """E|e_2|_2 <= (e^epsilon + 1)/(e^epsilon - 1) sqrt(m/n); the mean square is exactly
    ((e^epsilon + 1)/(e^epsilon - 1))^2 (m/n)(1 - |q|_2^2).
    """
    for number, (columns, e, p) in enumerate(instances(HIGH_PRIVACY[2:3])):
        q, n = output(columns, e, p), 1 + number % 3
        bound = ((e + 1) / (e - 1)) ** 2 * len(q) / n
        equal(_mean_square(q, n, e), bound * (1 - square(q)), n=n, e=e, p=p)
    q = output(hadamard_response(63), Fraction(2), (Fraction(1, 63),) * 63)
    at_most(_mean_square(q, 1, Fraction(2)), share**2 * 9 * 64, n=1, m=64)


def _mean_square(q: Vector, n: int, e: Fraction) -> Fraction:
    """E|e_2|^2, summed over every outcome of n reports."""
    clean = measured(q, e)
    laws = empirical_laws(q, n)
    return sum(
        (w * square(minus(measured(seen, e), clean)) for w, seen in laws), Fraction(0)
    ) / len(q)


@CP.note("Lemma 3.2", "proof, last sentence")
@as_printed(root_times=False)
@mutant("sqrt(m) (e^epsilon + 1.01)", one=Fraction(101, 100))
def last_sentence(root_times: bool = True, one: Fraction = Fraction(1)) -> None:
    r"""e_2 is q_hat - q times sqrt(m) (e^epsilon + 1)/(e^epsilon - 1).

    Printed (Section 3, Lemma 3.2, proof, line 191): Multiplying $\frac{\sqrt{m}e^\varepsilon +
        1}{e^\varepsilon - 1}$ on both sides of the inequality will conclude the proof.
    Corrected: The parentheses are lost: it is sqrt(m) (e^epsilon + 1), as in (5). The printed
        factor would give a smaller bound than the lemma's.
    """
    m, root = 4, 2
    for e, k in product(HIGH_PRIVACY, (2, 3)):
        q = output(hadamard_response(k), e, distributions(k)[2])
        factor = (root * (e + one) if root_times else root * e + one) / (e - 1)
        for _, seen in empirical_laws(q, 2):
            second = minus(measured(seen, e), measured(q, e))  # sqrt(m) e_2
            equal(second, tuple(root * factor * v for v in minus(seen, q)), m=m, e=e)


#: Three values with the same set of size 3 of 4, and the matrices with unequal sizes.
_FAMILIES: tuple[Columns, ...] = (((1, 1, 1, -1),) * 3, *MIXED)


def _recovered(d: Vector) -> Iterator[Vector]:
    """Results f of a recovery: exact ones of other distributions, and arbitrary ones."""
    yield from (scaled(d, other) for other in distributions(len(d)))
    yield (Fraction(0),) * len(d)
    yield tuple(Fraction((-1) ** j * (j + 1), 4) for j in range(len(d)))


def _from_recovery_to_estimate(slope: Fraction, factors: Iterable[Fraction]) -> None:
    """|p - p_hat|^2 <= (1 + slope beta)^2 |p' - f|^2 with n_i <= (1 + beta) m/2 for all i."""
    for columns, e in product(_FAMILIES, factors):
        d = weights(columns, e)
        beta = max(Fraction(0), *(Fraction(2 * plus(c), len(c)) - 1 for c in columns))
        for p, f in product(distributions(len(d)), _recovered(d)):
            estimate = projection([a / b for a, b in zip(f, d, strict=True)])
            bound = (1 + slope * beta) ** 2 * square(minus(scaled(d, p), f))
            at_most(square(minus(p, estimate)), bound, beta=beta, e=e, p=p)


@CP.holds("Lemma 3.3", "on instances", ours=True)
@mutant("1 + 0.45 beta", slope=Fraction(45, 100))
def lemma_3_3(slope: Fraction = Fraction(1, 2)) -> None:
    """For n_i <= (1 + beta) m/2 the projected estimate satisfies
    |p - p_hat|_2 <= (1 + beta/2)|p' - f|_2, for epsilon <= 1, the paper's range.
    """
    _from_recovery_to_estimate(slope, HIGH_PRIVACY)


@CP.holds("Lemma 3.3", "every epsilon", ours=True)
@mutant("1 + 0.95 beta", slope=Fraction(95, 100))
def every_epsilon(slope: Fraction = Fraction(1)) -> None:
    """Without a bound on epsilon the factor is 1 + beta."""
    _from_recovery_to_estimate(slope, ALL_PRIVACY)


@CP.holds("Lemma 3.3", "proof, factor")
@mutant("t = (e^epsilon - 1)/(e^epsilon + 2)", sign=2)
def largest_inverse(sign: int = 1) -> None:
    """1/d'_i = 1 + b t for n_i = (1 + b) m/2, with t = (e^epsilon - 1)/(e^epsilon + 1)."""
    e, b, m = sp.symbols("e b m", positive=True)
    n = (1 + b) * m / 2
    identity((n * e + m - n) / (m * (e + 1) / 2) - 1 - b * (e - 1) / (e + sign))
