"""Stand-ins that show code outside of this package no more than what they stand for.

A program that could tell the generator of an exact run from an ordinary one would behave in
production as it never did here. Names that an ordinary one lacks are not there; looking at the
type, the attributes as a whole, or leaving something in an attribute has no exact law.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["Veil", "keeping", "showing", "under_way", "untold"]

_ENDS: list[Callable[[BaseException], Any]] = []  # of the runs under way, the innermost last


@contextmanager
def under_way(stop: Callable[[BaseException], Any]) -> Iterator[None]:
    """A run that stop(signal) would end."""
    _ENDS.append(stop)
    try:
        yield
    finally:
        _ENDS.pop()


def _refuse(what: str) -> NoReturn:
    signal = NotEnumerable(f"the program looks at {what}, and may tell it from an ordinary one")
    _ENDS[-1](signal)
    raise signal


def _is_outside(*allowed: str) -> bool:
    """Whether a program that is being run asks, and not this package or one of these modules."""
    caller = str(sys._getframe(2).f_globals.get("__name__"))
    return bool(_ENDS) and not caller.startswith("exactdp.") and caller not in allowed


#: Python's own code that asks types for what they can do, and passes on no more than that.
_ASKING = ("abc", "_collections_abc")
_TYPE = "the type of the generator"


class Veil(type):
    """The type of a stand-in's type."""

    def __getattribute__(cls, name: str) -> Any:
        if _is_outside(*_ASKING):
            _refuse(_TYPE)
        return super().__getattribute__(name)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if _is_outside():
            _refuse(_TYPE)
        return super().__call__(*arguments, **named)

    def __eq__(cls, other: object) -> bool:
        if _is_outside():
            _refuse(_TYPE)
        return cls is other

    def __hash__(cls) -> int:
        if _is_outside(*_ASKING):
            _refuse(_TYPE)
        return super().__hash__()

    def __repr__(cls) -> str:
        if _is_outside():
            _refuse(_TYPE)
        return super().__repr__()

    def __instancecheck__(cls, instance: object) -> bool:
        if _is_outside():
            _refuse(_TYPE)
        return super().__instancecheck__(instance)


def showing(kind: type, *others: str) -> Callable[[Any, str], Any]:
    """A __getattribute__ under which a program finds what instances of a type have, and others."""
    special = frozenset(name for name in dir(kind) if name.startswith("__"))
    names = frozenset(dir(kind)) - special | set(others)

    def attribute(self: Any, name: str) -> Any:
        if name not in names and _is_outside():
            # isinstance() asks for __class__ as well, and gets it
            if name in special and not (name == "__class__" and _asked_in_c()):
                _refuse("the attributes of the generator")
            if name not in special:
                raise AttributeError(name)
        return object.__getattribute__(self, name)

    return attribute


def _asked_in_c() -> bool:
    """Whether a program asks for an attribute through a function in C, not by a dot."""
    frame = sys._getframe(2)
    return not dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("LOAD_")


def keeping(self: Any, name: str, value: Any) -> None:
    """A __setattr__ for this package alone: a generator lives longer than a run."""
    if _is_outside():
        _refuse("an attribute of its own on the generator")
    object.__setattr__(self, name, value)


def untold(self: Any) -> str:
    """A __repr__ for people, not for programs."""
    if _is_outside():
        _refuse("the text of the generator")
    return object.__repr__(self)
