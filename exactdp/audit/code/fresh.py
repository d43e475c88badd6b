"""Leaves repeated in fresh interpreters with other hash seeds, where the program can be sent.

A program is sent by name: its module is imported anew there, and whatever that draws or orders by
hashes is drawn and ordered anew (:mod:`serving`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactdp.audit.code.interpreters import ask, is_fresh
from exactdp.audit.code.outcomes import named, written
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Sending", "repeated"]

_MOST_LEAVES = 512
#: A fresh interpreter has this time, and ten times the time that the law took here.
_PATIENCE = 60.0


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


def repeated(sending: Sending | None, runner: Any, judged: Any, seconds: float) -> tuple[int, str]:
    """In how many fresh interpreters the leaves are what they were here, or why none was asked.

    seconds: how long the law took here. Raises NotReproducible if the leaves are not the same, or
    if the modules differ from one interpreter to the other; NotEnumerable if one of them ends or
    does not answer.
    """
    program, leaves = None, []
    reason = "it is not known how to make it elsewhere"
    if is_fresh():
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
    request = {
        "program": program,
        "leaves": leaves,
        "modules": modules,
        "interface": runner.interface,
        "catches": runner.catches,
    }
    answers = ask(request, _PATIENCE + 10 * seconds)
    for answer in answers:
        if "failed" in answer:
            return 0, f"its module cannot be imported in a fresh interpreter ({answer['failed']})"
        if "ended" in answer:
            raise NotEnumerable(f"in a fresh interpreter, {answer['ended']}")
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
                "a set, on hash() of text, or on what its module drew or kept; sort sets before "
                "they are used, and draw and keep inside the run"
            )
    return (len(answers), "") if program is not None else (0, reason)


_known: dict[str, set[str]] = {}  # variables of modules that fresh interpreters agree on


def _is_importable(module: str) -> bool:
    return module != "__main__" and getattr(sys.modules.get(module), "__spec__", None) is not None
