"""Changes that must not show do not show in the results of plans; and faults are noticed."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from exactdp import plans
from tests.plans import unseen
from tests.plans.unseen import CHANGES, loaded, presto, rows, seen

ENGINES = {"opendp": "opendp", "pipelinedp": "pipeline_dp"}


@cache
def _plain(engine: str) -> list[Any]:
    return seen(loaded(engine), rows())


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.peers
def test_rows_that_mean_the_same(engine: str, change: str) -> None:
    pytest.importorskip(ENGINES[engine])
    assert len(_plain(engine)[0]) == 11  # five keys, whose cells are two lists
    assert seen(loaded(engine), CHANGES[change](rows())) == _plain(engine)


#: What columns of SQL can hold.
_COLUMNS = ["permuted", "reversed", "renamed", "numbers", "texts"]


@cache
def _plain_presto() -> list[Any]:
    return presto(rows())


@pytest.mark.parametrize("change", [*_COLUMNS, "gaps", "values", "float users"])
def test_presto(change: str) -> None:
    pytest.importorskip("duckdb")
    visits = rows()
    if change == "float users":  # are no users, and NaN is none either
        visits = [{**row, "uid": float("nan")} for row in visits]
        assert [len(result) for result in presto(visits)] == [0, 0, 3]
        return
    assert [len(result) for result in _plain_presto()] == [5, 10, 3]
    if change == "gaps":
        visits += [{**row, "uid": None} for row in visits] + [
            {**row, "url": None} for row in visits
        ]
    elif change == "values":
        gaps = [{**row, "amount": gap} for row in visits[:99] for gap in (None, float("nan"))]
        visits = [{**row, "amount": float(row["amount"])} for row in visits] + gaps
    else:
        visits = CHANGES[change](visits)
    assert presto(visits) == _plain_presto()


def test_presto_without_an_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    code = plans.ENGINES["presto"].code
    unordered = replace(
        plans.ENGINES["presto"],
        code=lambda release_plan: re.sub(r" ORDER BY [^(]*;", ";", code(release_plan)),
    )
    monkeypatch.setattr(unseen, "ENGINES", {"presto": unordered})
    with pytest.raises(AssertionError):
        assert presto(CHANGES["permuted"](rows())) == _plain_presto()


def unsorted(space: dict[str, Any]) -> str:
    """Keys in the order of the rows."""
    space["_in_order"] = list
    return "permuted"


def collated(space: dict[str, Any]) -> str:
    """Keys that differ by case alone are one, spelt as in the first row."""
    plain, spelt = space["_plain"], {}
    space["_plain"] = lambda value: (
        spelt.setdefault(value.casefold(), value) if isinstance(value, str) else plain(value)
    )
    return "reversed"


def any_value(space: dict[str, Any]) -> str:
    """Keys are taken as they are."""
    space["_plain"] = lambda value: value
    return "incomplete"


@pytest.mark.parametrize("mutant", [unsorted, collated, any_value])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.peers
def test_faults_are_noticed(engine: str, mutant: Any) -> None:
    pytest.importorskip(ENGINES[engine])
    space = loaded(engine)
    assert seen(space, rows()) == _plain(engine)
    change = mutant(space)
    with pytest.raises((AssertionError, TypeError)):
        assert seen(space, CHANGES[change](rows())) == _plain(engine)
