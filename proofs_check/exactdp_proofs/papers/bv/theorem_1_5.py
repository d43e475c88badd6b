"""BV, Section 1, Theorem 1.5: the lower bound for sparse histograms needs an error below n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import isqrt
from typing import Any, NamedTuple

from flint import arb

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import StabilityHistogram
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.papers.bv._data_sets import Counts, data_sets
from exactdp_proofs.papers.bv._laws import geo, keep_heavy
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, mutant


class _Sparse(NamedTuple):
    """A mechanism with at most `bins` non-empty bins, exactly (ln e_epsilon, delta)-DP."""

    law: Callable[[Counts], Law[Any]]
    n: int
    universe: int
    bins: int
    e_epsilon: Fraction
    delta: Fraction


def _mechanisms() -> Iterator[_Sparse]:
    for n, universe, threshold in ((1, 2, 0), (2, 3, 1)):
        noise = geo(n)
        e, zero = noise.e_half_epsilon**2, Fraction(0)
        stable = StabilityHistogram(noise, universe, threshold, "0.999")
        yield _Sparse(stable.law, n, universe, n, e, stable.exact_delta)
        yield _Sparse(lambda c: keep_heavy(noise, c, universe), n, universe, n, e, zero)
    for n, universe in ((1, 100), (2, 30)):
        yield _Sparse(lambda _: Law.point(()), n, universe, 1, Fraction(3, 2), Fraction(1, 100))
    slight = Fraction(1001, 1000)
    random = Law.uniform(range(100)).map(lambda x: ((x, 1),))
    yield _Sparse(lambda _: random, 1, 100, 1, slight, Fraction(1, 10**7))
    yield _Sparse(_one_row, 1, 100, 1, slight, Fraction(1))
    yield _Sparse(_one_row, 2, 30, 1, slight, Fraction(1, 2))


def _one_row(counts: Counts) -> Law[Any]:
    """The element of one random row, with the count n."""
    n = sum(counts.values())
    return Law({((x, n),): Fraction(c, n) for x, c in counts.items()})


@BV.conditional(
    "Theorem 1.5",
    elsewhere="the mutant adds E = n",
    no_mechanism="a lower bound of the error of every private mechanism",
)
@mutant("also for E = n (the printed form)", further=1)
def theorem_1_5(further: int = 0) -> None:
    """For a sparse (epsilon, delta)-DP histogram that errs by more than E with probability beta,
    and a = floor(E) + 1: 1 - beta <= e^(a epsilon) n'/(|X| - 1) + delta (e^(a epsilon) - 1)/
    (e^epsilon - 1). This is the explicit form of E >= Omega(min(log|X|, log(1/delta))/epsilon).

    Condition: the error is below the number of rows, E < n; the empty histogram errs by n
        whatever |X| and delta are.
    Note: ALP, Section 3, quotes the later version min{log d, log(eps/delta), n}: the authors added
        n. Proof: from n rows of one element, another x is released with probability at most
        n'/(|X| - 1); change a rows to x.
    """
    for m in _mechanisms():
        laws = [(counts, m.law(counts)) for counts in data_sets(m.n, m.universe)]
        for error in range(m.n + further):
            fails = (
                law.probability(lambda h: abs(dict(h).get(x, 0) - counts.get(x, 0)) > error)
                for counts, law in laws
                for x in range(min(m.universe, 3))
            )
            group = m.e_epsilon ** (error + 1)
            most = group * m.bins / (m.universe - 1) + m.delta * (group - 1) / (m.e_epsilon - 1)
            at_most(1 - max(fails), most, n=m.n, X=m.universe, E=error, bins=m.bins)


@BV.holds("Theorem 1.5", "constants")
@mutant(constant=Fraction(2))
def constants(constant: Fraction = Fraction(3)) -> None:
    """For |X| >= n'^2 and epsilon^2 > delta the right side of the inequality is at most
    3 e^(a epsilon) max(|X|^(-1/2), delta^(1/2)), so that a epsilon >= min(ln|X|, ln(1/delta))/2 -
    ln(3/(1 - beta)).
    """
    with precision(128):
        for universe, m, a in product((2, 4, 9, 100, 10**6), (2, 10, 1000), (1, 2, 7)):
            for epsilon in (Fraction(101, 100 * m), Fraction(1), Fraction(3)):
                grow, delta = (ball(epsilon) * a).exp(), Fraction(1, m * m)
                reached = grow * ball(Fraction(isqrt(universe), universe - 1))
                reached += ball(delta) * (grow - 1) / (ball(epsilon).exp() - 1)
                most = ball(constant) * grow * (1 / arb(universe).sqrt()).max(arb(1) / m)
                at_most(reached, most, X=universe, delta=delta, epsilon=epsilon, a=a)
