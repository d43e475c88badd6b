"""Leaves repeated in fresh interpreters with other hash seeds, where the program can be sent.

A program is sent by name: its module is imported anew there, and whatever that draws or orders by
hashes is drawn and ordered anew. The interpreters are started once and serve all audits of this
process; each request is answered in a fork of them.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactdp.audit.code.outcomes import found, named, read, written
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Sending", "repeated", "serve"]

_SEEDS = ("1", "2", "3", "4")
_MOST_LEAVES = 512


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
    if kind == "data":
        return read(content)
    importlib.import_module(content.partition(":")[0])
    return found(content)


def repeated(sending: Sending | None, runner: Any, judged: Any) -> tuple[int, str]:
    """In how many fresh interpreters the leaves are what they were here, or why none was asked.

    Raises NotReproducible if they are not, or if the modules differ from one to the other.
    """
    request: dict[str, Any] = {"path": sys.path, "program": None, "leaves": [], "modules": {}}
    reason = "it is not known how to make it elsewhere"
    if sending is not None:
        try:
            request["program"] = sending.as_data()
            request["leaves"] = judged["leaves"][:: 1 + len(judged["leaves"]) // _MOST_LEAVES]
        except NotEnumerable as error:
            reason = str(error)
    request |= {"interface": runner.interface, "catches": runner.catches}
    request["modules"] = {
        module: names for module, names in judged["named"].items() if _is_importable(module)
    }
    if request["program"] is None and not any(request["modules"].values()):
        return 0, reason
    answers = [ask(request) for ask in _servers()]
    first = answers[0]["modules"]
    for module, digests in first.items():
        for name, value in digests.items():
            if any(each["modules"].get(module, {}).get(name) != value for each in answers):
                raise NotReproducible(
                    f"{module}.{name} is another one in every new process: what was drawn when the "
                    "module was imported is not drawn again; draw it inside the run"
                )
    for answer in answers:
        if answer["differs"]:
            raise NotReproducible(
                f"in a fresh interpreter {answer['differs']}: the program depends on the order of "
                "a set, on hash() of text, or on what its module drew or kept"
            )
    return (len(answers), "") if request["program"] is not None else (0, reason)


def _is_importable(module: str) -> bool:
    return module != "__main__" and getattr(sys.modules.get(module), "__spec__", None) is not None


@functools.cache
def _servers() -> list[Callable[[Any], Any]]:
    return [_start(seed) for seed in _SEEDS]


def _start(seed: str) -> Callable[[Any], Any]:
    """Starts an interpreter; a function that sends a request and waits for the answer."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
    process = subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    atexit.register(process.kill)

    def ask(request: Any) -> Any:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    return ask


def serve() -> None:
    """Answers requests, a line of JSON each, until the input ends."""
    from exactdp.audit.code.forks import in_fork

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints is no answer
    for line in sys.stdin:
        answer = in_fork(lambda line=line: _answer(json.loads(line)))
        print(json.dumps(answer), file=answers, flush=True)


def _answer(request: Any) -> Any:
    from exactdp.audit.code.explore import Runner, digest
    from exactdp.audit.code.judge import differing

    sys.path[:] = request["path"]
    modules: dict[str, dict[str, str]] = {}
    for module, names in request["modules"].items():
        inside = vars(importlib.import_module(module))
        modules[module] = {name: digest(_state(inside.get(name))) for name in names}
    differs = None
    if request["program"] is not None:
        make, *arguments = map(_received, request["program"])
        runner = Runner(make(*arguments), request["interface"], request["catches"])
        differs = differing(runner, request["leaves"])
    return {"modules": modules, "differs": differs}


def _state(value: Any) -> Any:
    """What a variable of a module holds, as data, where it can be written down."""
    try:
        if isinstance(value, type):
            held = {k: v for k, v in vars(value).items() if not k.startswith("__")}
            return {name: _state(each) for name, each in held.items() if not callable(each)}
        if hasattr(value, "__dict__") and not callable(value) and type(value).__module__ != "builtins":
            return {name: _state(each) for name, each in vars(value).items()}
        return written(value)
    except (NotEnumerable, RecursionError, TypeError, ValueError):
        return None
