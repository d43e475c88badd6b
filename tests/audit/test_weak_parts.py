"""Outputs of many weak parts: what an audit says of them grows with the number of outputs."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from exactdp.audit import audit
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.candidates import counted
from exactdp.audit.outputs.features import column
from exactdp.audit.outputs.looks import looks
from tests.audit.at_equality import HONEST, Honest, weak_bits
from tests.audit.broken.case import Mechanism


def test_sets_of_rare_values_do_not_know_the_outputs_that_judge_them() -> None:
    """Both sides have one law, so judges see about as many hits on the left as on the right."""
    rng = np.random.default_rng(1)
    left, right = (as_outputs(rng.random((8000, 20)) < 0.5) for _ in range(2))
    sides = [column(side, ("value",)) for side in (left, right)]
    for group in counted(("value",), *sides):
        k, y = (each.astype(float) for each in group.hits)
        assert (np.abs(k - y) <= 5 * np.sqrt(k + y)).all()


@pytest.mark.parametrize("more", [20_000, 100_000, 10**6, 10**9])
def test_more_outputs_begin_with_the_looks_of_fewer(more: int) -> None:
    alpha = Fraction(1, 100)
    for samples in (8_000, 20_000, 90_000, 10**6):
        if samples < more:
            before = looks(samples, alpha, search=True)[:-1]
            assert before == looks(more, alpha, search=True)[: len(before)]


def test_seven_weak_bits_are_enough_to_break_a_promise() -> None:
    """Seven bits of odds 0.525 to 0.475 lose 0.7006; the claim is 0.4."""
    report = audit(Mechanism(partial(weak_bits, weak=7), 1), 0, 1, epsilon="0.4", samples=100_000)
    assert report.violation
    assert Fraction(4, 10) < report.epsilon_lower < Fraction(7007, 10000)


@pytest.mark.slow
def test_bounds_of_weak_bits_grow_with_the_outputs() -> None:
    for seed in range(2):
        run = partial(weak_bits, weak=7)
        bounds = [
            audit(Mechanism(run, seed), 0, 1, epsilon="0.75", samples=samples).epsilon_lower
            for samples in (20_000, 100_000, 400_000)
        ]
        assert bounds == sorted(bounds)
        assert bounds[-1] > Fraction("0.45")


@pytest.mark.slow
@pytest.mark.parametrize("one", HONEST, ids=lambda one: one.name)
def test_bounds_stay_below_the_loss(one: Honest) -> None:
    """Claims are a quarter larger, so no run stops early. alpha = 0.1: more than 3 of 8 bounds are
    wrong with a probability of at most 0.005."""
    above = sum(
        audit(one.run(seed), 0, 1, epsilon=1.25 * one.loss, samples=10_000, alpha="0.1")
        .epsilon_lower > one.loss
        for seed in range(8)
    )  # fmt: skip
    assert above <= 3
