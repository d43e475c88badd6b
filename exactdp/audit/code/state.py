"""What a function of a program finds when it is called, as text that is equal in equal processes.

A module that draws when it is imported holds something else in every process.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from exactdp.audit.code.keys import is_generator
from exactdp.audit.values import common, encoded
from exactdp.errors import InvalidParameter

#: Largest number of objects of one variable that are looked into.
_MOST_OBJECTS = 10_000


def state_text(value: Any) -> str:
    """The numbers and texts that a value holds, in any depth; "" where they cannot be told."""
    opened: dict[int, Any] = {}

    def inside(thing: Any) -> Any:
        if id(thing) in opened or len(opened) >= _MOST_OBJECTS:
            return None
        opened[id(thing)] = thing
        return common(_held(thing), unknown=inside)

    try:
        return repr(encoded(common(_held(value) or value, unknown=inside)))
    except (InvalidParameter, RecursionError):
        return ""


def _held(thing: Any) -> Any:
    """The objects that make up a function, a class or an object of the program; None of others."""
    if isinstance(thing, types.FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [thing.__defaults__, thing.__kwdefaults__, thing.__dict__, *cells]
    if isinstance(thing, types.MethodType):
        return [thing.__self__]
    if isinstance(thing, functools.partial):
        return [thing.func, thing.args, thing.keywords]
    kind = thing if isinstance(thing, type) else type(thing)
    if is_generator(thing) or kind.__module__.partition(".")[0] in sys.stdlib_module_names:
        return None
    if isinstance(thing, type):
        return {name: each for name, each in vars(thing).items() if not name.startswith("__")}
    return getattr(thing, "__dict__", None)
