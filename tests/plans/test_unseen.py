"""Changes that must not show do not show in the results of plans; and faults are noticed."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.plans.unseen import CHANGES, loaded, rows, seen

ENGINES = {"opendp": "opendp", "pipelinedp": "pipeline_dp"}


@cache
def _plain(engine: str) -> list[Any]:
    return seen(loaded(engine), rows())


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_mean_the_same(engine: str, change: str) -> None:
    pytest.importorskip(ENGINES[engine])
    assert len(_plain(engine)[0]) == 11  # five keys, whose cells are two lists
    assert seen(loaded(engine), CHANGES[change](rows())) == _plain(engine)


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
def test_faults_are_noticed(engine: str, mutant: Any) -> None:
    pytest.importorskip(ENGINES[engine])
    space = loaded(engine)
    assert seen(space, rows()) == _plain(engine)
    change = mutant(space)
    with pytest.raises((AssertionError, TypeError)):
        assert seen(space, CHANGES[change](rows())) == _plain(engine)
