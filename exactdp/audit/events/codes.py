"""Plain values as JSON, and as one text: written down and read back without a change."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from exactdp.audit.events.plain import Coded
from exactdp.errors import InvalidParameter

__all__ = ["decoded", "encoded", "same_text", "text_of"]


def encoded(value: Any) -> Any:
    """A plain value as JSON types; floats in hexadecimal, so nothing is rounded.

    Raises InvalidParameter for what is not plain.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"integer": hex(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    for name, (kind, write, _) in _FORMS.items():
        if isinstance(value, kind):
            return {name: write(value)}
    raise InvalidParameter("value", value, "made of numbers, strings, None, tuples and sets")


def decoded(value: Any) -> Any:
    """What encoded() was given."""
    if not isinstance(value, dict):
        if isinstance(value, (list, float)):
            raise InvalidParameter("value", value, "written by Event.as_dict()")
        return value
    ((name, inner),) = value.items()
    if name == "integer":
        return int(inner, 16)
    if name == "float":
        return float.fromhex(inner)
    if name in _FORMS:
        return _FORMS[name][2](inner)
    raise InvalidParameter("value", value, "written by Event.as_dict()")


def text_of(value: Any) -> str:
    """A plain value as one text: equal texts exactly where numbers, types and signs are equal."""
    return json.dumps(encoded(value))


def same_text(value: Any) -> str:
    """A text that equal plain values of equal types share in every process: quickly, for hashes."""
    if type(value) is frozenset:
        return "{" + ",".join(sorted(map(same_text, value))) + "}"
    text = repr(value)
    return text_of(value) if "frozenset(" in text else text


_FORMS: dict[str, tuple[type, Any, Any]] = {
    "tuple": (tuple, lambda v: [encoded(x) for x in v], lambda v: tuple(map(decoded, v))),
    "set": (
        frozenset,
        lambda v: sorted((encoded(x) for x in v), key=json.dumps),
        lambda v: frozenset(map(decoded, v)),
    ),
    "coded": (
        Coded,
        lambda v: [v.name, *map(encoded, v.parts)],
        lambda v: Coded(v[0], tuple(map(decoded, v[1:]))),
    ),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "fraction": (Fraction, str, Fraction),
}
