"""BV, Theorem 1.5: the lower bound for sparse histograms needs an error below n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

from flint import arb

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import StabilityHistogram
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.bv._data_sets import Counts, data_sets
from exactdp.proofs_check.claims.bv._laws import geo, keep_heavy, released_error
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]


@dataclass(frozen=True)
class _Sparse:
    """A mechanism with at most `bins` non-empty bins, exactly (ln e_epsilon, delta)-DP."""

    name: str
    law: Callable[[Counts], Law[Any]]
    n: int
    universe: int
    bins: int
    e_epsilon: Fraction
    delta: Fraction


def _mechanisms() -> Iterator[_Sparse]:
    for n, universe, threshold in ((1, 2, 0), (2, 3, 1), (3, 4, 1)):
        noise = geo(n)
        stable = StabilityHistogram(noise, universe, threshold, "0.999")
        e = noise.e_half_epsilon**2
        yield _Sparse("stability", stable.law, n, universe, n, e, stable.exact_delta)
        yield _Sparse("heavy", _heavy(noise, universe), n, universe, n, e, Fraction(0))
    for n, universe in ((1, 100), (2, 60)):
        yield _Sparse("empty", _nothing, n, universe, 1, Fraction(3, 2), Fraction(1, 100))
    slight = Fraction(1001, 1000)
    random = Law.uniform(range(100)).map(lambda x: ((x, 1),))
    yield _Sparse("random", lambda _: random, 1, 100, 1, slight, Fraction(1, 10**7))
    yield _Sparse("no noise", _one_row, 1, 100, 1, slight, Fraction(1))
    yield _Sparse("one row", _one_row, 2, 60, 1, slight, Fraction(1, 2))


def _nothing(_: Counts) -> Law[Any]:
    return Law.point(())


def _one_row(counts: Counts) -> Law[Any]:
    """The element of one random row, with the count n."""
    n = sum(counts.values())
    return Law({((x, n),): Fraction(c, n) for x, c in counts.items()})


def _heavy(noise: CountSampler, universe: int) -> Callable[[Counts], Law[Any]]:
    return lambda counts: keep_heavy(noise, counts, universe)


def _inequality(beyond: int) -> str:
    """1 - beta <= e^(a eps) n'/(|X| - 1) + delta (e^(a eps) - 1)/(e^eps - 1), a = E + 1.

    beta: the exact probability that a bin errs by more than E; E < n + beyond. Proof: from n rows
    x_0 some other x is released with probability <= n'/(|X| - 1); change a rows to x. The
    explicit bound: n'/(|X| - 1) <= 2/sqrt(|X|) and delta/(e^eps - 1) < delta/eps < sqrt(delta).
    """
    cases = 0
    for m in _mechanisms():
        laws = [(counts, m.law(counts)) for counts in data_sets(m.n, m.universe)]
        for error in range(m.n + beyond):
            beta = max(
                law.probability(lambda h: released_error(h, counts, x) > error)
                for counts, law in laws
                for x in range(min(m.universe, 4))
            )
            group = m.e_epsilon ** (error + 1)
            reached = group * m.bins / (m.universe - 1)
            reached += m.delta * (group - 1) / (m.e_epsilon - 1)
            case = f"{m.name}, n={m.n}, |X|={m.universe}, E={error}, beta={beta}"
            require(1 - beta <= reached, f"{case}: {1 - beta} > {float(reached):.4f}")
            cases += 1
    return f"{cases} pairs of mechanism and E, exact laws"


def _explicit(beyond: int) -> str:
    """The inequality, and that its right side is at most 3 e^(a eps) max(|X|^(-1/2), delta^(1/2)).

    So a eps >= min(ln|X|, ln(1/delta))/2 - ln(3/(1 - beta)), for |X| >= n'^2 and eps^2 > delta.
    """
    with precision(128):
        for universe, m, a in product((2, 4, 9, 100, 10**6), (2, 10, 1000), (1, 2, 7)):
            for epsilon in (Fraction(101, 100 * m), Fraction(1), Fraction(3)):
                grow, delta = (ball(epsilon) * a).exp(), Fraction(1, m * m)
                reached = grow * ball(Fraction(isqrt(universe), universe - 1))
                reached += ball(delta) * (grow - 1) / (ball(epsilon).exp() - 1)
                most = 3 * grow * (1 / arb(universe).sqrt()).max(arb(1) / m)
                case = f"|X|={universe}, delta={delta}, epsilon={epsilon}, a={a}"
                require(bool(reached <= most), f"{case}: {reached.str(5)} > {most.str(5)}")
    return _inequality(beyond)


CLAIMS = (
    Conditional(
        paper="BV",
        item="Theorem 1.5",
        statement="A sparse (epsilon, delta)-DP histogram with epsilon^2 > delta > 0 and |X| >= "
        "n'^2 has per-query error of the order min(log|X|, log(1/delta))/epsilon at least: "
        "with a = floor(E) + 1 and failure probability beta, 1 - beta <= e^(a eps) n'/(|X| - 1) + "
        "delta (e^(a eps) - 1)/(e^eps - 1), and so E + 1 >= "
        "(min(ln|X|, ln(1/delta))/2 - ln(3/(1 - beta)))/eps.",
        condition="the error is below the number of rows, E < n: the empty histogram errs by n "
        "whatever |X| and delta are",
        note="line 122 of the text. ALP Section 3 quotes the later version, "
        "min{log d, log(eps/delta), n}: the authors added n",
        outcome="verified",
        method="exact law",
        **varied(_explicit, 0, 1, "also for E = n (the printed form)"),
    ),
    BV.not_checkable(
        "Section 1, optimality of known bounds",
        "The Laplace Mechanism's errors, and the error log(1/delta)/epsilon of the "
        "stability-based histogram, are optimal up to constants.",
        "cited from other papers without a formula, up to constants",
    ),
)
