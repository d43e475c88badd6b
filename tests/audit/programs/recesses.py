"""Where things keep what neither their attributes nor their text show: defaults of methods, what a
view is a view on, what types are made of, numbers that are none.

Each remembers the first answer that it gave.
"""

from __future__ import annotations

import collections
import contextvars
import copy
import dataclasses
import datetime
import functools
import json
import logging
import math
import re
import struct
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Place, Program, coin, looking, remembering

RECESSES = Group()


def recess(why: str) -> Callable[[Callable[[], Place]], None]:
    """A pair of a program that remembers its first answer in a place, and one that looks there."""

    def added(make: Callable[[], Place]) -> None:
        def maker() -> Program:
            return remembering(make())

        maker.__name__, maker.__doc__ = make.__name__, why
        RECESSES.maker()(maker)
        RECESSES.twin_maker(lambda: looking(make()))

    return added


class Holder:
    """Written the same whatever it holds."""

    memo: int | None = None

    def __repr__(self) -> str:
        return "a holder"


def attribute_of(find: Callable[[], Any]) -> Place:
    return lambda: getattr(find(), "memo", None), lambda drawn: setattr(find(), "memo", drawn)


def item_of(find: Callable[[], Any], key: Any = "memo") -> Place:
    return lambda: find().get(key), lambda drawn: find().__setitem__(key, drawn)


@recess("A default of a static method lives as long as the class.")
def default_of_a_static_method() -> Place:
    class Answers:
        @staticmethod
        def first(drawn: int | None, memo: list[int] = []) -> Any:
            if drawn is not None:
                memo.append(drawn)
            return memo[0] if memo else None

    return lambda: Answers.first(None), lambda drawn: Answers.first(drawn)


@recess("And one of a class method.")
def default_of_a_class_method() -> Place:
    class Answers:
        @classmethod
        def first(cls, drawn: int | None, memo: list[int] = []) -> Any:
            if drawn is not None:
                memo.append(drawn)
            return memo[0] if memo else None

    return lambda: Answers.first(None), lambda drawn: Answers.first(drawn)


@recess("The default of a variable of the context is shared by all contexts.")
def default_of_a_variable() -> Place:
    shared: dict[str, int] = {}
    variable = contextvars.ContextVar("first", default=shared)
    return item_of(variable.get)


@recess("A function whose results are kept has attributes, too.")
def attribute_of_a_cached_function() -> Place:
    @functools.lru_cache
    def three() -> int:
        return 3

    return attribute_of(lambda: three)


@recess("The default arguments of the standard library are there for everybody.")
def default_of_the_library() -> Place:
    json.dumps.__kwdefaults__.pop("memo", None)
    return item_of(lambda: json.dumps.__kwdefaults__)


@recess("Some of them are lists.")
def list_of_the_library() -> Place:
    copy.deepcopy.__defaults__[-1].clear()
    return (
        lambda: next(iter(copy.deepcopy.__defaults__[-1]), None),
        lambda drawn: copy.deepcopy.__defaults__[-1].append(drawn),
    )


@recess("A table of a class of the library.")
def table_of_a_class() -> Place:
    weakref.finalize._registry.pop("memo", None)
    return item_of(lambda: weakref.finalize._registry)


@recess("A class that only annotates.")
def class_in_an_annotation() -> Place:
    def annotated(x: type("Kind", (), {})) -> None:
        pass

    annotated.__annotations__ = {"x": type("Kind", (), {})}
    return attribute_of(lambda: annotated.__annotations__["x"])


@recess("A class that a type is made of.")
def class_in_a_list_type() -> Place:
    kind = list[type("Kind", (), {})]
    return attribute_of(lambda: kind.__args__[0])


@recess("Or a union.")
def class_in_a_union() -> Place:
    kind = int | type("Kind", (), {})
    return attribute_of(lambda: kind.__args__[1])


@recess("What else a dataclass knows of its fields.")
def field_of_a_dataclass() -> Place:
    @dataclasses.dataclass
    class Row:
        count: int = dataclasses.field(default=0, hash=None)

    return attribute_as(lambda: dataclasses.fields(Row)[0], "hash")


def attribute_as(find: Callable[[], Any], name: str) -> Place:
    return lambda: getattr(find(), name), lambda drawn: setattr(find(), name, drawn)


@recess("An attribute that has the name of Python's bookkeeping.")
def name_of_bookkeeping() -> Place:
    class Answers:
        _abc_impl: int | None = None

    return attribute_as(lambda: Answers, "_abc_impl")


@recess("A slot whose name looks like Python's own.")
def slot_like_pythons_own() -> Place:
    class Answers:
        __slots__ = ("__memo__",)

    answers = Answers()
    answers.__memo__ = None
    return attribute_as(lambda: answers, "__memo__")


@recess("The description of a property.")
def description_of_a_property() -> Place:
    class Answers:
        @property
        def first(self) -> int:
            return 0

    return attribute_as(lambda: vars(Answers)["first"], "__doc__")


@recess("The module that a function says it is from.")
def module_of_a_function() -> Place:
    def function() -> None:
        pass

    function.__module__ = None
    return attribute_as(lambda: function, "__module__")


@recess("An exception counts what has been written.")
def written_before_an_error() -> Place:
    error = BlockingIOError(1, "")
    return (
        lambda: getattr(error, "characters_written", None),
        lambda drawn: setattr(error, "characters_written", drawn),
    )


@recess("Of a long pattern not all is written.")
def end_of_a_pattern() -> Place:
    patterns = [re.compile("a" * 300)]
    return (
        lambda: None if patterns[0].pattern[300:] == "" else int(patterns[0].pattern[300:]),
        lambda drawn: patterns.__setitem__(0, re.compile("a" * 300 + str(drawn))),
    )


@recess("An object in a record of numpy.")
def object_in_a_record() -> Place:
    record = np.array([(Holder(),)], dtype=[("held", object)])[0]
    return attribute_of(lambda: record["held"])


@recess("Bytes between the fields of a record.")
def gap_in_a_record() -> Place:
    kind = {"names": ["a"], "formats": ["i1"], "offsets": [0], "itemsize": 16}
    record = np.zeros(1, dtype=kind)[0]
    return (
        lambda: record.tobytes()[5] - 1 if record.tobytes()[5] else None,
        lambda drawn: record.setfield(1 + drawn, "i1", 5),
    )


class Zone(datetime.tzinfo):
    """A time zone with an attribute."""

    memo: int | None = None

    def utcoffset(self, when: Any) -> datetime.timedelta:
        return datetime.timedelta(0)

    def __repr__(self) -> str:
        return "a zone"


@recess("The time zone of a date.")
def zone_of_a_date() -> Place:
    date = datetime.datetime(2020, 1, 1, tzinfo=Zone())
    return attribute_of(lambda: date.tzinfo)


def _nan(payload: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", 0x7FF8 << 48 | payload))[0])


def _payload(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0]) & 0xFF


@recess("A NaN has bits to spare.")
def payload_of_a_nan() -> Place:
    kept = [_nan(0)]
    return (
        lambda: _payload(kept[0]) - 1 if _payload(kept[0]) else None,
        lambda drawn: kept.__setitem__(0, _nan(1 + drawn)),
    )


@recess("A NaN is found in a list by where it is.")
def place_of_a_nan() -> Place:
    known, kept = [_nan(0), _nan(0)], [_nan(0)]
    return (
        lambda: known.index(kept[0]) if kept[0] in known else None,
        lambda drawn: kept.__setitem__(0, known[drawn]),
    )


class Answers:
    """A mapping that shows nothing, and remembers."""

    def __init__(self) -> None:
        self.first: int | None = None

    def keys(self) -> list[str]:
        return []

    def __getitem__(self, drawn: int | None) -> int | None:
        self.first = drawn if self.first is None else self.first
        return self.first


@recess("A view of a mapping that remembers what it is asked.")
def behind_a_proxy() -> Place:
    proxy = types.MappingProxyType(Answers())
    return lambda: proxy[None], proxy.__getitem__


@recess("A dictionary in order may hold more than it has in order.")
def out_of_order() -> Place:
    table = collections.OrderedDict({"a": 1})
    return (
        lambda: dict.get(table, "memo"),
        lambda drawn: dict.__setitem__(table, "memo", drawn),
    )


@recess("In what format a view shows memory.")
def format_of_a_view() -> Place:
    views = [memoryview(bytes(8))]
    return (
        lambda: {"B": None, "h": 0, "b": 1}[views[0].format],
        lambda drawn: views.__setitem__(0, views[0].cast("hb"[drawn])),
    )


@recess("The arrays that numpy goes through together.")
def array_of_a_broadcast() -> Place:
    both = np.broadcast(np.zeros(3), np.zeros(3))
    return (
        lambda: int(both.iters[0].base[0]) - 1 if both.iters[0].base[0] else None,
        lambda drawn: both.iters[0].base.__setitem__(0, 1 + drawn),
    )


@recess("Where numpy keeps what it makes of a function.")
def room_of_a_vectorized_function() -> Place:
    vectorized = np.vectorize(abs)
    return item_of(lambda: vectorized._ufunc)


@recess("Where a logger keeps which levels are on.")
def room_of_a_logger() -> Place:
    logging.getLogger("recesses")._cache.clear()
    return item_of(lambda: logging.getLogger("recesses")._cache)


@recess("What all loggers have in common.")
def common_to_loggers() -> Place:
    vars(logging.getLogger("recesses").manager).pop("memo", None)
    return attribute_of(lambda: logging.getLogger("recesses").manager)


@recess("The logger above.")
def above_a_logger() -> Place:
    vars(logging.getLogger("recesses").parent).pop("memo", None)
    return attribute_of(lambda: logging.getLogger("recesses").parent)


@recess("A class that says it is of the library.")
def under_a_false_name() -> Place:
    class Secret(float):
        __slots__ = ("memo",)
        __module__ = "numpy"

    secret = Secret(1)
    return attribute_of(lambda: secret)


@RECESSES.maker()
def one_result_for_two_zeros() -> Program:
    """0.0 and -0.0 are one key: whose result is kept depends on who asks first."""

    @functools.lru_cache
    def sign(value: float) -> float:
        return math.copysign(1, value)

    def run(x: int, rng: Any) -> int:
        found = coin(x, rng)
        if rng.randrange(2):
            return found if sign(-0.0) else x
        return x if sign(0.0) < 0 else found

    return run


@RECESSES.twin_maker
def one_result_for_two_zeros_twin() -> Program:
    @functools.lru_cache
    def sign(value: float) -> float:
        return math.copysign(1, value)

    def run(x: int, rng: Any) -> int:
        found = coin(x, rng)
        if rng.randrange(2):
            return found if sign(-1.5) else x
        return x if sign(1.5) < 0 else found

    return run


@RECESSES.maker()
def released_view() -> Program:
    """A view that is released stays so."""
    view = memoryview(bytearray(3))

    def run(x: int, rng: Any) -> int:
        drawn = coin(x, rng)
        try:
            len(view)
        except ValueError:
            return x
        view.release()
        return drawn

    return run


@RECESSES.twin_maker
def released_view_twin() -> Program:
    view = memoryview(bytearray(3))
    view.release()

    def run(x: int, rng: Any) -> int:
        try:
            len(view)
        except ValueError:
            return coin(x, rng)
        return x

    return run
