"""Values of variables. None can be changed in place: a list that grows is a new value.

A list, dictionary or set is owned by the variable for which it was made, and only there it may
change. As soon as it has a second name, or is part of another value, it may not change any more
(`Refused`), so nobody can tell that it was a copy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from exactdp.errors import Signal


class Refused(Signal):
    """The program is not in the part of Python that is read step by step."""


class OutOfReach(Refused):
    """The program can be read, but not in the time or with the states that are allowed."""


class Held(NamedTuple):
    """A list, dict or set. items: of a dict, pairs in order; of a set, sorted by their keys.

    owned: whether it may change.
    """

    kind: type
    items: tuple[Any, ...]
    owned: bool


class Place(NamedTuple):
    """What is left of the items of a loop."""

    items: tuple[Any, ...]


class Token(NamedTuple):
    """A value of which only the name is known: no variable, or the generator."""

    name: str


UNSET, GENERATOR = Token("unset"), Token("generator")
_NUMBERS = (int, bool, float, Fraction)
SCALARS = (*_NUMBERS, str, type(None))
#: The most items of a value, and the most bits of an integer.
_MOST_ITEMS, _MOST_BITS = 1 << 12, 1 << 12


def refuse(reason: str) -> NoReturn:
    """End the reading of a program."""
    raise Refused(reason)


def number(value: Any) -> Any:
    """The value, which must be a number."""
    if type(value) not in _NUMBERS:
        refuse("arithmetic with something else than numbers")
    return value


def scalar(value: Any) -> Any:
    """The value, which must be a number, a text, None, or a tuple of such values."""
    if type(value) is tuple:
        for each in value:
            scalar(each)
    elif type(value) not in SCALARS:
        refuse("a comparison of something else than plain values")
    elif type(value) is float and math.isnan(value):
        refuse("NaN")
    return value


def entry(value: Any) -> Any:
    """The value, which must be fit for a key of a dictionary or an element of a set: values that
    are equal are then the same."""
    if type(value) is tuple:
        for each in value:
            entry(each)
    elif type(value) not in (int, str):
        refuse("a key that is no integer and no text")
    return value


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    if type(value) is Held:
        return bool(value.items)
    if type(value) not in (*SCALARS, tuple):
        refuse("the truth of something else than a plain value")
    return bool(value)


def items_of(value: Any) -> tuple[Any, ...]:
    """The items of a list or tuple, or the keys of a dictionary, in order."""
    if type(value) is tuple:
        return value
    if type(value) is Held and value.kind is not set:
        return value.items if value.kind is list else tuple(k for k, _ in value.items)
    refuse("a loop over something else than a list, a tuple or a dictionary")


def shared(value: Any) -> Any:
    """The value without an owner, as a part of another value."""
    return value._replace(owned=False) if type(value) is Held and value.owned else value


def new(kind: type, items: Any) -> Held:
    """A new list, dictionary or set of these items."""
    listed = tuple(items)
    if kind is dict:
        listed = tuple((entry(k), shared(v)) for k, v in dict(listed).items())
    elif kind is set:
        listed = tuple(sorted(set(map(entry, listed)), key=key_text))
    else:
        listed = tuple(map(shared, listed))
    held: Held = bounded(Held(kind, listed, True))
    return held


def bounded(value: Any) -> Any:
    """The value, which must not be too large."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        refuse("a number of thousands of digits")
    if type(value) in (tuple, str) and len(value) > _MOST_ITEMS:
        refuse("a value of thousands of parts")
    if type(value) is Held and len(value.items) > _MOST_ITEMS:
        refuse("a list of thousands of items")
    return value


def key_text(value: Any) -> str:
    return repr(key(value))


def key(value: Any) -> Any:
    """A hashable object that is equal only for values that no program can tell apart."""
    kind = type(value)
    if kind is int or kind is str or value is None:
        return value
    if kind is float:
        if math.isnan(value):
            refuse("NaN")
        return "float", value.hex()
    if kind is bool:
        return "bool", int(value)
    if kind is tuple:
        return ("tuple", *map(key, value))
    if kind is Held:
        return ("held", value.kind.__name__, int(value.owned), *_item_keys(value))
    if kind is Fraction:
        return "fraction", _whole(value.numerator), _whole(value.denominator)
    if kind is Place:
        return ("place", *map(key, value.items))
    if kind is Token:
        return "token", value.name
    refuse(f"a value of type {kind.__name__}")


def _item_keys(value: Held) -> Any:
    if value.kind is dict:
        return (part for k, v in value.items for part in (key(k), key(v)))
    return map(key, value.items)


def _whole(part: Any) -> int:
    if type(part) is not int:
        refuse("a fraction of other numbers than integers")
    return part


def read(value: Any) -> Any:
    """An object of the user as a value that may not change."""
    kind = type(value)
    if kind in SCALARS:
        key(value)
        return bounded(value)
    if kind is tuple:
        return bounded(tuple(map(read, value)))
    if kind is list:
        return shared(new(list, map(read, value)))
    if kind is dict:
        return shared(new(dict, [(read(k), read(v)) for k, v in value.items()]))
    if kind in (set, frozenset):
        return shared(new(set, map(read, value))) if kind is set else refuse("a frozenset")
    refuse(f"an object of type {kind.__name__}")


def outcome(value: Any) -> Any:
    """The object that a program returns: a plain value, or a list or dictionary of its own.

    Lists within lists are refused: whether two of them are one object is seen, and not known here.
    """
    if type(value) is Held:
        if not value.owned or value.kind is set:
            refuse("a result that is not a list or dictionary of its own")
        return value.kind(_plain(each) for each in value.items)
    return _plain(value)


def _plain(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_plain, value))
    if type(value) not in SCALARS:
        refuse("a result with lists inside")
    return value
