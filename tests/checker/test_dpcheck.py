"""The checker proves what is true and nothing that is false."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.checker.examples import EXAMPLES, Example, verdict


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_true_statement_is_valid(example: Example) -> None:
    assert verdict(example.honest()) == "valid"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_less_than_the_truth_is_not_proved(example: Example) -> None:
    low, high = example.truth()
    hair = Fraction(1, 10**9)
    assert verdict(example.statement(low * (1 - hair), None)) == "not proved"
    assert verdict(example.statement(None, high * (1 + hair))) == "not proved"
