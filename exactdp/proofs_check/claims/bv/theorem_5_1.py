"""BV, Algorithm 3 and Theorem 5.1: independent noise on every bin of a fixed set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf, lcm
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms import BasicHistogram
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import (
    Counts,
    data_sets,
    neighbours,
    require_pure,
    worst_ratio,
)
from exactdp.proofs_check.claims.bv._laws import EXACT, STICKY, Table, fast, geo, histogram_law
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]

_CASES = ((geo(1), 2), (geo(1, 2), 3), (geo(2), 3), (geo(3, 3), 2), (fast(2), 3), (fast(1, 3), 2))

#: n = 1, wrong with probability 1/100: the union bound is nearly attained.
_RARE = Table.of((Fraction(99, 100), Fraction(1, 100)), (Fraction(1, 100), Fraction(99, 100)))


def _on(noise: CountSampler, counts: Counts, chosen: range) -> Law[Any]:
    """Noise on the bins of A, by hand."""
    moved = {x - chosen.start: c for x, c in counts.items() if x in chosen}
    return histogram_law(noise, moved, len(chosen))


def _private(share: Fraction) -> str:
    """e^epsilon = (e^(epsilon/2))^2 for A = X and for a part of X; attained for A = X."""
    for noise, universe in _CASES:
        most = share * noise.e_half_epsilon**2
        for start in (0, 1):
            chosen = range(start, universe)
            require_pure(lambda c: _on(noise, c, chosen), noise.n, universe, most)
    return f"{len(_CASES)} cases, A = X and A = X without an element"


def _shipped_law(by_hand: Callable[[CountSampler, Counts, range], Law[Any]]) -> str:
    for noise, universe in _CASES:
        for counts in data_sets(noise.n, universe):
            law = BasicHistogram(noise, universe).law(counts, residual=0)
            stated = by_hand(noise, counts, range(universe)).map(lambda z: tuple(enumerate(z)))
            require(law == stated, f"{counts}, |X|={universe}: {law}, not {stated}")
    return f"{len(_CASES)} cases, every data set"


def _one_u(noise: CountSampler, counts: Counts, chosen: range) -> Law[Any]:
    """The same u for all bins of A in step 2a."""
    d = lcm(*(noise.cdf(c).denominator for c in range(noise.n + 1)))

    def noisy(u: int) -> tuple[int, ...]:
        shares = [(noise.cdf(counts.get(x, 0)), Fraction(u, d)) for x in chosen]
        return tuple(
            next(z for z in range(noise.n + 1) if cdf.numerator(z) >= share * cdf.denominator)
            for cdf, share in shares
        )

    return Law.uniform(range(1, d + 1)).map(noisy)


def _accurate(share: Fraction) -> str:
    """P(some bin of A off by > a) <= share |A| beta, beta exact for the algorithm."""
    for noise, universe in (*_CASES, (EXACT, 3), (STICKY, 3), (_RARE, 3)):
        for a in range(noise.n + 1):
            beta = max(
                noise.law(c).probability(lambda z: abs(z - c) > a) for c in range(noise.n + 1)
            )
            for size in range(1, universe + 1):
                for counts in data_sets(noise.n, universe):
                    most = beta if size == 1 else share * size * beta
                    fails = _some_off(_on(noise, counts, range(size)), counts, a)
                    require(fails <= most, f"{counts}, |A|={size}, a={a}: {fails} > {most}")
    return f"{len(_CASES) + 3} algorithms, every data set, every a and |A|"


def _some_off(law: Law[Any], counts: Counts, a: int) -> Fraction:
    return law.probability(lambda h: any(abs(z - counts.get(x, 0)) > a for x, z in enumerate(h)))


def _fixed_set(stated: float) -> str:
    """Released bins are those of A: fixed, or those with a positive count."""
    noise = geo(1)

    def law(counts: Counts, chosen: Iterable[int]) -> Law[Any]:
        bins: Law[Any] = Law.point(())
        for x in chosen:
            one = noise.law(counts.get(x, 0)).map(lambda z: (x, z))
            bins = bins.product(one).map(lambda pair: (*pair[0], pair[1]))
        return bins

    fixed = worst_ratio(lambda counts: law(counts, range(3)), 1, 3)
    require(fixed == noise.e_half_epsilon**2, f"n=1, |X|=3, A = X: ratio {fixed}")
    worst = worst_ratio(lambda counts: law(counts, counts), 1, 3)
    require(worst == stated, f"n=1, |X|=3, A the non-empty bins: ratio {worst}")
    return f"ratio {fixed} for A = X, {worst} for the non-empty bins"


def _changed_counts(most: int) -> str:
    """Replacing one row changes two counts by one each."""
    for n, universe in ((1, 3), (3, 4), (5, 3)):
        for counts in data_sets(n, universe):
            for other in neighbours(counts, universe):
                moves = [abs(counts.get(x, 0) - other.get(x, 0)) for x in range(universe)]
                require(max(moves) == 1 and sum(moves) == most, f"{counts} to {other}: {moves}")
    return "all neighbours for three sizes"


CLAIMS = (
    BV.verified(
        "Algorithm 3",
        "BasicHistogram as shipped releases independent noisy counts of all elements.",
        "exact law",
        **varied(_shipped_law, _on, _one_u, "with the same u for all elements"),
    ),
    BV.verified(
        "Theorem 5.1",
        "BasicHistogram on a fixed set of bins is (epsilon, 0)-DP when the "
        "counting-query algorithm is (epsilon/2, 0)-DP.",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(98, 100), "with e^epsilon 2 % smaller"),
    ),
    BV.verified(
        "Theorem 5.1, accuracy",
        "If the algorithm errs by more than a with probability at most beta, so does "
        "each bin, and some bin of A with probability at most |A| beta.",
        "enumeration",
        **varied(_accurate, Fraction(1), Fraction(98, 100), "some bin with at most 0.98 |A| beta"),
    ),
    BV.verified(
        "Theorem 5.1, neighbours",
        "Replacing one row changes exactly two counts, each by one, which is why "
        "epsilon/2 per count is enough.",
        "enumeration",
        **varied(_changed_counts, 2, 1, "changes one count only"),
    ),
    BV.verified(
        "Section 5, fixed A",
        "The guarantee holds for a fixed set A; for the set of non-empty bins it does not.",
        "enumeration",
        **varied(_fixed_set, inf, 2.25, "it holds for the set of non-empty bins, too"),
    ),
    BV.not_checkable(
        "Theorem 5.1, running time",
        "O(n log n log|X| + |A| (log n log|X| + log d + Time(M))).",
        "asymptotic running time in the word RAM model",
    ),
)
