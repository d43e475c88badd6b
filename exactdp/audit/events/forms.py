"""The form of an output: the types it is made of, which equal values do not give away."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.codes import text_of
from exactdp.audit.events.parts import name_of, parts
from exactdp.audit.events.plain import plain

__all__ = ["NEGATIVE_ZERO", "form", "scalar", "signs"]

NEGATIVE_ZERO = "-0.0"

_ALIKE = frozenset({int, str, bool, type(None)})  # types whose values all have one form


def form(value: Any) -> str:
    """The types of a value and of what it contains, and which of its zeros are negative.

    >>> form([1, 2, 0.5, -0.0, {"a": (None, True)}])
    "[int*2, float, -0.0, {'a': (NoneType, bool)}]"
    >>> form(np.zeros((2, 3), dtype=np.float32))
    'float32(2, 3)'
    """
    made = parts(value)
    if made is not None:
        return f"{name_of(type(value))}({_runs(made[1])})"
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (float, np.floating)):
        return _float(value)
    if isinstance(value, dict):
        return _dictionary(value)
    if isinstance(value, tuple):
        return f"{_prefix(value, tuple)}({_runs(value)})"
    if isinstance(value, list):
        return f"{_prefix(value, list)}[{_runs(value)}]"
    if isinstance(value, (set, frozenset)):
        return f"{name_of(type(value))}{{{_elements(value)}}}"
    if isinstance(value, memoryview):
        return f"memoryview {value.format}{value.shape}"
    return scalar(value.dtype) if isinstance(value, np.generic) else name_of(type(value))


def scalar(dtype: Any) -> str:
    """The name of a number of numpy's; its bool is another type than Python's."""
    return "numpy.bool" if dtype.kind == "b" else str(dtype.name)


def signs(values: NDArray[Any]) -> str:
    """Which zeros of an array are negative, and which NaNs."""
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    if flat.dtype.kind != "f" or not np.signbit(flat).any():
        return ""
    at = np.flatnonzero(np.signbit(flat) & ((flat == 0) | np.isnan(flat)))
    return f" signs {at.tolist()}" if len(at) else ""


def _array(value: NDArray[Any]) -> str:
    kind = str(value.dtype.descr) if value.dtype.names else value.dtype.name
    inner = f"[{_runs(value.ravel().tolist())}]" if value.dtype == object else ""
    return f"{kind}{value.shape}{inner}{signs(value)}"


def _float(value: Any) -> str:
    name = value.dtype.name if isinstance(value, np.generic) else name_of(type(value))
    if value == value:
        return NEGATIVE_ZERO if value == 0 and np.signbit(value) else name
    return f"-nan {name}" if np.signbit(value) else name


def _dictionary(value: dict[Any, Any]) -> str:
    if type(value) is dict and {*map(type, value)} == {str}:
        kinds = tuple(map(type, value.values()))
        if _ALIKE.issuperset(kinds):
            return _of_simple(tuple(value), kinds)
    pairs = (f"{_key(key)}: {form(inner)}" for key, inner in value.items())
    made = getattr(value, "default_factory", None)
    added = "" if made is None else f" of {getattr(made, '__qualname__', '')}"
    return f"{_prefix(value, dict)}{added}{{{', '.join(pairs)}}}"


@lru_cache(maxsize=256)
def _of_simple(keys: tuple[str, ...], kinds: tuple[type, ...]) -> str:
    pairs = zip(keys, kinds, strict=True)
    return f"{{{', '.join(f'{key!r}: {name_of(kind)}' for key, kind in pairs)}}}"


def _elements(values: Any) -> str:
    """The types in a set; where they differ, which element has which."""
    found = [(form(one), one) for one in values]
    kinds = {name for name, _ in found}
    if len(kinds) < 2:
        return "".join(kinds)
    return ", ".join(sorted(f"{text_of(plain(one))}: {name}" for name, one in found))


def _runs(values: Any) -> str:
    kinds = {*map(type, values)}
    if len(kinds) == 1 and len(values) > 1 and kinds <= _ALIKE:
        return f"{name_of(*kinds)}*{len(values)}"
    runs = ((one, sum(1 for _ in group)) for one, group in groupby(map(form, values)))
    return ", ".join(one if count == 1 else f"{one}*{count}" for one, count in runs)


def _key(key: Any) -> str:
    return repr(key) if type(key) is str else f"{text_of(plain(key))}{_more(key)}"


def _more(key: Any) -> str:
    return "" if type(key) in (int, float, bool, bytes, type(None)) else f" {form(key)}"


def _prefix(value: Any, usual: type) -> str:
    return "" if type(value) is usual else name_of(type(value))
