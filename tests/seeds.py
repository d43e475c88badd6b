"""Random cases: some in the default run, more in the slow one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def seeds(quick: Iterable[int], wide: Iterable[int]) -> Any:
    """Parametrizes `seed`. quick: seeds of the default run. wide: those of the slow run."""
    marked = (pytest.param(seed, marks=pytest.mark.slow) for seed in wide)
    return pytest.mark.parametrize("seed", [*quick, *marked])
