"""Objects that were built before the runs, by a constructor that may have drawn."""

from __future__ import annotations

import functools
import gc
import random
import sys
import types
from typing import Any

import numpy as np

__all__ = ["built_before", "drawing_constructor"]

_METHODS = {
    name
    for kind in (random.Random, np.random.Generator)
    for name in vars(kind)
    if not name.startswith("_") and len(name) > 5
}
_DRAWING = _METHODS | {"gauss", "default_rng", "urandom", "secrets", "rng", "generator"}
_STANDARD = sys.stdlib_module_names - {"__main__"}


@functools.lru_cache(maxsize=1 << 12)
def drawing_constructor(kind: type) -> str:
    """What the constructor of a user's class uses of a generator, or "".

    A constructor that is handed a generator, or calls one, may keep what it drew; the methods of
    the class that it calls belong to it.
    """
    if kind.__module__.partition(".")[0] in {*_STANDARD, "numpy", "exactdp", "flint", "gmpy2"}:
        return ""
    todo, seen = ["__init__", "__new__", "__post_init__"], set[str]()
    while todo:
        name = todo.pop()
        found = getattr(kind, name, None)
        function = getattr(found, "__func__", found)
        if name in seen or not isinstance(function, types.FunctionType):
            continue
        seen.add(name)
        code = function.__code__
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for word in (*arguments, *code.co_names):
            if word in _DRAWING or "rng" in word.lower() or "random" in word.lower():
                return word
        todo += [word for word in code.co_names if word in dir(kind)]
    return ""


def built_before(thing: Any) -> bool:
    """Whether an object is older than the last gc.freeze(), which no object of a run is."""
    return not any(each is thing for each in gc.get_objects())
