"""SVA, Sections I-A and VI: lower bounds on the error, and where their cap stands."""

from __future__ import annotations

from itertools import combinations, product

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.sva._risk import bayes_risk
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant

Vector = tuple[int, ...]


def _members(d: int, k: int) -> list[Vector]:
    """S: the binary vectors of length d with exactly k ones."""
    return [tuple(int(i in ones) for i in range(d)) for ones in combinations(range(d), k)]


def _least_error(n: int, e_eps: Fraction) -> Fraction:
    """The error that no estimator from n private reports beats, d = 2, k = 1, delta = 0.

    Every pure mechanism for two inputs is randomized response with its output processed.
    """
    return max(bayes_risk(n, e_eps, Fraction(j, 4)) for j in range(5))


SVA.not_checkable(
    "Theorem 3",
    "Every (epsilon, o(epsilon/(n log n))) user-level mechanism has expected error "
    "Omega((1/epsilon) sqrt(k log(d/k)/n)).",
    "asymptotic and announced as informal; its formal version is Theorem 15",
)


@SVA.note("Theorem 3", "no cap")
@as_printed(capped=False)
@mutant(least=Fraction(45, 100))
def theorem_3_no_cap(capped: bool = True, least: Fraction = Fraction(44, 100)) -> None:
    r"""For some c > 0 the expected error is at least c (1/epsilon) sqrt(k log(d/k)/n), for all
    epsilon = O(1) and n.

    Printed (Section I-A, Theorem 3, line 63): must suffer from at least
        $\Omega\left(\frac{1}{\epsilon}\sqrt{\frac{k \log(d/k)}{n}}\right)$ error in expectation.
    Corrected: The bound is capped at a constant, as in Theorem 15: as epsilon falls, the least
        error at d = 2, k = 1 stays between 0.44 and 1/2.
    Regime: epsilon below sqrt(k log(d/k)/n).
    Extraction: no: Table I has no cap either. The theorem is called informal.

    >>> from math import log, sqrt
    >>> c, k, d, n = 0.01, 2, 1024, 100
    >>> bound = lambda epsilon: c / epsilon * sqrt(k * log(d / k) / n)
    >>> bound(1e-9) > 1         # but the constant answer 0 has error <= 1 for vectors in [-1, 1]^d
    True
    """
    with precision(80):
        for e_eps, n in product(map(Fraction, ("1.1", "1.01", "1.001")), (1, 4, 7)):
            error = _least_error(n, e_eps)
            if not capped:
                bound = ball(Fraction(1, 100)) * (ball(2).log() / n).sqrt() / ball(e_eps).log()
                at_most(bound, error, n=n, e_epsilon=e_eps)
            at_most(error, Fraction(1, 2), n=n, e_epsilon=e_eps)
            at_most(least, error, n=n, e_epsilon=e_eps)


SVA.not_checkable(
    "Theorem 11",
    "For k = 1, epsilon = O(1) and delta = o(epsilon/(n log n)), every non-interactive mechanism "
    "has expected error Omega(min(sqrt(log d/(epsilon^2 n)), 1)).",
    "asymptotic, cited without proof from Bassily and Smith; its steps are under Lemmas 20 to 23",
)
SVA.not_checkable(
    "Theorem 15",
    "For some distribution on S every estimator from private reports has expected error "
    "Omega(min((1/epsilon) sqrt(log|S|/n), 1)).",
    "asymptotic. Its proof passes from the distribution's mean to the empirical one by Lemma 20, "
    "which needs epsilon^2/k below a constant; its other steps are under Lemmas 21 to 23",
    rests_on="SVA-Lemma-20-smaller-order",
)


@SVA.holds("Theorem 15", "two items")
@mutant(constant=Fraction(28, 100))
@fitted(constant=Fraction(27, 100))
def theorem_15_two_items(constant: Fraction = Fraction(1, 4)) -> None:
    """At d = 2, k = 1 and delta = 0 every estimator has, for one of five distributions, error at
    least min((1/4) (1/epsilon) sqrt(log 2/n), 2/5).
    """
    with precision(80):
        for e_eps, n in product(map(Fraction, ("1.1", "1.5", "3", "8")), (1, 2, 5)):
            scaled = ball(constant) * (ball(2).log() / n).sqrt() / ball(e_eps).log()
            bound = Fraction(2, 5) if scaled > ball(Fraction(2, 5)) else scaled
            at_most(bound, _least_error(n, e_eps), n=n, e_epsilon=e_eps)


@SVA.refuted("Theorem 15", "cap at 1", severity="cosmetic")
@as_printed(cap=Fraction(1))
@mutant(cap=Fraction(51, 100))
def theorem_15_cap(cap: Fraction = Fraction(1, 2)) -> None:
    r"""For some distribution the expected error is at least min(Omega((1/epsilon)
    sqrt(log|S|/n)), 1): at least 1 once epsilon is small enough.

    Printed (Section VI, Theorem 15, display, line 480): \geq \min \left\{ \Omega
        \left(\frac{1}{\epsilon} \sqrt{\frac{\log |\mathcal{S}|}{n}} \right), 1 \right\}
    Corrected: The cap belongs inside, Omega(min((1/epsilon) sqrt(log|S|/n), 1)): the constant
        estimate 1/2 and, at d = 2, a uniform guess from S have error 1/2.
    Regime: epsilon below sqrt(log|S|/n), where the bound is its cap.
    Extraction: no: Corollary 16 has the same form; Theorem 11 has Omega(min(..., 1)), and the
        proof yields eta/10 with eta <= 1.

    >>> users = [(1, 0), (0, 1)]                     # S for d = 2, k = 1
    >>> [max(abs(0.5 - x) for x in v) for v in users]     # the constant estimate: no data
    [0.5, 0.5]
    >>> [sum(max(abs(a - b) for a, b in zip(g, v)) for g in users) / 2 for v in users]  # a guess
    [0.5, 0.5]
    """
    for d, k, n in ((4, 2, 2), (3, 1, 2), (2, 1, 3)):
        means = (
            Fraction(sum(column), n)
            for users in product(_members(d, k), repeat=n)
            for column in zip(*users, strict=True)
        )
        equal(max(abs(Fraction(1, 2) - mean) for mean in means), cap, d=d, k=k, n=n)
    for truth in _members(2, 1):
        errors = [max(abs(a - b) for a, b in zip(v, truth, strict=True)) for v in _members(2, 1)]
        equal(Fraction(sum(errors), len(errors)), cap, truth=truth)


@SVA.holds("Theorem 15", "size of S")
@mutant(share=Fraction(101, 100))
def theorem_15_size(share: Fraction = Fraction(1)) -> None:
    """C(d, k) >= (d/k)^k: the factor (d - i)/(k - i) exceeds d/k by i (d - k)/(k (k - i)) >= 0."""
    import sympy as sp

    d, k, i = sp.symbols("d k i", positive=True)
    identity((d - i) / (k - i) - d / k - sp.Rational(str(share)) * i * (d - k) / (k * (k - i)))


SVA.not_checkable(
    "Corollary 16",
    "For L = 2k <= sqrt(d) the expected error is at least min(Omega((1/epsilon) sqrt(L log d/n)), "
    "1).",
    "asymptotic; Theorem 15 with the rate below, and with its cap within the Omega",
    rests_on="SVA-Lemma-20-smaller-order",
)


@SVA.holds("Corollary 16", "rate")
@mutant(share=Fraction(10, 39))
def corollary_16_rate(share: Fraction = Fraction(1, 4)) -> None:
    """For L = 2k <= sqrt(d), k log(d/k) is at least (L/4) log d."""
    # x = log k/log d <= 1/2; both sides over k log d are 1 - x and 2 share
    never_negative([1 - 2 * share, -1], 0, Fraction(1, 2))


@SVA.holds("Corollary 16", "distance")
@mutant(factor=Fraction(99, 100))
def corollary_16_distance(factor: Fraction = Fraction(1)) -> None:
    """Any two members of S are at most L = 2k apart in L1 distance, some exactly."""
    for d, k in ((4, 1), (5, 2), (6, 3)):
        sets = [set(ones) for ones in combinations(range(d), k)]
        equal(max(len(a ^ b) for a, b in product(sets, repeat=2)), 2 * k * factor, d=d, k=k)


@SVA.holds("Equation (2)")
@mutant(shift=Fraction(101, 100))
def equation_2(shift: Fraction = Fraction(1)) -> None:
    """Where each client holds V with probability eta and a uniform member of S otherwise, the
    mean is eta V + (1 - eta) k/d in every coordinate.
    """
    for d, k, eta in ((2, 1, Fraction(1, 3)), (4, 2, Fraction(1, 10)), (5, 1, Fraction(1))):
        members = _members(d, k)
        law = Law.mixture([(eta, Law.point(members[0])), (1 - eta, Law.uniform(members))])
        for j in range(d):
            stated = eta * members[0][j] + (1 - eta) * Fraction(k, d) * shift
            equal(law.expectation(lambda v: v[j]), stated, d=d, k=k, eta=eta, j=j)


SVA.not_checkable(
    "Equation (3)",
    "Defines the expected L_infinity error of an estimator of the mean of P.",
    "a definition; it is used in Lemma 21, proof, scaling",
)
