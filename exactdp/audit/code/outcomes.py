"""Outcomes told apart by all that a reader sees: the closed list of :mod:`exactdp.audit.plain`.

Their keys are texts that are the same in every process. Values of other types are refused.
"""

from __future__ import annotations

import builtins
import re
import types
from collections.abc import Callable, Hashable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lazy_arrays import LazyArray
from exactdp.audit.code.lines import is_ours
from exactdp.audit.plain import Reader, not_plain
from exactdp.errors import NotEnumerable, NotPlain

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
#: Attributes that C gives an exception and that are read in another way.
_READ_APART = {"__class__", "__traceback__", "__cause__", "__context__"}


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
        key = key_of(value)
        try:
            return cls(key, hashable(deepcopy(value)))  # with ordinary numbers for lazy ones
        except RecursionError:
            raise NotEnumerable(
                "an outcome contains itself; return numbers, texts, and tuples, lists and "
                "dictionaries of them"
            ) from None

    @classmethod
    def raised(cls, error: BaseException) -> Outcome:
        """The outcome of a run that raised an exception: all that Python prints of it, and its
        attributes."""
        key = _checked(lambda: _raised_text(Reader(_settled), error))
        return cls(f"raised {key}", ("raised", type(error).__name__))

    @classmethod
    def of_calls(cls, outcomes: list[Outcome]) -> Outcome:
        """The outcome of calls in a row; each was read when the call returned."""
        keys, values = zip(*((each.key, each.value) for each in outcomes), strict=True)
        return cls(f"calls{keys}", values)


def key_of(value: Any) -> str:
    """A text that is equal only for values of which a reader sees the same.

    Raises NotEnumerable for a value that is not on the list of plain values.
    """
    return _checked(lambda: Reader(_settled).text(value))


def _checked(read: Callable[[], str]) -> str:
    try:
        text = read()
    except NotPlain as error:
        raise NotEnumerable(
            f"outcomes of type {error.kind} may show more than can be compared for certain; "
            f"return {error.advice}"
        ) from None
    if _ADDRESS.search(text):
        raise NotEnumerable(
            "an outcome holds the address of an object, which differs from run to run; give "
            "its class a __repr__ of its own"
        )
    return text


def _settled(reader: Reader, value: Any) -> str:
    """The text of a lazy number, or of an array of lazy numbers: that of the ordinary numbers.

    If an array would have another type with ordinary numbers, repeated runs differ from this one.
    """
    if type(value) is LazyNumber:
        return reader.text(value.shown())
    if type(value) is LazyArray:
        return reader.text(value.__array__())
    if type(value) is np.ndarray and any(type(each) is LazyNumber for each in value.flat):
        numbers = [x.settle() if type(x) is LazyNumber else x for x in value.flat]
        return reader.text(np.array(numbers).reshape(value.shape).copy())
    raise not_plain(value)


# -- exceptions ------------------------------------------------------------------------------------


def _raised_text(reader: Reader, error: BaseException | None) -> str:
    """The text of a built-in exception.

    It holds the attributes of its class in C, the attributes that the program has set (notes, too),
    the lines of the traceback, and the text of the cause.
    """
    if error is None:
        return "None"
    kind = type(error)
    if vars(builtins).get(kind.__name__) is not kind or not kind.__flags__ & _IMMUTABLE:
        raise not_plain(error)

    def read() -> str:
        parts = [*_attributes(error), vars(error), *_lines(error.__traceback__)]
        causes = [_raised_text(reader, each) for each in (error.__cause__, error.__context__)]
        return f"{reader.group(kind.__name__, parts)} {causes}"

    return reader.once(error, read)


def _attributes(error: BaseException) -> Iterator[Any]:
    """Names and values of the attributes that C gives a class; None where one was not set."""
    for kind in type(error).__mro__:
        for name, member in vars(kind).items():
            known = isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType))
            if known and name not in _READ_APART:
                yield name, getattr(error, name, None)


def _lines(trace: types.TracebackType | None) -> Iterator[Any]:
    """Where a traceback shows the program: file, function, line and columns."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if not is_ours(code.co_filename):
            places = list(code.co_positions())
            yield code.co_filename, code.co_name, *places[trace.tb_lasti // 2]
        trace = trace.tb_next


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
