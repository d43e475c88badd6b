"""Cases of one kind of which the default run takes every second one; all run with ``-m slow``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["thinned"]


def thinned(cases: Iterable[Any]) -> list[Any]:
    """The cases, every second of them slow."""
    return [
        pytest.param(case, marks=pytest.mark.slow if i % 2 else ()) for i, case in enumerate(cases)
    ]
