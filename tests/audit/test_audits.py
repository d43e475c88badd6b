"""The audit end to end: what is broken is found, what is not is left alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import Event, audit
from exactdp.audit.outputs.looks import looks, shares
from tests.audit import leaking
from tests.audit.mechanisms import Counter, Thresholded, Vector

#: Released with probability e^-4/(1 + e^-1) where the threshold is 5, e^-5/(1 + e^-1) at 6.
OFF_BY_ONE = "0.013391"
CLAIMED = "0.0049263"


seeds = pytest.mark.parametrize("seeds", [1, pytest.param(6, marks=pytest.mark.slow)])


@seeds
def test_a_threshold_off_by_one_is_found_with_5000_outputs_of_each(seeds: int) -> None:
    for seed in range(seeds):
        run = Thresholded(seed, 5)
        report = audit(run, {"a": 1}, {}, epsilon="1", delta=CLAIMED, samples=10_000)
        assert report.violation
        assert report.direction == "left"
        assert sum(trials for _, trials in report.counts.values()) < 10_000
        assert report.samples < 20_000  # counted again before it is stated
        assert report.delta_lower > Fraction(CLAIMED)
        released = [frozenset({("a", 5)}), frozenset()]
        assert report.event.hits(released).tolist() == [True, False]


@pytest.mark.slow
def test_a_threshold_off_by_one_is_mostly_found_with_5000_outputs_of_both() -> None:
    """A test that knew the event, and spent all its outputs on it, would find it 17 times in 20."""
    violations = sum(
        audit(Thresholded(s, 5), {"a": 1}, {}, delta=CLAIMED, samples=5000).violation
        for s in range(100, 114)
    )
    assert violations >= 6


@seeds
def test_the_right_threshold_is_left_alone(seeds: int) -> None:
    for seed in range(seeds):
        report = audit(Thresholded(seed, 6), {"a": 1}, {}, delta=CLAIMED, samples=5000)
        assert not report.violation
        assert report.delta_lower < Fraction(CLAIMED)


GROSS: list[tuple[str, Callable[[np.random.Generator], Any], Any, Any]] = [
    ("floating-point Laplace", leaking.float_laplace, 0.0, 1.0),
    ("the same noise twice", leaking.reused_noise, (0, 0), (0, 1)),
    ("no noise on a size", leaking.no_noise_on_size, {"a": 1}, {"a": 2}),
    ("sparse vector without query noise", leaking.endless_answers, (0, 1, 0, 1), (1, 0, 1, 0)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "make", "left", "right"), GROSS, ids=[row[0] for row in GROSS])
def test_gross_violations_cost_few_outputs(
    name: str, make: Callable[[np.random.Generator], Any], left: Any, right: Any
) -> None:
    report = audit(make(np.random.default_rng(1)), left, right, samples=1_000_000)
    assert report.violation, name
    assert report.samples <= 20_000
    assert report.epsilon_lower > 1


def test_a_small_excess_is_found_with_more_outputs() -> None:
    report = audit(Counter(3, 1.1), 0, 1, samples=400_000)
    assert report.violation
    assert 1 < report.epsilon_lower < Fraction(11, 10)


@pytest.mark.slow
def test_a_learned_direction_is_found() -> None:
    """Each of eight counters is fine on its own; together they spend 8 x 0.35 > 1."""
    data = [(0,) * 8, (1,) * 8]
    report = audit(Vector(5, 0.35), *data, epsilon="1.5", samples=400_000)
    assert report.violation


def test_given_events_are_counted_and_nothing_else() -> None:
    event = Event(("number", 0), "at least", 1)
    report = audit(Counter(1), 0, 1, events=[event], samples=10_000)
    assert report.event == event
    assert sum(trials for _, trials in report.counts.values()) == report.samples == 10_000
    assert not report.violation


def test_bounds_are_reached_even_where_nothing_is_violated() -> None:
    report = audit(Counter(1), 0, 1, epsilon="1", samples=60_000)
    assert not report.violation
    assert Fraction(8, 10) < report.epsilon_lower <= 1
    assert report.delta_lower == 0


@pytest.mark.slow
@pytest.mark.parametrize("samples", [10_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_where_nothing_is_violated_the_bound_is_near_the_truth(samples: int) -> None:
    """Many outputs of discrete Laplace noise are rare, and chance makes some look suspicious."""
    bounds = []
    for seed in range(5):
        rng = np.random.default_rng(seed)

        def run(data: int, n: int, rng: np.random.Generator = rng) -> Any:
            return data + rng.geometric(1 - 1 / math.e, n) - rng.geometric(1 - 1 / math.e, n)

        report = audit(run, 0, 1, samples=samples)
        assert not report.violation
        bounds.append(report.epsilon_lower)
    assert min(bounds) > Fraction("0.75")
    assert sorted(bounds)[2] > Fraction("0.85")


def test_error_budgets_add_up() -> None:
    for samples in (100, 5000, 10_000, 10**6, 10**9):
        for search in (False, True):
            plan = looks(samples, Fraction(1, 100), search)
            assert sum(look.alpha for look in plan) == Fraction(1, 100)
            assert sum(look.size for look in plan) == samples
            assert all(look.size > look.training // 2 for look in plan)
    for count in range(1, 9):
        assert sum(shares(count)) == 1


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": "-1"}, "epsilon"),
        ({"delta": "1"}, "delta"),
        ({"delta": "-0.1"}, "delta"),
        ({"samples": 99}, "samples"),
        ({"samples": 1000.5}, "samples"),
        ({"alpha": "0"}, "alpha"),
        ({"alpha": "1"}, "alpha"),
        ({"progress": False}, "progress"),
        ({"events": []}, "events"),
        ({"events": ["x"]}, "events"),
    ],
)
def test_bad_input_is_named(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        audit(Counter(1), 0, 1, **changes)


def test_a_run_that_returns_the_wrong_number_of_outputs_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="run"):
        audit(lambda data, n: [0] * (n + 1), 0, 1, samples=1000)


def test_huge_epsilon() -> None:
    assert not audit(Counter(1), 0, 1, epsilon="1000", samples=1000).violation
    assert math.isfinite(float(audit(Counter(1), 0, 1, epsilon="0", samples=3000).epsilon_lower))
