"""What a fresh interpreter does: it answers requests, each in a fork of its own."""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import types
from typing import Any

from exactdp.audit.code.forks import answer_of, begun, in_fork
from exactdp.audit.code.guard import GENERATORS
from exactdp.audit.code.outcomes import found, read, written
from exactdp.audit.code.program import Program
from exactdp.audit.code.runs import NotEnumerable
from exactdp.audit.code.search import digest, repeated

__all__ = ["serve"]

#: Largest number of objects of one variable that are looked into.
_MOST_OBJECTS = 10_000


def serve() -> None:
    """Answer requests, a line of JSON each, until the input ends."""
    del os.environ["PYTHONHASHSEED"]  # all that differs between the environments
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        sys.path[:] = request["path"]
        try:
            _import(request)
        except Exception as error:  # whatever the user's module raises
            answer = {"failed": f"{type(error).__name__}: {error}"}
        else:
            pipe, child = begun(_answer, request)
            if pipe not in select.select([pipe, sys.stdin], [], [])[0]:
                os.kill(child, signal.SIGKILL)  # the input has ended: nobody waits for the answer
                return
            try:
                answer = answer_of(pipe, child)
            except NotEnumerable as error:
                answer = {"ended": str(error)}
        print(json.dumps(answer), file=answers, flush=True)


def _import(request: Any) -> None:
    """Import the modules of the program and of its functions."""
    named = [content for kind, content in request["program"] or () if kind == "named"]
    for name in [*request["modules"], *(content.partition(":")[0] for content in named)]:
        importlib.import_module(name)


def _answer(request: Any) -> Any:
    """In a child: digests of variables, and whether a leaf differs."""
    modules = {
        module: {
            name: digest(json.dumps(_state(vars(sys.modules[module]).get(name), set())))
            for name in names
        }
        for module, names in request["modules"].items()
    }
    differs = None
    if request["program"] is not None:
        make, *arguments = [
            read(content) if kind == "data" else found(content)
            for kind, content in request["program"]
        ]
        program = Program(make(*arguments), request["interface"], request["catches"])
        shares = [request["leaves"]]
        if request["forked"]:
            shares = [[[paths[:1], outcome]] for paths, outcome in request["leaves"]]
        found_in = (in_fork(repeated, program, share, ())[0] for share in shares)
        differs = next((each for each in found_in if each is not None), None)
    return {"modules": modules, "differs": differs}


def _state(value: Any, opened: set[int]) -> Any:
    """What a variable of a module holds, as data; None for what cannot be written down.

    opened: the objects that are being written. Each object is opened once, because objects may
    refer to each other (a member of an enumeration refers to its class).
    """
    try:
        return written(value)
    except (NotEnumerable, RecursionError, TypeError, ValueError):
        pass
    if id(value) in opened or len(opened) >= _MOST_OBJECTS:
        return None
    opened.add(id(value))
    return [_state(each, opened) for each in _held(value)]


def _held(value: Any) -> list[Any]:
    """The objects that make up a value: of most values, all that it refers to."""
    if isinstance(value, types.FunctionType):  # not its module
        cells = (gc.get_referents(cell) for cell in value.__closure__ or ())
        return [value.__defaults__, value.__kwdefaults__, value.__dict__, *cells]
    if isinstance(value, (types.ModuleType, *GENERATORS)):  # draws are noticed where they happen
        return []
    if isinstance(value, (set, frozenset)):  # in an order that differs
        return []
    kind = value if isinstance(value, type) else type(value)
    source = str(getattr(sys.modules.get(kind.__module__), "__file__", ""))
    if not source.endswith(".py") and kind.__module__.split(".")[0] not in sys.stdlib_module_names:
        return []  # of a compiled library: functions refer to all of their module
    if isinstance(value, type):
        return [v for k, v in vars(value).items() if not k.startswith("__") or k == "__init__"]
    return [each for each in gc.get_referents(value) if each is not kind]
