"""What the exhibits cost, by the audit that reads them: exact laws of programs as they stand."""

from __future__ import annotations

import pytest

from exactdp.audit import private
from tests.local.sparse import leaks

LOG_3 = "1.0986123"  # rounded up

A, B, C = frozenset({1, 2}), frozenset({2}), frozenset({3})

CASES = {
    # event level: the first item is removed, and the other one moves up: log 6
    "order": (leaks.repetition_in_order, A, B, "1.7917", "1.7918"),
    # any two vectors: 7 times as likely instead of 3
    "padding": (leaks.key_value_without_padding, C, B, "1.945", "1.946"),
    # two bins change: log 9
    "budget": (leaks.bins_with_epsilon_each, A, frozenset(), "2.197", "2.198"),
}
RIGHT = {
    "order": (leaks.repetition_without_order, A, B),
    "padding": (leaks.key_value_with_padding, C, B),
    "budget": (leaks.one_bin, A, frozenset()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_leak_is_refuted_and_its_true_cost_found(name: str) -> None:
    program, left, right, more_than, at_most = CASES[name]
    assert float(more_than) > float(LOG_3)
    assert private(program, left, right, epsilon=more_than).verdict == "refuted"
    assert private(program, left, right, epsilon=at_most).verdict == "proved"


@pytest.mark.parametrize("name", RIGHT)
def test_built_right_the_promise_is_proved(name: str) -> None:
    program, left, right = RIGHT[name]
    assert private(program, left, right, epsilon=LOG_3).verdict == "proved"
