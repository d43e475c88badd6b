"""The SQL formulas of examples/sql_audit.py compute what their sources say."""

import io
import json
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from exactdp.audit.command import Command

PROGRAM = Path(__file__).parents[2] / "examples" / "sql_audit.py"
N = 1000


def outputs(name: str, data: Any, count: int = N) -> list[Any]:
    """What the program answers, without the seconds that a process takes to start."""
    pytest.importorskip("duckdb")
    question, answered = io.StringIO(json.dumps({"data": data, "count": count})), io.StringIO()
    with patch("sys.stdin", question), redirect_stdout(answered):
        runpy.run_path(str(PROGRAM))["main"](name)
    values = [json.loads(line) for line in answered.getvalue().splitlines()]
    assert len(values) == count
    return values


@pytest.mark.slow
def test_the_program_is_a_command_that_can_be_audited() -> None:
    pytest.importorskip("duckdb")
    answers = Command(f"{sys.executable} {PROGRAM} groups")(["a"], 3)
    assert [set(each) for each in answers] == [{"a"}] * 3


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "data", "mean"),
    [
        ("sum", [0.25, 5, -3], 1.25),  # clipped to [0, 1]
        ("average", [0.25, 5, -3], 1.25 / 3),
        ("count", [1] * 20, 20),
        ("coalesced", [1] * 20, 20),
    ],
)
def test_noise_of_scale_one_is_added_to_the_aggregate(name: str, data: Any, mean: float) -> None:
    values = outputs(name, data)
    variance = sum((x - mean) ** 2 for x in values) / N
    assert abs(sum(values) / N - mean) < 5 / N**0.5  # five standard deviations
    assert abs(variance - 1) < 0.25  # rounding adds 1/12


def test_an_empty_table_gives_null_unless_it_is_coalesced() -> None:
    assert set(outputs("count", [], 100)) == {None}
    assert {0.0, 1.0, 2.0} <= set(outputs("coalesced", []))
    assert all(set(each) == {"a"} for each in outputs("groups", ["a"], 100))


def test_a_single_user_passes_the_threshold_with_probability_delta() -> None:
    passed = sum(bool(each) for each in outputs("threshold", [["u", "a"]], 4000))
    assert 10 <= passed <= 90  # 40 of 4000 expected, five standard deviations are 32


@pytest.mark.slow
def test_a_user_counts_for_one_key_or_for_all() -> None:
    rows = [[f"u{i}", key] for i in range(60) for key in "ab"]
    for name, mean in (("threshold", 30), ("unbounded", 60)):
        counts = [each.get("a", 0) for each in outputs(name, rows)]
        assert abs(sum(counts) / N - mean) < 1
