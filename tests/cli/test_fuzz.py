"""Whatever is given, the command line answers in one line, with the right code, leaving nothing."""

from __future__ import annotations

import pytest

from tests.cli.fuzz import fuzz, unharmed


@pytest.mark.slow
@pytest.mark.parametrize("costly", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_before_anything_is_wrong_with_them_the_calls_end_well(costly: bool) -> None:
    assert set(unharmed(costly)) <= {0, 1}


@pytest.mark.slow
def test_malformed_calls_and_files() -> None:
    codes = fuzz(60, seed=3)
    assert codes[2] > 40


@pytest.mark.slow
def test_many_malformed_calls_and_files() -> None:
    assert fuzz(100_000, seed=4)[2] > 80_000
