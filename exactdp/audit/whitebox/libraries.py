"""What functions of libraries keep in variables of their modules: registries, settings, factories.

Nobody sees them there by the names that a program uses: they are looked at where a function that
changes or reads them is seen to run.
"""

from __future__ import annotations

import logging
import re
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from exactdp.audit.whitebox.atoms import is_atom, is_library, written
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.plainness import written_in_python

__all__ = ["Shelves"]

_TABLES = (list, tuple, set, deque)
_MAPPINGS = (dict, defaultdict, OrderedDict)
_DEPTH, _MOST = 5, 20_000

#: Results that are looked up again, and would be the same if they were not.
_CACHES = frozenset(
    {("re", "_cache"), ("re", "_cache2"), ("encodings", "_cache"), ("_strptime", "_regex_cache")}
    | {("numpy.ma.core", "ufunc_domain")}  # the smallest divisor, once it is needed
)


class Shelves:
    """Variables of libraries' modules, as they were when a function that names them began first."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, str], Callable[[], Hashable]] = {}
        self._was: dict[tuple[int, str], Hashable] = {}

    def find(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """A function of a library begins for the first time, in a module of these names."""
        module = str(names.get("__name__"))
        for name in code.co_names:
            place = number_of(names), name
            if name in names and place not in self._was:
                read = _strangers if (module, name) in _CACHES else _content
                self._before[place] = partial(read, names, name)
                self._was[place] = self._before[place]()

    def changed(self) -> str:
        """The name of a variable that is not as it was, or ""."""
        places = self._before.items()
        return next((place[1] for place, now in places if now() != self._was[place]), "")


def _content(names: Mapping[str, Any], name: str) -> Hashable:
    """Equal while what a variable stands for, and the tables in it, hold the same things.

    Patterns are compiled when they are first needed, and then kept.
    """
    thing = names.get(name)
    return tuple(_tokens(None if isinstance(thing, re.Pattern) else thing, _DEPTH, [_MOST]))


def _strangers(names: Mapping[str, Any], name: str) -> Hashable:
    """The keys of a table that are texts of a program's own type: they may hold more."""
    keys = (key if type(key) is tuple else (key,) for key in dict.keys(names[name]))
    texts = (part for key in keys for part in key if isinstance(part, (str, bytes)))
    return tuple(number_of(each) for each in texts if type(each) not in (str, bytes))


def _tokens(thing: Any, depth: int, room: list[int]) -> Iterator[Hashable]:
    kind: Any = type(thing)
    room[0] -= 1
    if is_atom(kind):
        yield kind, written(thing)
        return
    yield kind if kind in _TABLES else number_of(thing)
    if not depth or room[0] < 0 or isinstance(thing, (logging.Logger, logging.Manager)):
        return
    held: Iterator[Any] = iter(())
    if kind in _TABLES:
        held = iter(thing)
    elif kind in _MAPPINGS:
        held = (part for pair in dict.items(thing) for part in pair)
    elif written_in_python(kind) and is_library(kind):
        held = (part for pair in getattr(thing, "__dict__", {}).items() for part in pair)
    for part in held:
        yield from _tokens(part, depth - 1, room)
