"""The target is mandatory: what does not keep it cannot be made; what is chosen for it, does."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from exactdp import InvalidParameter
from exactdp.balls import precision
from exactdp.mechanisms import (
    CSH,
    GSHM,
    GSHMWithSums,
    TopK,
    TopKWithBase,
    TopKWithSums,
)
from exactdp.mechanisms.thresholded.histogram_with_sums import WithSums
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.samplers import SeededSource, SystemSource
from tests.reference import discrete_gaussian

F = Fraction
KINDS: list[type[Thresholded]] = [GSHM, CSH, TopK, TopKWithBase, GSHMWithSums, TopKWithSums]


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lower", [1, pytest.param(7, marks=pytest.mark.slow)])
def test_for_target_keeps_it_with_the_least_threshold(kind: type[GSHM], lower: int) -> None:
    bound = {next(iter(kind.__dataclass_fields__)): 3}
    mechanism = kind.for_target(**bound, epsilon=1, delta="1e-4", lower=lower)
    promise = mechanism.guarantee
    assert promise.delta.upper <= F("1e-4") <= 2 * promise.delta.upper
    assert promise.epsilon == 1
    step = 1 if kind in (GSHM, GSHMWithSums) else F(1, 2)
    more = {"largest": mechanism.largest} if isinstance(mechanism, WithSums) else {}
    with pytest.raises(InvalidParameter, match="delta must be >="):
        kind(3, mechanism.sigma, F(mechanism.tau) - step, 1, "1e-4", lower, **more)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mechanism",
    [GSHM(1, "0.7", 1, 1, "0.5"), CSH(1, "0.5", 1, 1, "0.999"), CSH(2, 3, 12, 1, "0.1")],
)
def test_chance_of_being_seen(mechanism: Thresholded) -> None:
    """Against how often a counter is released."""
    for count in (0, 1, 2, 9, 13, 20):
        chance = mechanism.chance(count)
        seen = sum(len(mechanism.draw({"a": count}, SeededSource(seed))) for seed in range(300))
        # five standard deviations: missed with probability below 1e-6
        spread = 5 * (300 * float(chance.upper) * (1 - float(chance.lower)) + 1) ** 0.5
        assert abs(seen - 300 * float(chance.upper)) <= spread
    assert mechanism.chance(0).upper == 0


def test_both_ways_to_the_tail_of_correlated_noise_agree() -> None:
    near = CSH(2, 3, 12, 1, "0.1")
    with precision(256):
        assert near._noise.variance > 4 * 3  # where the first way is taken
        for copies in (1, 2):
            smooth, summed = near._noise.tail(7, copies), near._noise._summed(7, copies)
            assert smooth.overlaps(summed)
            assert smooth.rad() + summed.rad() < 1e-18


def test_accuracy_holds_as_often_as_it_says() -> None:
    mechanism = GSHM(1, 2, 6, 1, "0.5")
    bound = mechanism.accuracy("0.1", counters=5)
    rows = [mechanism.draw({"a": 90}, SeededSource(seed)) for seed in range(500)]
    errors = Counter(abs(int(dict(row)["a"]) - 90) for row in rows)
    assert sum(n for e, n in errors.items() if e > bound.per_query) <= 500 * 0.1 + 34  # alpha 1e-6
    assert sum(n for e, n in errors.items() if e > bound.per_query - 1) > 10
    assert bound.per_query < bound.simultaneous


@pytest.mark.parametrize("sigma", ["1.2", 4])
def test_the_error_of_counts_with_their_base_has_both_noises(sigma: Any) -> None:
    """P(|Z_i + Z + Z'|/2 > bound), by sums over all three noises."""
    mechanism = TopKWithBase(3, sigma, 40, 9, "0.5")
    own, shared = (
        discrete_gaussian(4 * float(mechanism.sigma) ** 2 / root, 90) for root in (1.0, 3**0.5)
    )
    both: dict[int, float] = {}
    for (a, p), (b, q) in product(shared.items(), repeat=2):
        both[a + b] = both.get(a + b, 0.0) + p * q
    bound = mechanism.accuracy("0.05").per_query
    wrong = [
        sum(p * q for (z, p), (s, q) in product(own.items(), both.items()) if abs(z + s) > 2 * e)
        for e in (bound, bound - 1)
    ]
    assert wrong[0] <= 0.05 < wrong[1]


def test_bulk_draws_follow_the_single_ones() -> None:
    """Many counters are drawn through tables, few one by one: the same law of what is released."""
    mechanism = GSHM(1, "1.5", 4, 1, "0.9")
    bulk = mechanism.draw(dict.fromkeys(range(4000), 6), SeededSource(1))
    seen = Counter(c for _, c in bulk)
    single = Counter(
        c
        for i in range(40)
        for _, c in mechanism.draw(dict.fromkeys(range(50), 6), SeededSource(i))
    )
    assert set(seen) | set(single) <= set(range(6, 20))
    for value in range(6, 11):
        a, b = seen[value] / 4000, single[value] / 2000
        assert abs(a - b) < 5 * (a * (1 - a) / 1300) ** 0.5  # alpha 1e-5
    order = [x for x, _ in bulk]
    assert order == sorted(order)


def test_releases_answer_by_element_and_go_to_json() -> None:
    released = CSH(2, 3, 12, 1, "0.1").release({"a": 900}, SystemSource())
    assert abs(released["a"] - 900) < 60
    assert released["b"] == 0
    assert ("a" in released, "b" in released) == (True, False)
    data = released.as_dict()
    assert data["bins"][0][0] == "a"
    assert F(data["bins"][0][1]) == released["a"]
    assert data["guarantee"]["epsilon"] == "1"
