"""Many pairs of neighbours: the bad one is found, and many good ones raise no alarm."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.audit import Zcdp, audit_pairs
from exactdp.oracle.strategies import draw_values, neighbouring_histograms
from tests.audit.mechanisms import Clipped, Keys
from tests.distributions import binomial_quantile


def test_the_one_bad_pair_is_found() -> None:
    pairs = [((1, value), (1,)) for value in (0, 1, 2, 3, 4, 5, 6, 1, 2, 3)]
    counts: list[int] = []
    worst = audit_pairs(Clipped(1), pairs, epsilon=1, samples=8_000, progress=counts.append)
    assert worst.violation
    assert worst.left == (1, 6)
    assert worst.report.epsilon_lower > 1
    assert worst.report.alpha == Fraction(1, 100)  # of all finalists together, as is said
    assert "with confidence 0.99\n" in worst.text()
    assert worst.pairs == 10
    assert counts == sorted(counts)
    assert counts[-1] == worst.samples <= 12_000  # the finalist counted twice
    assert "worst of 10 pairs" in worst.text()
    assert worst.as_dict()["left"] == "(1, 6)"


def test_where_nothing_is_broken_the_pair_with_the_largest_bound_is_reported() -> None:
    """Values 0 (no change at all) and 1: the second one comes near the promise."""
    pairs = [((0,), ()), ((0, 0), (0,)), ((1,), ()), ((0, 0, 0), (0, 0))]
    worst = audit_pairs(Clipped(2), pairs, epsilon=1, samples=40_000)
    assert not worst.violation
    assert worst.left == (1,)
    assert Fraction(7, 10) < worst.report.epsilon_lower <= 1


def test_one_pair_is_an_audit_and_other_promises_are_searched() -> None:
    worst = audit_pairs(Clipped(3), [((6,), ())], promise=Zcdp(1), samples=10_000)
    assert worst.violation
    assert worst.report.bounds["rho"] >= 1


@pytest.mark.slow
def test_pairs_of_a_strategy() -> None:
    strategy = neighbouring_histograms(st.integers(0, 2), max_size=3)
    pairs = draw_values(strategy, 6, seed=3)
    assert draw_values(strategy, 6, seed=3) == pairs
    assert 3 < len(pairs) <= 6
    assert all(left != right for left, right in pairs)
    assert any(left.get(2, 0) != right.get(2, 0) for left, right in pairs)
    worst = audit_pairs(Keys(1, exempt=2), pairs, epsilon=1, samples=600 * len(pairs))
    assert worst.violation
    assert worst.left.get(2, 0) != worst.right.get(2, 0)


def alarms(searches: int) -> int:
    """False alarms of searches over four pairs at the edge of their promise, at alpha = 0.1."""
    pairs = [((1,) * i, (1,) * (i + 1)) for i in range(4)]
    return sum(
        audit_pairs(Clipped(100 + i), pairs, epsilon=1, samples=1600, alpha="0.1").violation
        for i in range(searches)
    )


@pytest.mark.slow
def test_false_alarms_are_rare_over_all_pairs() -> None:
    assert alarms(150) <= binomial_quantile(150, 0.1, 1e-4)


def endless() -> Iterator[Any]:
    yield (1,)


@pytest.mark.parametrize(
    ("pairs", "changes", "name"),
    [
        ([], {}, "pairs"),
        ([(1, 2, 3)], {}, "pairs"),
        (endless(), {}, "pairs"),
        ([((), (1,))] * 3, {"samples": 1199}, "samples"),
        ([((), (1,))], {"alpha": 2}, "alpha"),
        ([((), (1,))], {"delta": 2}, "delta"),
    ],
)
def test_bad_input_is_named(pairs: Any, changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        audit_pairs(Clipped(1), pairs, **changes)
