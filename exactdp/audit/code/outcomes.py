"""Outcomes told apart by type and content, not by ==: True, 1 and 1.0 differ, so do 0.0 and -0.0.

Their keys are texts that are the same in every process. Values that have no such text (a function,
an object of an unknown class) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.runs import NotEnumerable
from exactdp.audit.values import BUILT_IN, OF_NUMPY, common, encoded, type_name, types_of
from exactdp.errors import ExactDPError, InvalidParameter

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")


@dataclass(frozen=True)
class Outcome:
    """What a run showed: a value for people, and a key that is equal only for equal outcomes."""

    key: str
    value: Hashable = field(compare=False)

    def __repr__(self) -> str:
        return repr(self.value)

    @classmethod
    def returned(cls, value: Any) -> Outcome:
        """The outcome of a run that returned a value, which later runs may change."""
        if isinstance(value, LazyNumber):
            value = value.settle()
        try:
            # with ordinary numbers in place of lazy ones
            shown = value if type(value) in BUILT_IN else deepcopy(value)
        except ExactDPError:
            raise
        except Exception as error:  # whatever the value's own methods raise
            raise NotEnumerable(f"an outcome that cannot be copied ({error})") from None
        return cls(key_of(value), hashable(shown))  # a copy may leave out what an object holds

    @classmethod
    def raised(cls, error: BaseException) -> Outcome:
        """The outcome of a run that raised an exception."""
        return cls(f"raised {key_of(_parts(error))}", ("raised", type(error).__name__))


def key_of(value: Any) -> str:
    """A text that is equal only for values of equal type and content; raises NotEnumerable."""
    text = _short_key(value) or _full_key(value)
    if _ADDRESS.search(text):
        raise NotEnumerable(
            "an outcome holds the address of an object, which differs from run to run; give "
            "its class a __repr__ of its own"
        )
    return text


def _short_key(value: Any) -> str | None:
    """The key of numbers, texts, tuples and lists of them, made quickly; None for others."""
    if isinstance(value, LazyNumber):
        value = value.settle()
    kind = type(value)
    if kind in BUILT_IN:
        return repr(value)
    if kind in (tuple, list):
        parts = [_short_key(one) for one in value]
        return None if None in parts else f"{kind.__name__}{parts}"
    return f"{kind.__name__} {value.item()!r}" if isinstance(value, OF_NUMPY) else None


def _full_key(value: Any) -> str:
    try:
        content = encoded(common(value, known=_is_whole))
        return f"of {types_of(value)!r} {content!r}"
    except InvalidParameter as error:
        raise NotEnumerable(
            f"{error.value}, which cannot be told apart from others for certain; return numbers, "
            "text, or containers and dataclasses of them"
        ) from None


def _is_whole(kind: type) -> bool:
    """Whether the key of such an object tells everything; frames have categories and attributes."""
    if issubclass(kind, np.ndarray):
        return kind is np.ndarray
    if issubclass(kind, Mapping):
        return issubclass(kind, dict)
    return kind.__module__.partition(".")[0] not in ("pandas", "polars", "pyarrow")


def _parts(error: BaseException | None) -> Any:
    """The class, arguments, attributes (notes, too) and causes of an exception."""
    if error is None:
        return None
    causes = _parts(error.__cause__), _parts(error.__context__)
    return [type_name(type(error)), error.args, vars(error), *causes]


def hashable(value: Any) -> Any:
    """A value with nothing mutable left in it: hashable, and pleasant to look up.

    Lists and arrays become tuples, sets frozensets, dicts frozensets of pairs, objects without a
    hash their text; a Fraction or another number is kept as it is.
    """
    if isinstance(value, dict):
        return frozenset((hashable(key), hashable(item)) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return frozenset(hashable(item) for item in value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, np.ndarray):
        return hashable(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(hashable(item) for item in value)
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
