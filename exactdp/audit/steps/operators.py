"""Operators and functions that are taken, each for a closed list of types."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from exactdp.audit.steps.values import (
    Held,
    bounded,
    entry,
    items_of,
    new,
    number,
    refuse,
    scalar,
    truth,
)

Function = Callable[..., Any]


def _arithmetic(function: Function) -> Function:
    return lambda one, other: bounded(function(number(one), number(other)))


def _add(one: Any, other: Any) -> Any:
    if type(one) is tuple and type(other) is tuple:
        return bounded(one + other)
    if type(one) is Held and type(other) is Held and one.kind is other.kind is list:
        return new(list, one.items + other.items)
    return bounded(number(one) + number(other))


def _multiply(one: Any, other: Any) -> Any:
    if type(one) is Held and one.kind is list and type(other) is int:
        if other * len(one.items) > 1 << 12:
            refuse("a list of thousands of items")
        return new(list, one.items * other)
    return bounded(number(one) * number(other))


def _power(one: Any, other: Any) -> Any:
    if type(number(other)) is int and abs(other) > 1 << 10:
        refuse("a large power")
    result = number(one) ** number(other)
    return bounded(number(result))


def _shift(function: Function) -> Function:
    def shifted(one: Any, other: Any) -> Any:
        if type(other) is not int or other > 1 << 10:
            refuse("a large shift")
        return bounded(function(number(one), other))

    return shifted


BINARY: dict[type[ast.operator], Function] = {
    ast.Add: _add,
    ast.Mult: _multiply,
    ast.Pow: _power,
    ast.LShift: _shift(operator.lshift),
    ast.RShift: _shift(operator.rshift),
    **{
        kind: _arithmetic(function)
        for kind, function in (
            *((ast.Sub, operator.sub), (ast.Div, operator.truediv), (ast.Mod, operator.mod)),
            *((ast.FloorDiv, operator.floordiv), (ast.BitAnd, operator.and_)),
            *((ast.BitOr, operator.or_), (ast.BitXor, operator.xor)),
        )
    },
}
UNARY: dict[type[ast.unaryop], Function] = {
    ast.Not: lambda value: not truth(value),
    ast.USub: lambda value: -number(value),
    ast.UAdd: lambda value: +number(value),
    ast.Invert: lambda value: ~number(value),
}


def _ordered(test: Function) -> Function:
    return lambda one, other: test(number(one), number(other))


def _contains(one: Any, other: Any) -> bool:
    if type(other) is Held and other.kind is set:
        return entry(one) in other.items
    return scalar(one) in tuple(map(scalar, items_of(other)))


def _is(one: Any, other: Any) -> bool:
    if other is not None:
        refuse("`is` with something else than None")
    return one is None


ORDERS: dict[type[ast.cmpop], Function] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
COMPARISONS: dict[type[ast.cmpop], Function] = {
    **{kind: _ordered(test) for kind, test in ORDERS.items()},
    ast.Eq: lambda one, other: scalar(one) == scalar(other),
    ast.NotEq: lambda one, other: scalar(one) != scalar(other),
    ast.In: _contains,
    ast.NotIn: lambda one, other: not _contains(one, other),
    ast.Is: _is,
    ast.IsNot: lambda one, other: not _is(one, other),
}


def _on_numbers(function: Function) -> Function:
    return lambda *values: bounded(number(function(*map(number, values))))


def _extreme(function: Function) -> Function:
    def chosen(*values: Any) -> Any:
        items = values if len(values) > 1 else items_of(*values)
        return function(tuple(map(number, items)))

    return chosen


def _length(value: Any) -> int:
    return len(value.items) if type(value) is Held else len(items_of(value))


def _sum(values: Any, *start: Any) -> Any:
    return bounded(sum(tuple(map(number, items_of(values))), *map(number, start)))


def _sorted(values: Any) -> Held:
    if type(values) is Held and values.kind is set:
        values = tuple(values.items)
    items = tuple(map(scalar, items_of(values)))
    kinds = {type(each) for each in items}
    if not (kinds <= {int, float, Fraction} or len(kinds) == 1):
        refuse("sorting of values of several types")
    return new(list, sorted(items))


def _made(kind: type) -> Function:
    return lambda *values: new(kind, items_of(*values) if values else ())


def _tuple(*values: Any) -> Any:
    return items_of(*values) if values else ()


def _dict(*values: Any) -> Held:
    if not values:
        return new(dict, ())
    (value,) = values
    if type(value) is Held and value.kind is dict:
        return new(dict, value.items)
    pairs = items_of(value)
    if any(type(pair) is not tuple or len(pair) != 2 for pair in pairs):
        refuse("dict() of something else than pairs")
    return new(dict, pairs)


def _fraction(*values: Any) -> Fraction:
    if any(type(value) not in (int, Fraction, float) for value in values):
        refuse("Fraction() of something else than numbers")
    return Fraction(*values)


#: Functions whose arguments are used up at once.
FUNCTIONS: dict[Any, Function] = {
    abs: _on_numbers(abs),
    int: _on_numbers(int),
    float: _on_numbers(float),
    round: _on_numbers(round),
    divmod: lambda one, other: divmod(number(one), number(other)),
    bool: truth,
    len: _length,
    min: _extreme(min),
    max: _extreme(max),
    sum: _sum,
    any: lambda values: any(map(truth, items_of(values))),
    all: lambda values: all(map(truth, items_of(values))),
    sorted: _sorted,
    list: _made(list),
    set: _made(set),
    tuple: _tuple,
    dict: _dict,
    Fraction: _fraction,
    **{
        getattr(math, name): _on_numbers(getattr(math, name))
        for name in ("exp", "log", "log2", "sqrt", "floor", "ceil", "trunc", "fabs", "pow", "expm1")
    },
}
#: Those that take an iterator for the list of its items.
OF_ITEMS = (any, all, sum, min, max, sorted, list, set, tuple, dict)


def _enumerate(values: Any, *start: Any) -> tuple[Any, ...]:
    return tuple(enumerate(items_of(values), *map(number, start)))


def _range(*ends: Any) -> tuple[Any, ...]:
    if any(type(end) is not int for end in ends):
        refuse("range() of something else than integers")
    numbers = range(*ends)
    if len(numbers) > 1 << 12:
        refuse("a range of thousands of numbers")
    return tuple(numbers)


def _zip(*values: Any) -> tuple[Any, ...]:
    return tuple(zip(*map(items_of, values), strict=False))


#: Functions that are taken where a loop, or a function of the list above, uses up the result.
ITERATORS: dict[Any, Function] = {
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: lambda values: items_of(values)[::-1],
}


def _pairs(value: Any) -> tuple[Any, ...]:
    if type(value) is not Held or value.kind is not dict:
        refuse("a method of something else than a dictionary")
    return value.items


#: Methods of dictionaries that loops use up.
VIEWS: dict[str, Function] = {
    "items": _pairs,
    "keys": lambda value: tuple(k for k, _ in _pairs(value)),
    "values": lambda value: tuple(v for _, v in _pairs(value)),
}


def get(value: Any, place: Any, *default: Any) -> Any:
    """The method get of a dictionary."""
    return dict(_pairs(value)).get(entry(place), *default)


def element(value: Any, place: Any) -> Any:
    """value[place]"""
    if type(value) is Held and value.kind is dict:
        return dict(value.items)[entry(place)]
    if type(value) is Held and value.kind is set:
        refuse("an element of a set")
    if type(place) is not int:
        refuse("a place that is no integer")
    return items_of(value)[place]


def replaced(value: Any, place: Any, item: Any) -> Held:
    """The list or dictionary after value[place] = item."""
    owned(value)
    if value.kind is dict:
        return new(dict, (*value.items, (entry(place), item)))
    if value.kind is not list or type(place) is not int:
        refuse("a place that is no integer")
    items = list(value.items)
    items[place] = item
    return new(list, items)


def appended(value: Any, item: Any) -> Held:
    """The list after value.append(item)."""
    if owned(value).kind is not list:
        refuse("append() to something else than a list")
    return new(list, (*value.items, item))


def added(value: Any, item: Any) -> Held:
    """The set after value.add(item)."""
    if owned(value).kind is not set:
        refuse("add() to something else than a set")
    return new(set, (*value.items, item))


def owned(value: Any) -> Held:
    """The value, which must be a list, dictionary or set of its variable alone."""
    if type(value) is not Held or not value.owned:
        refuse("a change of a list or dictionary that has another name")
    return value
