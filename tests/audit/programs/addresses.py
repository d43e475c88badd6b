"""Sins by text: C writes where an object is in memory, another place in every run."""

from __future__ import annotations

import concurrent.futures
import contextvars
import copy
import enum
import functools
import json
import pprint
import reprlib
import string
import threading
import traceback
import types
import unittest.mock
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, coin

ADDRESSES = Group()

RARE = 1009


class Thing:
    """Without a text of its own."""


class Named:
    """With one."""

    def __repr__(self) -> str:
        return "Named()"


class Holder:
    """Whose text is made of another."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __repr__(self) -> str:
        return f"Holder({self.held})"


@dataclass
class Record:
    held: Any


class Kept:
    __repr__ = object.__repr__


class Above:
    def __repr__(self) -> str:
        return super().__repr__()


class Told:
    def __str__(self) -> str:
        return object.__str__(self)


class Shown:
    def __format__(self, form: str) -> str:
        return super().__format__(form)


THING, NAMED = Thing(), Named()
PERCENT, PERCENTS, BRACES, FIELD = "%s", "%d %r", "{} {!r}", "{0.held}"
Colour = enum.Enum("Colour", {"RED": THING})
Shade = enum.Enum("Shade", {"RED": NAMED})


class Paper:
    """What print() writes on."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


def _printed(value: object) -> str:
    print(value, file=(paper := Paper()))
    return paper.text


def _reported(value: object) -> str:
    try:
        raise ValueError(value)
    except ValueError as error:
        return "".join(traceback.format_exception_only(error))


def _key_of_copy(value: object) -> str:
    copy.deepcopy(value, memo := {})
    return str(sorted(memo)[0])


def _local(named: bool) -> Any:
    class Local:
        if named:

            def __str__(self) -> str:
                return "Local()"

    return Local()


def _raised(value: object) -> str:
    try:
        {}[value]
    except KeyError as error:
        return str(error)
    return ""


class NotPrinted(Exception):
    pass


#: Texts with an address, and their twins without.
_TEXTS: dict[str, tuple[Callable[[], str], Callable[[], str]]] = {
    "f_string": (lambda: f"{Thing()}", lambda: f"{Named()}"),
    "f_string_of_repr": (lambda: f"{Thing()!r:>40}", lambda: f"{3.5!r:>40}"),
    "f_string_in_ascii": (lambda: f"{Thing()!a}", lambda: f"{'é'!a}"),
    "percent": (lambda: PERCENT % Thing(), lambda: PERCENT % Named()),
    "percent_of_a_tuple": (lambda: PERCENTS % (3, Thing()), lambda: PERCENTS % (3, "a")),
    "percent_in_bytes": (lambda: str(b"%a" % Thing()), lambda: str(b"%a" % 3)),
    "str_of": (lambda: str(Thing()), lambda: str(Named())),
    "str_of_an_error": (lambda: str(ValueError(Thing())), lambda: str(ValueError(3, "a"))),
    "str_of_a_key_error": (lambda: _raised(Thing()), lambda: _raised("a")),
    "text_of_an_error": (lambda: repr(NotPrinted(Thing())), lambda: repr(NotPrinted("a", 3))),
    "inside_a_list": (lambda: str([Thing()]), lambda: str([Named(), {3: "a"}])),
    "inside_a_dictionary": (lambda: str({3: (Thing(),)}), lambda: str({3: ("a",), 4: {5}})),
    "mapped_to_text": (lambda: "".join(map(str, [Thing()])), lambda: "".join(map(str, [3, 5.5]))),
    "repr_by_a_made_up_name": (
        lambda: getattr(object, "".join(["__re", "pr__"]))(Thing()),
        lambda: getattr(int, "".join(["__re", "pr__"]))(3),
    ),
    "bound_repr": (lambda: Thing().__repr__(), lambda: (3).__repr__()),
    "str_of_object": (lambda: object.__str__(Thing()), lambda: object.__str__(3)),
    "repr_of_object": (lambda: object.__repr__(3), lambda: object.__repr__.__name__),
    "format_of": (lambda: format(Thing()), lambda: format(3.5, ".3f")),
    "formatted": (lambda: BRACES.format(3, Thing()), lambda: BRACES.format(3, "a")),
    "format_map_of": (
        lambda: "{a}".format_map({"a": Thing()}),
        lambda: "{a}".format_map({"a": 3}),
    ),
    "attribute_in_a_format": (
        lambda: FIELD.format(Record(Thing())),
        lambda: FIELD.format(Record(3)),
    ),
    "template": (
        lambda: string.Template("$a").substitute(a=Thing()),
        lambda: string.Template("$a").substitute(a=3),
    ),
    "printed": (lambda: _printed(Thing()), lambda: _printed(Named())),
    "json_default": (
        lambda: json.dumps([Thing()], default=str),
        lambda: json.dumps([Named(), 3], default=str),
    ),
    "short_repr": (lambda: reprlib.repr([Thing()]), lambda: reprlib.repr([3] * 10)),
    "pretty": (lambda: pprint.saferepr({3: Thing()}), lambda: pprint.saferepr({3: "a" * 100})),
    "reported": (lambda: _reported(Thing()), lambda: _reported("a")),
    "of_a_function": (lambda: f"{_printed}", lambda: f"{_printed.__name__}"),
    "of_a_lambda": (lambda: str([lambda: 0]), lambda: str([(lambda: 0)()])),
    "of_a_bound_method": (lambda: str(Thing().__init__), lambda: str([].append.__name__)),
    "of_a_method_in_c": (lambda: str("a".upper), lambda: str(str.upper)),
    "of_a_method": (lambda: str(Record(THING).__repr__), lambda: str(Record(3).__repr__)),
    "of_a_generator": (lambda: str(i for i in ()), lambda: str([i for i in "ab" if i > "a"])),
    "of_an_iterator": (lambda: str(iter([])), lambda: str(list(iter([])))),
    "of_a_map": (lambda: str(map(int, "3")), lambda: str(list(map(int, "3")))),
    "of_a_lock": (lambda: str(threading.Lock()), lambda: str(threading.Lock().locked())),
    "of_a_weak_reference": (lambda: str(weakref.ref(THING)), lambda: str(weakref.ref(NAMED)())),
    "of_a_proxy": (lambda: str(weakref.proxy(THING)), lambda: str(weakref.ref(NAMED)() is NAMED)),
    "of_a_weak_dictionary": (
        lambda: str(weakref.WeakValueDictionary()),
        lambda: str(len(weakref.WeakValueDictionary())),
    ),
    "of_a_view": (lambda: str(memoryview(b"a")), lambda: str(memoryview(b"a").tolist())),
    "of_code": (
        lambda: str(compile("3", "", "eval")),
        lambda: str(compile("3", "", "eval").co_consts),
    ),
    "of_a_context": (
        lambda: str(contextvars.ContextVar("a")),
        lambda: str(contextvars.ContextVar("a").name),
    ),
    "of_a_partial": (
        lambda: str(functools.partial(_printed)),
        lambda: str(functools.partial(int, "3")),
    ),
    "of_a_cache": (
        lambda: str(functools.lru_cache(_printed)),
        lambda: str(functools.partial(int).func),
    ),
    "of_a_namespace": (
        lambda: str(types.SimpleNamespace(a=Thing())),
        lambda: str(types.SimpleNamespace(a=3)),
    ),
    "of_a_property": (lambda: str(property()), lambda: str(property().fget)),
    "of_a_held_thing": (lambda: str(Holder(Thing())), lambda: str(Holder(Named()))),
    "of_a_record": (lambda: str(Record(Thing())), lambda: str(Record([3.5, "a"]))),
    "of_a_record_of_a_function": (lambda: str(Record(_printed)), lambda: str(Record(int))),
    "of_a_member": (lambda: repr(Colour.RED), lambda: repr(Shade.RED)),
    "of_an_array": (
        lambda: str(np.array([Thing(), 3], dtype=object)),
        lambda: str(np.array([Named(), "a", 3], dtype=object)),
    ),
    "of_a_structured_array": (
        lambda: repr(np.array([(3, Thing())], dtype=[("a", int), ("b", object)])),
        lambda: repr(np.array([(3, 2.5)], dtype=[("a", int), ("b", float)])),
    ),
    "of_a_method_of_numpy": (lambda: str(np.zeros(1).sum), lambda: str(np.zeros(1).sum())),
    "of_a_future": (lambda: str(concurrent.futures.Future()), lambda: str(Named())),
    "of_a_mock": (
        lambda: str(unittest.mock.Mock()),
        lambda: str(unittest.mock.Mock.__name__),
    ),
    "own_repr_of_object": (lambda: str(Kept()), lambda: str(Named())),
    "repr_of_the_class_above": (lambda: str(Above()), lambda: str(Named())),
    "str_of_the_class_above": (lambda: str(Told()), lambda: str(Holder(3))),
    "format_of_the_class_above": (lambda: f"{Shown()}", lambda: f"{Holder(Holder(3))}"),
    "of_a_local_class": (lambda: str(_local(False)), lambda: str(_local(True))),
    "of_a_class_made_up": (
        lambda: str(type("A", (), {})()),
        lambda: str(type("A", (), {"__repr__": lambda self: "A()"})()),
    ),
    "key_of_a_copy": (lambda: _key_of_copy([3]), lambda: str(copy.deepcopy([3], {}))),
}


def _add(name: str, texts: tuple[Callable[[], str], Callable[[], str]]) -> None:
    def sinner(x, rng):
        return x if int.from_bytes(texts[0]().encode(), "big") % RARE == 0 else coin(x, rng)

    def twin(x, rng):
        return x if int.from_bytes(texts[1]().encode(), "big") % RARE == 0 else coin(x, rng)

    sinner.__name__, sinner.__doc__ = f"text_{name}", "an address decides"
    ADDRESSES.sinner()(sinner)
    ADDRESSES.twin(twin)


for _name, _texts in _TEXTS.items():
    _add(_name, _texts)
