"""Frozen dataclasses whose fields convert and check their values when an object is made.

    @frozen
    class Noise:
        sigma: Number = number(positive)       # takes any Real, holds a Fraction
        k: int = whole(least=1, default=1)     # takes any integral Real, holds an int
        source: str = text()                   # takes a text that is not empty

A wrong value raises InvalidParameter with the field's name, before ``__post_init__`` runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Generic, TypeVar, dataclass_transform, overload

from exactdp.errors import InvalidParameter, one_line
from exactdp.parameters import Real, integer, short_text, truth

_Held = TypeVar("_Held")
_Class = TypeVar("_Class")

_MISSING: Any = object()


class _Field(Generic[_Held]):
    """A descriptor that serves as a dataclass field and converts what is assigned."""

    def __init__(self, read: Callable[[str, Any], _Held], default: Any) -> None:
        self._read, self._default = read, default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> _Held:
        if instance is not None:
            held: _Held = instance.__dict__[self._name]
            return held
        if self._default is _MISSING:
            raise AttributeError(self._name)  # so a dataclass knows that there is no default
        default: _Held = self._default
        return default

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = self._read(self._name, value)


class Number(_Field[Fraction]):
    """A field that takes any exact number and holds a Fraction."""

    def __set__(self, instance: Any, value: Real) -> None:
        super().__set__(instance, value)


def number(read: Callable[[str, Real], Fraction], *, default: Real = _MISSING) -> Number:
    """A field for an exact number. read: converts (name, value), as `positive` does."""
    return Number(read, default)


def converted(read: Callable[[str, Any], Any], *, default: Any = _MISSING) -> Any:
    """A field for other values. read: checks and converts (name, value).

    None is allowed if it is the default.
    """

    def allowed(name: str, value: Any) -> Any:
        return None if value is None and default is None else read(name, value)

    return _Field(allowed, default)


def instance(kind: type) -> Any:
    """A field for an object of a class, a subclass or an abstract type such as Mapping."""

    def read(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise InvalidParameter(name, value, f"of the type {kind.__name__}")
        return value

    return _Field(read, _MISSING)


def text(*, default: str = _MISSING) -> Any:
    """A field for a text that is not empty, or is the default."""

    def read(name: str, value: Any) -> str:
        if not isinstance(value, str) or not (value or value == default):
            raise InvalidParameter(name, value, "a text that is not empty")
        return value

    return _Field(read, default)


def flag(*, default: bool) -> Any:
    """A field that is True or False."""
    return _Field(truth, default)


def whole(*, least: int, most: int | None = None, default: int | None = _MISSING) -> Any:
    """A field for an integer from least to most; None is allowed if it is the default."""

    def read(name: str, value: Any) -> int | None:
        if value is None and default is None:
            return None
        whole_number = integer(name, value, least=least)
        if most is not None and whole_number > most:
            power = most > 1 << 16 and most.bit_count() == 1
            limit = f"2^{most.bit_length() - 1}" if power else most
            raise InvalidParameter(name, value, f"an integer >= {least} and <= {limit}")
        return whole_number

    return _Field(read, default)


@overload
def frozen(cls: type[_Class], /) -> type[_Class]: ...
@overload
def frozen(*, kw_only: bool = False) -> Callable[[type[_Class]], type[_Class]]: ...
@dataclass_transform(field_specifiers=(number, whole, text, instance, converted, flag))
def frozen(cls: type | None = None, /, *, kw_only: bool = False) -> Any:
    """``dataclass(frozen=True)``, with fields made by the functions above.

    Type checkers know that a Number accepts any Real and holds a Fraction. They are not told that
    the object is frozen: mypy would then give inherited fields the wrong type.
    """

    def make(kind: type) -> type:
        if not any("__repr__" in vars(base) for base in kind.__mro__[:-1]):
            type.__setattr__(kind, "__repr__", _represent)
        checked: type = dataclass(frozen=True, kw_only=kw_only, repr=False)(kind)
        types = vars(checked)["__init__"].__annotations__
        types |= {name: "Real" for name, held in types.items() if held == "Number"}  # for help()
        return checked

    return make if cls is None else make(cls)


def _represent(self: Any) -> str:
    """The repr of a dataclass. A number too long for Python to print is described."""
    texts = (f"{f.name}={_repr(getattr(self, f.name))}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(texts)})"


def _repr(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # the limit on the digits of integers
        return short_text(value) if isinstance(value, Fraction) else one_line(value)
