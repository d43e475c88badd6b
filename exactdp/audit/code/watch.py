"""What a program's code does and names, seen in the runs that are repeated.

A profile hook sees every Python function that starts and every C function that is called. It finds
C functions that draw, generators under names that were bound before the audit, objects that were
built before it by a constructor that draws, and the variables of modules that the code names.
"""

from __future__ import annotations

import _random
import functools
import gc
import random
import sys
import types
from typing import Any

import numpy as np

from exactdp.audit.code.guard import Guard
from exactdp.audit.code.lines import at, is_ours, is_program

__all__ = ["Watch"]

#: Modules whose C functions have no hidden state, but for those that draw.
_TRUSTED = {*sys.stdlib_module_names, "numpy", "flint", "gmpy2"} - {"__main__"}
#: What tells that a constructor draws: methods of generators, and common names for them.
_DRAWING = {
    *("gauss", "default_rng", "urandom", "secrets", "rng", "generator"),
    *(name for name in vars(random.Random) if not name.startswith("_") and len(name) > 5),
    *(name for name in vars(np.random.Generator) if not name.startswith("_") and len(name) > 5),
}


class Watch:
    """Watches runs in this process, a forked child.

    unknown: C functions that may keep randomness of their own, with where they are called. named:
    the variables that the program's code names, by module.
    """

    def __init__(self, guard: Guard) -> None:
        self.unknown: dict[str, str] = {}
        self.named: dict[str, set[str]] = {}
        self._guard = guard
        self._known: dict[int, types.CodeType] = {}  # by id, as codes are slow to hash; kept alive

    def see(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """The profile hook."""
        if event == "c_call":
            if not is_ours(frame.f_code.co_filename):
                self._called(arg, frame)
        elif event == "call" and id(frame.f_code) not in self._known:
            self._known[id(frame.f_code)] = frame.f_code
            if is_program(frame.f_code.co_filename):
                self._look_at(frame)

    def _called(self, function: Any, frame: types.FrameType) -> None:
        owner, name = getattr(function, "__self__", None), function.__name__
        if isinstance(owner, types.ModuleType):
            holder, module = owner.__name__, owner.__name__
        else:
            kind = owner if isinstance(owner, type) else type(owner)
            holder, module = kind.__name__, kind.__module__
        draws = name in ("random", "getrandbits", "seed") and isinstance(owner, _random.Random)
        if draws or ("rand" in name.lower() and not isinstance(owner, _random.Random)):
            self._guard.refuse_call(f"{holder}.{name}", frame)
        if module.partition(".")[0] not in _TRUSTED:
            self.unknown.setdefault(f"{holder}.{name}()", at(frame))

    def _look_at(self, frame: types.FrameType) -> None:
        """A function of the program runs for the first time."""
        inside, values = frame.f_globals, list(frame.f_locals.values())
        names = self.named.setdefault(str(inside.get("__name__")), set())
        for name in (*frame.f_code.co_names, frame.f_code.co_qualname.partition(".")[0]):
            if name in inside:
                inside[name] = self._guard.replaced.get(id(inside[name]), inside[name])
                names.add(name)
                values.append(inside[name])
        for value in values:
            kind: Any = type(value)
            why = _drawing_constructor(kind)
            if why and _is_old(value):
                self._guard.refuse(
                    f"a {type(value).__name__} {at(frame)} was built before the run, by a "
                    f"constructor that uses {why}: what it drew then is not drawn again; build it "
                    "inside the run (make=)"
                )


def _is_old(thing: Any) -> bool:
    """Whether an object is older than this process, which began with gc.freeze()."""
    return not any(each is thing for each in gc.get_objects())


@functools.lru_cache(maxsize=1 << 12)
def _drawing_constructor(kind: type) -> str:
    """What the constructor of a user's class uses of a generator, or "".

    Followed are the methods of its class that it calls, not other functions.
    """
    if kind.__module__.partition(".")[0] in _TRUSTED | {"exactdp"}:
        return ""
    todo, seen = ["__init__", "__new__", "__post_init__"], set[str]()
    while todo:
        name = todo.pop()
        found = getattr(kind, name, None)
        code = getattr(getattr(found, "__func__", found), "__code__", None)
        if name in seen or code is None:
            continue
        seen.add(name)
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for word in (*arguments, *code.co_names):
            if word in _DRAWING or "rng" in word.lower() or "random" in word.lower():
                return str(word)
        todo += [word for word in code.co_names if hasattr(kind, word)]
    return ""
