"""What id() tells library code while a program is followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Identity", "number_of"]

#: id() itself, for this library.
number_of = id


class Identity:
    """Tells objects apart, as a key for instance; used as a number, it says so.

    used: called before the number is given away.
    """

    __slots__ = ("_number", "_used")

    def __init__(self, thing: object, used: Callable[[], None]) -> None:
        self._number, self._used = number_of(thing), used

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._number == other._number

    def __hash__(self) -> int:
        return hash(self._number)


def _telling(name: str) -> Callable[..., Any]:
    def method(self: Identity, *arguments: Any) -> Any:
        self._used()
        return getattr(self._number, name)(*arguments)

    return method


_OWN = (*vars(Identity), "__getattribute__", "__ne__", "__new__")
for _name in vars(int).keys() | {"__str__", "__reduce_ex__"}:
    if callable(getattr(int, _name)) and _name not in _OWN:
        setattr(Identity, _name, _telling(_name))
