"""Leaves repeated in fresh interpreters with other hash seeds, where the program can be sent.

A program is sent by name: its module is imported anew there, and whatever that draws or orders by
hashes is drawn and ordered anew. The interpreters are started once and serve all audits of this
process; each request is answered in a fork of them.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from exactdp.audit.code.outcomes import found, named, read, written
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Sending", "repeated", "serve"]

_SEEDS = ("1", "2", "3", "4")
_MOST_LEAVES = 512
_INSIDE = "EXACTDP_FRESH_INTERPRETER"


@dataclass(frozen=True)
class Sending:
    """How a program is made in another process: make(*arguments), with what is found by name.

    make: a function at the top of a module; arguments: data, or such functions.
    """

    make: Callable[..., Any]
    arguments: tuple[Any, ...]

    def as_data(self) -> list[Any]:
        """JSON data; raises NotEnumerable where something cannot be sent."""
        return [_sent(part) for part in (self.make, *self.arguments)]


def _sent(part: Any) -> Any:
    if part is None or not callable(part):
        return ["data", written(part)]
    name = named(part)
    if name.startswith("__main__:"):
        raise NotEnumerable("it is defined in the script itself, not in a module")
    return ["named", name]


def _received(part: list[Any]) -> Any:
    kind, content = part
    return read(content) if kind == "data" else found(content)


def repeated(sending: Sending | None, runner: Any, judged: Any) -> tuple[int, str]:
    """In how many fresh interpreters the leaves are what they were here, or why none was asked.

    Raises NotReproducible if they are not, or if the modules differ from one to the other.
    """
    program, leaves = None, []
    reason = "it is not known how to make it elsewhere"
    if _INSIDE in os.environ:
        return 0, "this is a fresh interpreter"
    if sending is not None:
        try:
            program = sending.as_data()
            leaves = judged["leaves"][:: 1 + len(judged["leaves"]) // _MOST_LEAVES]
        except NotEnumerable as error:
            reason = str(error)
    modules = {
        module: new
        for module, names in judged["named"].items()
        if _is_importable(module) and (new := sorted(set(names) - _known.get(module, set())))
    }
    if program is None and not modules:
        return 0, reason
    answers = _ask(
        {
            "program": program,
            "leaves": leaves,
            "modules": modules,
            "interface": runner.interface,
            "catches": runner.catches,
        }
    )
    for answer in answers:
        if answer["failed"]:
            return 0, f"its module cannot be imported in a fresh interpreter ({answer['failed']})"
    for module, names in modules.items():
        for name in names:
            if len({answer["modules"][module][name] for answer in answers}) > 1:
                raise NotReproducible(
                    f"{module}.{name} is another one in every new process: what was drawn when the "
                    "module was imported is not drawn again; draw it inside the run"
                )
        _known.setdefault(module, set()).update(names)
    for answer in answers:
        if answer["differs"]:
            raise NotReproducible(
                f"in a fresh interpreter {answer['differs']}: the program depends on the order of "
                "a set, on hash() of text, or on what its module drew or kept"
            )
    return (len(answers), "") if program is not None else (0, reason)


_known: dict[str, set[str]] = {}  # variables of modules that fresh interpreters agree on


def _is_importable(module: str) -> bool:
    return module != "__main__" and getattr(sys.modules.get(module), "__spec__", None) is not None


def _ask(request: Any) -> list[Any]:
    """The answers of all interpreters, which work at the same time."""
    data = json.dumps({"path": sys.path, **request}).encode() + b"\n"
    for process in _servers():
        process.stdin.write(data)
        process.stdin.flush()
    return [json.loads(process.stdout.readline()) for process in _servers()]


@cache
def _servers() -> list[Any]:
    return [_start(seed) for seed in _SEEDS]


def _start(seed: str) -> Any:
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
    process = subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed, _INSIDE: "1"},
    )
    atexit.register(_end, process)
    return process


def _end(process: Any) -> None:
    process.stdin.close()
    process.stdout.close()
    process.wait()


def serve() -> None:
    """Answers requests, a line of JSON each, until the input ends."""
    from exactdp.audit.code.forks import in_fork

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        sys.path[:] = request["path"]
        try:
            names = [*request["modules"]]
            for kind, content in request["program"] or ():
                names += [content.partition(":")[0]] if kind == "named" else []
            for name in names:
                importlib.import_module(name)
            answer = in_fork(_answer, request)
        except Exception as error:  # whatever the user's module raises
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _answer(request: Any) -> Any:
    from exactdp.audit.code.explore import Runner, digest
    from exactdp.audit.code.judge import differing

    modules = {
        module: {name: digest(_state(vars(sys.modules[module]).get(name))) for name in names}
        for module, names in request["modules"].items()
    }
    differs = None
    if request["program"] is not None:
        make, *arguments = map(_received, request["program"])
        runner = Runner(make(*arguments), request["interface"], request["catches"])
        differs = differing(runner, request["leaves"])
    return {"modules": modules, "differs": differs, "failed": ""}


def _state(value: Any) -> Any:
    """What a variable of a module holds, as data, where it can be written down."""
    try:
        if isinstance(value, type):
            held = {k: v for k, v in vars(value).items() if not k.startswith("__")}
            return {name: _state(each) for name, each in held.items() if not callable(each)}
        if (
            hasattr(value, "__dict__")
            and not callable(value)
            and type(value).__module__ != "builtins"
        ):
            return {name: _state(each) for name, each in vars(value).items()}
        return written(value)
    except (NotEnumerable, RecursionError, TypeError, ValueError):
        return None
