"""Stand-ins that show code outside of this package no more than what they stand for.

A program that could tell the generator of an exact run from an ordinary one would behave in
production as it never did here. Names that an ordinary one lacks are not there; looking at the
type, the attributes as a whole, or leaving something in an attribute has no exact law.
"""

from __future__ import annotations

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


def showing(names: frozenset[str]) -> Callable[[Any, str], Any]:
    """A __getattribute__ under which a program finds these names only."""

    def attribute(self: Any, name: str) -> Any:
        if name not in names and _is_outside():
            if name == "__dict__":
                _refuse("the attributes of the generator")
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    return attribute


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
