"""Runs repeated in fresh interpreters with other hash seeds, where the program can be sent.

A program is sent by its name: its module is imported anew there, so whatever that draws, or orders
by hashes, is drawn and ordered anew (:mod:`serving`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any

from exactdp.audit.code.interpreters import ask, is_fresh
from exactdp.audit.code.outcomes import found, named, written
from exactdp.audit.code.program import Program
from exactdp.audit.code.runs import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Sending", "repeated"]

_MOST_LEAVES = 512
#: A fresh interpreter has this time, and ten times the time that the law took here, in seconds.
_PATIENCE = 300.0


@dataclass(frozen=True)
class Sending:
    """How a program is made in another process: make(*arguments).

    make: a function at the top of a module; arguments: data, or functions found by name.
    """

    make: Callable[..., Any]
    arguments: tuple[Any, ...]

    def as_data(self) -> list[Any]:
        """JSON data; raises NotEnumerable where something cannot be sent."""
        return [_sent(part) for part in (self.make, *self.arguments)]


def _sent(part: Any) -> Any:
    return ["data", written(part)] if part is None or not callable(part) else ["named", _name(part)]


def _name(part: Any) -> str:
    """The name of a function, a class, what a variable of a module holds, or a method of these."""
    try:
        if isinstance(part, MethodType):
            name = f"{_name(part.__self__)}.{part.__name__}"
            return name if found(name) == part else named(part)
        name = named(part)
    except NotEnumerable:
        held = ((m, name) for m in [*sys.modules] for name in _names_of(part, m))
        if (first := next(held, None)) is None:
            raise
        return ":".join(first)
    if name.startswith("__main__:"):
        raise NotEnumerable("it is defined in the script itself, not in a module")
    return name


def _names_of(thing: Any, module: str) -> list[str]:
    """The variables of a module that hold a thing, if the module can be imported elsewhere."""
    inside = list(getattr(sys.modules.get(module), "__dict__", {}).items())
    names = [name for name, value in inside if value is thing]
    return names if names and _is_importable(module) else []


def repeated(
    sending: Sending | None,
    program: Program,
    leaves: list[Any],
    forked: bool,
    names: dict[str, set[str]],
    seconds: float,
) -> tuple[int, str]:
    """The number of fresh interpreters in which the leaves are what they were here; why it is 0.

    forked: whether each leaf needs a fork of its own. names: variables of modules that are
    compared. seconds: how long the law took here. Raises NotReproducible if the leaves are not the
    same, or if modules differ from one interpreter to the other; NotEnumerable if an interpreter
    ends or does not answer.
    """
    if is_fresh():
        return 0, "this is a fresh interpreter"
    sent, reason = None, "it is not known how to make it elsewhere"
    if sending is not None:
        try:
            sent = sending.as_data()
        except NotEnumerable as error:
            reason = str(error)
    for kind, content in sent or ():
        if kind == "named":  # what it holds is compared, too
            module, _, name = content.partition(":")
            names.setdefault(module, set()).add(name.partition(".")[0])
    new = {module: sorted(some - _same.get(module, set())) for module, some in names.items()}
    modules = {module: some for module, some in new.items() if some and _is_importable(module)}
    if sent is None and not modules:
        return 0, reason
    request = {
        "program": sent,
        "leaves": leaves[:: 1 + len(leaves) // _MOST_LEAVES] if sent is not None else [],
        "forked": forked,
        "modules": modules,
        "interface": program.interface,
        "catches": program.catches,
    }
    answers = ask(request, _PATIENCE + 10 * seconds)
    for answer in answers:
        if "failed" in answer:
            return 0, f"its module cannot be imported in a fresh interpreter ({answer['failed']})"
        if "ended" in answer:
            raise NotEnumerable(f"in a fresh interpreter, {answer['ended']}")
    for module, some in modules.items():
        for name in some:
            if len({answer["modules"][module][name] for answer in answers}) > 1:
                raise NotReproducible(
                    f"{module}.{name} differs from process to process: what was drawn when the "
                    "module was imported is not drawn again; draw it inside the run"
                )
        _same.setdefault(module, set()).update(some)
    for answer in answers:
        if answer["differs"]:
            raise NotReproducible(
                f"in a fresh interpreter {answer['differs']}: the program depends on the order of "
                "a set, on hash() of text, or on what its module drew or kept; sort sets before "
                "they are used, and draw and keep inside the run"
            )
    return (len(answers), "") if sent is not None else (0, reason)


_same: dict[str, set[str]] = {}  # variables of modules on which fresh interpreters agree


def _is_importable(module: str) -> bool:
    return module != "__main__" and getattr(sys.modules.get(module), "__spec__", None) is not None
