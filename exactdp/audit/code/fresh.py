"""Runs repeated in fresh interpreters with other hash seeds, where the program can be sent.

A program is sent by its name: its module is imported anew there, so whatever that draws, or orders
by hashes, is drawn and ordered anew (:mod:`serving`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactdp.audit.code.interpreters import ask, is_fresh
from exactdp.audit.code.outcomes import named, written
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
    if part is None or not callable(part):
        return ["data", written(part)]
    name = named(part)
    if name.startswith("__main__:"):
        raise NotEnumerable("it is defined in the script itself, not in a module")
    return ["named", name]


def repeated(
    sending: Sending | None,
    program: Program,
    leaves: list[Any],
    names: dict[str, set[str]],
    seconds: float,
) -> tuple[int, str]:
    """The number of fresh interpreters in which the leaves are what they were here; why it is 0.

    names: variables of modules that are compared. seconds: how long the law took here. Raises
    NotReproducible if the leaves are not the same, or if modules differ from one interpreter to
    the other; NotEnumerable if one of them ends or does not answer.
    """
    if is_fresh():
        return 0, "this is a fresh interpreter"
    sent, reason = None, "it is not known how to make it elsewhere"
    if sending is not None:
        try:
            sent = sending.as_data()
        except NotEnumerable as error:
            reason = str(error)
    new = {module: sorted(found - _same.get(module, set())) for module, found in names.items()}
    modules = {module: found for module, found in new.items() if found and _is_importable(module)}
    if sent is None and not modules:
        return 0, reason
    request = {
        "program": sent,
        "leaves": leaves[:: 1 + len(leaves) // _MOST_LEAVES] if sent is not None else [],
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
    for module, found in modules.items():
        for name in found:
            if len({answer["modules"][module][name] for answer in answers}) > 1:
                raise NotReproducible(
                    f"{module}.{name} differs from process to process: what was drawn when the "
                    "module was imported is not drawn again; draw it inside the run"
                )
        _same.setdefault(module, set()).update(found)
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
