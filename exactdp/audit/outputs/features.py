"""Features of outputs: each gives one column of numbers, or of values.

A feature is a tuple of a name and its arguments, so that it can be written down and read back.
Every column depends on each output alone, never on the batch it came in. The modules that
``exactdp.audit.outputs`` imports define them: each with the text that reports show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactdp.audit.outputs.batch import Column, Outputs
from exactdp.errors import InvalidParameter

#: A name and its arguments: numbers, texts, None, tuples, other features.
Feature = tuple[Any, ...]
Compute = Callable[..., Column]

_LISTED = 6  # items of a list that are shown


@dataclass(frozen=True)
class _Definition:
    """compute: from outputs and the arguments to a column. text: a template for the arguments, or a
    function of them. numeric: whether thresholds make sense of the column. value: the text of a
    value, where the column holds patterns."""

    compute: Compute
    text: str | Callable[..., str]
    numeric: bool
    value: Callable[[Any], str] | None


_DEFINITIONS: dict[str, _Definition] = {}


def define(
    name: str,
    text: str | Callable[..., str],
    compute: Compute,
    *,
    numeric: bool = True,
    value: Callable[[Any], str] | None = None,
) -> None:
    """Define the feature of this name. The arguments are those of :class:`_Definition`."""
    _DEFINITIONS[name] = _Definition(compute, text, numeric, value)


def column(outputs: Outputs, feature: Feature) -> Column:
    """The feature of every output: an array of numbers, or an object array of hashable values."""
    name, *arguments = feature
    if name not in _DEFINITIONS:
        raise InvalidParameter("feature", name, f"one of {', '.join(_DEFINITIONS)}")
    return _DEFINITIONS[name].compute(outputs, *arguments)


def is_numeric(feature: Feature) -> bool:
    """Whether the column holds numbers of which thresholds make sense."""
    return _DEFINITIONS[feature[0]].numeric


def described(feature: Feature) -> str:
    """A feature in plain English.

    >>> described(("granularity", ("number", 0), 0.0))
    'exponent of the last binary digit of coordinate 0'
    >>> described(("combination", (("total",), ("number", "a")), (0.5, -1.25)))
    "-1.25 (value at key 'a') + 0.5 (total of the coordinates)"
    >>> described(("number", "users", 3))
    "value at ['users'][3]"
    """
    name, *arguments = feature
    if name not in _DEFINITIONS:
        return f"{name}({', '.join(map(repr, arguments))})"
    text = _DEFINITIONS[name].text
    return text(*arguments) if callable(text) else text.format(*map(_argument, arguments))


def value_text(feature: Feature, value: Any) -> str:
    """A value of the feature's column, for people."""
    text = _DEFINITIONS[feature[0]].value if feature[0] in _DEFINITIONS else None
    return text(value) if text else repr(value)


def is_pattern(feature: Feature) -> bool:
    """Whether the values of the column have texts of their own."""
    return feature[0] in _DEFINITIONS and _DEFINITIONS[feature[0]].value is not None


def listed(texts: list[str], join: str = ", ") -> str:
    """The first texts of a list, and how many more there are.

    >>> listed(list("abcdefgh"))
    'a, b, c, d, e, f, 2 more'
    """
    more = [f"{len(texts) - _LISTED} more"] if len(texts) > _LISTED else []
    return join.join([*texts[:_LISTED], *more])


def _argument(argument: Any) -> str:
    if isinstance(argument, tuple) and argument and argument[0] in _DEFINITIONS:
        return described(argument)
    return f"{argument:.6g}" if isinstance(argument, float) else repr(argument)
