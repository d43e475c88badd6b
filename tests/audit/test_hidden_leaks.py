"""A leak of ln 9 in a small part of outputs that are otherwise noise: found with few outputs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from exactdp.audit import Event, audit
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.features import column
from tests.audit.leaking import LEAKS, Leak


@pytest.mark.few(1)
@pytest.mark.parametrize("name", sorted(LEAKS, key="bit 9 of 16".__ne__))  # it is fast
def test_a_leak_in_a_part_is_found(name: str) -> None:
    report = audit(Leak(2, name), 0, 1, samples=10_000)
    assert report.violation, report.text()
    again = Event.from_dict(json.loads(json.dumps(report.event.as_dict())))
    assert again == report.event


@pytest.mark.slow
def test_keys_of_one_training_batch_do_not_pass_for_an_event() -> None:
    """Keys that come up once tell training outputs apart perfectly, and fresh ones not at all."""
    rng = np.random.default_rng(4)

    def run(data: int, n: int) -> list[Any]:
        return [
            {*rng.integers(0, 10**6, 3).tolist(), *[-1] * (int(lie) ^ data)}
            for lie in rng.random(n) < 0.1
        ]

    report = audit(run, 0, 1, samples=6000)
    assert report.violation
    assert "other than" not in str(report.event)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_bits_are_exact_and_belong_to_each_output_alone(dtype: Any) -> None:
    values = [0, 1, 5, 2**40 + 2**9, 2**62 + 1]
    for k in (0, 9, 40, 62, 100):
        together = column(as_outputs(np.array(values, dtype=dtype)), ("bit", ("number", 0), k))
        alone = [column(as_outputs([v]), ("bit", ("number", 0), k))[0] for v in values]
        assert together.tolist() == alone == [v >> k & 1 for v in values]


def test_letters_are_counted_from_both_ends() -> None:
    outputs = as_outputs(["abc", "", "z", None, 7])
    for i, expected in ((0, ["a", "", "z", "", ""]), (-2, ["b", "", "", "", ""])):
        assert column(outputs, ("character", ("value",), i)).tolist() == expected
