"""What a program's code does, seen in the runs that are repeated.

A profile hook sees every Python function that starts and every C function that is called. It finds
C functions that draw, generators under names that were bound before the audit, and objects that
were built before it by a constructor that draws.
"""

from __future__ import annotations

import _random
import functools
import gc
import random
import sys
import types
from collections.abc import Sequence
from contextlib import AbstractContextManager
from inspect import getattr_static
from typing import Any

import numpy as np

from exactdp.audit.code.guard import Guard
from exactdp.audit.code.lines import at, is_ours, is_program
from exactdp.audit.code.runs import Run
from exactdp.audit.code.state import is_of_library
from exactdp.errors import NotEnumerable

#: Modules whose C functions have no hidden state, but for those that draw.
_TRUSTED = {*sys.stdlib_module_names, "numpy", "flint", "gmpy2"} - {"__main__"}
#: What tells that a constructor draws: methods of generators, and common names for them.
_DRAWING = {
    *("gauss", "default_rng", "urandom", "secrets", "rng", "generator"),
    *(name for name in vars(random.Random) if not name.startswith("_") and len(name) > 5),
    *(name for name in vars(np.random.Generator) if not name.startswith("_") and len(name) > 5),
}
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


class Watch:
    """Watches and guards runs in this process, a forked child or a fresh interpreter.

    existing: the generators from which runs may not draw. named: the variables of modules that the
    program's code names, as (module, name).
    """

    def __init__(self, existing: Sequence[Any]) -> None:
        self.named: set[tuple[str, str]] = set()
        self._guard = Guard(existing)
        self._unknown: dict[str, str] = {}
        self._known: dict[int, types.CodeType] = {}  # by id, as codes are slow to hash; kept alive

    def around(self, run: Run) -> AbstractContextManager[None]:
        """A block in which a run is watched."""
        return self._guard.around(run, self._see)

    def unknown(self) -> dict[str, str]:
        """C functions that may keep randomness of their own, and where they were called.

        Raises NotEnumerable if a generator was drawn from.
        """
        if reason := self._guard.why_no_law():
            raise NotEnumerable(reason)
        return self._unknown

    def _see(self, frame: types.FrameType, event: str, arg: Any) -> None:
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
            self._unknown.setdefault(f"{holder}.{name}()", at(frame))

    def _look_at(self, frame: types.FrameType) -> None:
        """A function of the program runs for the first time."""
        inside, values = frame.f_globals, list(frame.f_locals.values())
        for module in (*_imported(frame), *filter(_is_module, values)):
            self._name_inside(module, frame.f_code)
        for kind in {kind for value in values for kind in type(value).__mro__}:
            self._name(
                str(kind.__module__), kind.__qualname__.partition(".")[0], None, frame.f_code
            )
        for name in (*frame.f_code.co_names, frame.f_code.co_qualname.partition(".")[0]):
            if name in inside:
                inside[name] = self._guard.replaced.get(id(inside[name]), inside[name])
                values.append(inside[name])
                self._name(str(inside.get("__name__")), name, inside[name], frame.f_code)
        makers: list[tuple[Any, Any]] = [(type(value), value) for value in values]
        outer = _inside(inside, frame.f_code.co_qualname.rpartition(".<locals>.")[0])
        if frame.f_code.co_freevars and not _is_running(outer, frame):
            makers.append((outer, frame.f_code))
        for maker, value in makers:
            why = _drawing(maker)
            if why and _is_old(value):
                name = getattr(value, "co_name", type(value).__name__)
                self._guard.refuse(
                    f"{name} {at(frame)} was made before the run by {maker.__name__}, which draws "
                    f"({why}): its noise would be the same in every run; make {name} inside the "
                    "run (make=)"
                )

    def _name(self, module: str, name: str, value: Any, code: types.CodeType) -> None:
        """The program's code names a variable of a module."""
        if not is_of_library(module) and (module, name) not in self.named:
            self.named.add((module, name))
            if _is_module(value):
                self._name_inside(value, code)

    def _name_inside(self, module: types.ModuleType, code: types.CodeType) -> None:
        """The code names a module, perhaps with its variables."""
        held = vars(module)
        for name in held.keys() & set(code.co_names):
            self._name(module.__name__, name, held[name], code)


def _is_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType)


def _imported(frame: types.FrameType) -> list[types.ModuleType]:
    """The modules that a function may import when it runs, by their names or relative ones."""
    package = str(frame.f_globals.get("__package__") or "").split(".")
    parents = ["", *(".".join(package[: i + 1]) + "." for i in range(len(package)))]
    names = (f"{parent}{name}".rstrip(".") for parent in parents for name in frame.f_code.co_names)
    modules = map(sys.modules.get, names)
    return [module for module in modules if isinstance(module, types.ModuleType)]


def _inside(module: dict[str, Any], path: str) -> Any:
    """What a path of names stands for in a module, or None."""
    first, *rest = path.split(".")
    return functools.reduce(
        lambda holder, name: getattr(holder, name, None), rest, module.get(first)
    )


def _is_running(function: Any, frame: types.FrameType | None) -> bool:
    """Whether a frame is inside of a call of a function, as in a script's main()."""
    while frame is not None and frame.f_code is not getattr(function, "__code__", None):
        frame = frame.f_back
    return frame is not None


def _is_old(thing: Any) -> bool:
    """Whether an object, or every function of a code, is older than this process, which began with
    gc.freeze()."""
    return not any(x is thing or getattr(x, "__code__", x) is thing for x in gc.get_objects())


@functools.lru_cache(maxsize=1 << 12)
def _drawing(maker: Any) -> str:
    """The name by which a function, or the constructor of a class, uses a generator; or "".

    The search follows the methods of the class that the code names; in code that is not an
    installed package, it also follows functions and classes of the same package.
    """
    package = str(getattr(maker, "__module__", "")).partition(".")[0]
    if package in _TRUSTED | {"exactdp"}:
        return ""
    todo, seen = [(maker, maker)], set[int]()
    while todo:
        member, kind = todo.pop()
        if isinstance(member, type):
            todo += [(getattr_static(member, name, None), member) for name in _CONSTRUCTORS]
        function: Any = getattr(member, "__func__", member)
        if not isinstance(function, types.FunctionType) or id(function) in seen:
            continue
        code = function.__code__
        if not str(function.__module__).startswith(package):
            continue
        seen.add(id(function))
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for word in (*arguments, *code.co_names):
            if word in _DRAWING or "rng" in word.lower() or "random" in word.lower():
                return str(word)
            todo.append((getattr_static(kind, word, None), kind))
            if "-packages" not in code.co_filename:
                todo.append((function.__globals__.get(word), kind))
    return ""
