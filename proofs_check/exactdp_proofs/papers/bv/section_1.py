"""BV, Section 1: the definition of privacy, the informal theorems, remarks of the introduction."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from typing import Any

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import (
    BasicHistogram,
    CompactHistogram,
    PureSparseHistogram,
    StabilityHistogram,
)
from exactdp.samplers import FastSample, GeoSample
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.comparisons import at_most, below, equal, holds, identity
from exactdp_proofs.papers.bv._data_sets import neighbouring_laws, worst_ratio
from exactdp_proofs.papers.bv._errors import beyond, log_error
from exactdp_proofs.papers.bv._laws import clamped_geometric, weakened
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import BV, fitted, loose, mutant, weaker

#: eps~ is farthest from epsilon just below 1.
_EPSILONS = (Fraction(1), Fraction(99, 100), Fraction(3, 10))
_LAWS = [
    Law({0: Fraction(a, 4), 1: Fraction(b, 4), 2: Fraction(4 - a - b, 4)})
    for a, b in product(range(5), repeat=2)
    if a + b <= 4
]


@BV.holds("Definition 1.1", no_mechanism="a formula for the divergence of any two laws")
@mutant("over single outputs", largest=1)
def definition_1_1(largest: int = 3) -> None:
    """The least delta, over all events S, is the sum of the positive parts of
    P(r) - e^epsilon P'(r), as the library computes it.
    """
    events = [S for k in range(largest + 1) for S in combinations(range(3), k)]
    for p, q in product(_LAWS, repeat=2):
        for e in (Fraction(1), Fraction(3, 2), Fraction(4)):
            most = max(sum((p[x] - e * q[x] for x in S), Fraction(0)) for S in events)
            equal(most, hockey_stick(p, q, e_epsilon=e).upper, P=p, Q=q, e_epsilon=e)


BV.not_checkable(
    "Theorem 1.2",
    "For every X, n and epsilon in (0, 1] some (epsilon, 0)-DP histogram has per-query error "
    "O(1/epsilon), simultaneous error O(log|X|/epsilon) and a strict running time.",
    "informal and asymptotic; formally Theorem 5.1, with explicit errors in Figure 1",
)


def _private(
    make: Callable[[CountSampler, int], Any], cases: tuple[tuple[int, int], ...], loss: Fraction
) -> None:
    """Require (epsilon, 0)-DP of the mechanism made for loss times epsilon."""
    with precision(128):
        for (n, universe), epsilon in product(cases, (Fraction(1), Fraction(3, 4), Fraction(1, 8))):
            if n == 1 or epsilon == 1:
                mechanism = make(GeoSample(n, loss * epsilon), universe)
                worst = worst_ratio(lambda c: mechanism.law(c, residual=0), n, universe)
                at_most(ball(worst).log(), ball(epsilon), n=n, X=universe, epsilon=epsilon)


@BV.holds("Theorem 1.2", "privacy of the shipped code")
@weaker
def theorem_1_2(loss: Fraction = Fraction(1)) -> None:
    """BasicHistogram over GeoSample is (epsilon, 0)-DP, also where 1/epsilon is no integer."""
    _private(BasicHistogram, ((1, 2), (2, 3)), loss)


BV.not_checkable(
    "Theorem 1.3",
    "For delta < 1/n some (epsilon, delta)-DP histogram has per-query error O(1/epsilon) on counts "
    "of at least O(log(1/delta)/epsilon), simultaneous error O(log(1/delta)/epsilon) and a strict "
    "running time.",
    "informal and asymptotic; the construction is omitted from this version of the paper",
)


@BV.holds("Theorem 1.3", "privacy of the shipped code")
@mutant("with the threshold one lower", lower=1)
def theorem_1_3(lower: int = 0, loss: Fraction = Fraction(1)) -> None:
    """The stability-based histogram made for a target delta < 1/n is (epsilon, delta)-DP, and
    (epsilon, 0)-DP between data sets with the same outputs.
    """
    # at epsilon = 4 the threshold is far below n, so that most of the law depends on epsilon
    for n, universe, epsilon, delta in (
        (2, 3, 1, Fraction(2, 5)),
        (3, 3, 1, Fraction(3, 10)),
        (8, 2, 4, Fraction(1, 100)),
    ):
        noise = GeoSample(n, epsilon)
        promised = StabilityHistogram.for_target(noise, universe, delta)
        less = weakened(noise, loss)
        used = StabilityHistogram(less, universe, promised.threshold - lower, "0.999")
        factor = noise.e_half_epsilon**2
        for p, q in neighbouring_laws(lambda c: used.law(c, residual=0), n, universe):
            most = Fraction(0) if p.support == q.support else delta
            at_most(hockey_stick(p, q, e_epsilon=factor).upper, most, n=n, delta=delta)


@BV.holds("Theorem 1.3", "errors of the shipped code")
@mutant(factor=Fraction(43, 10))
def stability_errors(factor: Fraction = Fraction(9, 2)) -> None:
    """With a = ceil(9/(2 epsilon) ln(1/beta)), b = ceil(9/(2 epsilon) ln(n/beta)): the threshold t
    is at most ceil(9/(2 epsilon) ln(1/delta)), a count above t + a errs by more than a with
    probability at most beta, and any count by more than t + b with at most beta/n.
    """
    beta, n = Fraction(1, 4), 400
    for epsilon, delta in (
        (1, Fraction(1, 1000)),
        (Fraction(99, 100), Fraction(1, 10**30)),
        (Fraction(3, 10), Fraction(1, 500)),
    ):
        noise, at = GeoSample(n, epsilon, power_of_two=True), {"epsilon": epsilon, "delta": delta}
        t = StabilityHistogram.for_target(noise, 10, delta).threshold
        a, b = (log_error(factor / epsilon, x / beta) for x in (Fraction(1), Fraction(n)))
        for c in (1, t, t + a + 1, t + b + 1):
            law = noise.law(c).map(lambda z: z if z > t else 0)
            if c > t + a:
                at_most(law.probability(lambda z: abs(z - c) > a), beta, c=c, **at)
            at_most(law.probability(lambda z: abs(z - c) > t + b), beta / n, c=c, **at)
        at_most(t, log_error(factor / epsilon, 1 / delta), **at)


BV.not_checkable(
    "Theorem 1.4",
    "For every X, n and epsilon in (0, 1] some sparse (epsilon, 0)-DP histogram has per-query "
    "error O(1/epsilon) on counts of at least O(log|X|/epsilon), simultaneous error "
    "O(log|X|/epsilon) and a strict running time.",
    "informal and asymptotic; formally Theorem 6.6, with explicit errors in Figure 2",
)


@BV.holds("Theorem 1.4", "privacy of the shipped code")
@weaker
def theorem_1_4(loss: Fraction = Fraction(1)) -> None:
    """PureSparseHistogram, which draws order statistics with their ties, is (epsilon, 0)-DP."""
    _private(PureSparseHistogram, ((1, 3),), loss)


BV.not_checkable(
    "Theorem 1.6",
    "For every X, n and epsilon in (0, 1] some (epsilon, 0)-DP histogram with a succinct "
    "description has per-query error O(1/epsilon), simultaneous error O(log|X|/epsilon) and "
    "strict times of running and evaluation.",
    "informal and asymptotic; formally Theorem 7.2 and Corollary 7.3",
)


@cache
def _compact_ratio(loss: Fraction) -> Fraction:
    noise = FastSample(n=1, epsilon=loss * Fraction(999, 1000), gamma_inverse=2, bits=6)
    mechanism = CompactHistogram(noise, 2, loss, 9)
    return worst_ratio(lambda c: mechanism.law(c, residual=0), 1, 2)


@BV.holds("Theorem 1.6", "shipped code for one row and two elements", slow=True)
@mutant(epsilon=Fraction(10, 100))
@fitted(epsilon=Fraction(15, 100))
@loose("noise from 6 bits is half uniform", loss=Fraction(27, 10))
def theorem_1_6(epsilon: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """CompactHistogram over the field with 64 elements, for n = 1, |X| = 2 and epsilon = 1, is
    (epsilon, 0)-DP.
    """
    with precision(128):
        at_most(ball(_compact_ratio(loss)).log(), ball(epsilon))


@BV.holds("Section 1", "expected number of bins")
@mutant(factor=Fraction(43, 10))
@fitted(most=Fraction(1, 2))
def expected_bins(factor: Fraction = Fraction(9, 2), most: Fraction = Fraction(1)) -> None:
    """With the threshold ceil(9/(2 epsilon) ln|X|) fewer than one empty bin is expected above it,
    although every empty bin is there with positive probability.
    """
    for epsilon, universe in product(
        (Fraction(1), Fraction(99, 100), Fraction(3, 10)), (2, 100, 10**6, 2**64)
    ):
        t = log_error(factor / epsilon, Fraction(universe))
        chance = beyond(GeoSample(t + 5, epsilon, power_of_two=True), 0, t)
        below(0, chance, X=universe, epsilon=epsilon)
        below(universe * chance, most, X=universe, epsilon=epsilon)


@BV.holds("Section 1", "truncating long executions")
@mutant("noise drawn anew when it is long is clamped", cut=False)
def truncating(cut: bool = True, loss: Fraction = Fraction(1)) -> None:
    """Clamping to [0, n] keeps the ratio e^(epsilon/2) of neighbouring counts. Noise that is drawn
    anew when it is beyond some t makes an output impossible for one of them only.
    """
    q, n = Fraction(2, 3), 12
    for c, t in product(range(n), range(1, 6)):
        less = 1 / raised(1 / q, loss)
        clamped = [Law(dict(enumerate(clamped_geometric(n, less, x)))) for x in (c, c + 1)]
        equal(max_loss(*clamped), 1 / q, c=c)
        outputs = [set(range(x - t, x + t + 1)) for x in (c, c + 1)]
        seen = outputs if cut else [law.support for law in clamped]
        holds(bool(seen[0] - seen[1]), c=c, t=t)


@BV.holds("Section 1", "from approximate to pure", no_mechanism="an identity in epsilon and delta")
@mutant("(e^epsilon - 1) gamma/|R|", rest=0)
def from_approximate(rest: int = 1) -> None:
    """An (epsilon, delta)-DP mechanism becomes (epsilon, 0)-DP by a uniform output of probability
    gamma if delta <= (e^epsilon - 1) gamma/((1 - gamma)|R|). No larger delta suffices where only
    one of two neighbours can give an output.

    Note: the text gives no constant ("delta significantly smaller than 1/|R|").
    """
    import sympy

    # e^epsilon Q*(r) - P*(r) at an output r with P(r) = e^epsilon Q(r) + delta
    e, g, d, q, size = sympy.symbols("e g d q R", positive=True)
    gap = e * ((1 - g) * q + g / size) - ((1 - g) * (e * q + d) + g / size)
    identity(gap.subs(d, (e - 1) * g / ((1 - rest * g) * size)))


BV.not_checkable(
    "Section 1",
    "The Laplace Mechanism's errors and the error log(1/delta)/epsilon are optimal up to "
    "constants; floating point can be attacked; the geometric mechanism is universally optimal.",
    "cited from other papers, without statements to check",
    "cited results",
)
BV.not_checkable(
    "Abstract",
    "Simultaneous errors are within constant factors of the Laplace Mechanism's, per-bin errors "
    "of the sparse histogram worse by a factor log|X|.",
    "up to constant factors; the explicit errors are under Figures 1 and 2",
    "comparison of errors",
)
