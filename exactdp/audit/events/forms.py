"""The form of an output: the types it is made of, which equal values do not give away."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import numpy as np

from exactdp.audit.events.codes import text_of
from exactdp.audit.events.plain import name_of, plain

__all__ = ["NEGATIVE_ZERO", "form"]

NEGATIVE_ZERO = "-0.0"


def form(value: Any) -> str:
    """The types of a value and of what it contains, and which of its zeros are negative.

    >>> form([1, 2, 0.5, -0.0, {"a": (None, True)}])
    "[int*2, float, -0.0, {'a': (NoneType, bool)}]"
    >>> form(np.zeros((2, 3), dtype=np.float32))
    'float32(2, 3)'
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{value.shape}"
    name = value.dtype.name if isinstance(value, np.generic) else name_of(type(value))
    if isinstance(value, (float, np.floating)):
        return NEGATIVE_ZERO if value == 0 and math.copysign(1, value) < 0 else name
    if isinstance(value, dict):
        pairs = (f"{_key(key)}: {form(inner)}" for key, inner in value.items())
        return f"{_prefix(value, dict)}{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):
        return f"{_prefix(value, tuple)}({_runs(value)})"
    if isinstance(value, list):
        return f"{_prefix(value, list)}[{_runs(value)}]"
    return name


def _runs(values: Any) -> str:
    runs = ((one, sum(1 for _ in group)) for one, group in groupby(map(form, values)))
    return ", ".join(one if count == 1 else f"{one}*{count}" for one, count in runs)


def _key(key: Any) -> str:
    return repr(key) if type(key) is str else text_of(plain(key))


def _prefix(value: Any, usual: type) -> str:
    return "" if type(value) is usual else name_of(type(value))
