"""Exact failure probabilities of histograms, and the conditions of Theorems 6.1, 6.4 and 6.6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import data_sets
from exactdp.proofs_check.claims.bv._laws import histogram_law, released_error
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["basic_failures", "per_query_failure", "require_heavy_accuracy", "simultaneous_failure"]


def basic_failures(noise: CountSampler, universe: int, a_1: int, a_2: int) -> Fraction:
    """The least beta with (a_1, beta)-per-query and (a_2, beta)-simultaneous accuracy."""
    sets = data_sets(noise.n, universe)
    one = max(
        noise.law(c).probability(lambda z: abs(z - c) > a_1)
        for counts in sets
        for c in (counts.get(x, 0) for x in range(universe))
    )
    every = max(
        histogram_law(noise, counts, universe).probability(
            lambda z: any(abs(z[x] - counts.get(x, 0)) > a_2 for x in range(universe))
        )
        for counts in sets
    )
    return max(one, every)


def per_query_failure(
    law: Law[Any], counts: Mapping[int, int], universe: int, a_1: int, a_2: int, strict: bool = True
) -> Fraction:
    """The worst P(error > a_1) of one bin with a true count > 2 a_2 (>= when not strict)."""
    least = 2 * a_2 + (1 if strict else 0)
    chosen = [x for x in range(universe) if counts.get(x, 0) >= least]
    return max(
        (law.probability(lambda h: released_error(h, counts, x) > a_1) for x in chosen),
        default=Fraction(0),
    )


def simultaneous_failure(
    law: Law[Any], counts: Mapping[int, int], universe: int, a_1: int, a_2: int, factor: int = 2
) -> Fraction:
    """P(error of some bin > factor a_2)."""
    return law.probability(
        lambda h: any(released_error(h, counts, x) > factor * a_2 for x in range(universe))
    )


def require_heavy_accuracy(
    law: Callable[[CountSampler, dict[int, int], int], Law[Any]],
    cases: Iterable[tuple[CountSampler, int]],
    failure: Callable[..., Fraction],
    noisy: int,
    mixed: Fraction,
) -> None:
    """Require failure <= mixed + noisy beta, beta least for BasicHistogram, for all a_1 <= a_2."""
    for noise, universe in cases:
        sets = data_sets(noise.n, universe)
        laws = [law(noise, counts, universe) for counts in sets]
        for a_1, a_2 in combinations_with_replacement(range(noise.n + 1), 2):
            beta = basic_failures(noise, universe, a_1, a_2)
            for counts, one in zip(sets, laws, strict=True):
                fails = failure(one, counts, universe, a_1, a_2)
                case = f"{counts}, |X|={universe}, a_1={a_1}, a_2={a_2}, beta={beta}"
                require(fails <= mixed + noisy * beta, f"{case}: fails with {fails}")
