"""The variables of a function, and the steps that are added to it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any, Protocol

from exactdp.audit.steps.steps import Code, Expression, Jump, Set, Slots, union
from exactdp.audit.steps.values import UNSET, Held, refuse, shared

MISSING = object()


def constantly(value: Any) -> Expression:
    """An expression that has always this value."""
    return Expression(lambda slots: value)


class Functions(Protocol):
    """The functions of a program. numpy: whether its generator is numpy's."""

    numpy: bool

    def code(self, function: Any) -> Code:
        """The steps of a function."""


class Variables:
    """The variables of one function, or of a part of it; steps are added at the end."""

    def __init__(self, program: Functions, function: types.FunctionType, name: str = "") -> None:
        self.program, self.function = program, function
        code = function.__code__
        self.locals = {*code.co_varnames, *code.co_cellvars}
        self.code = Code(name or function.__qualname__)
        self.slots: dict[str, int] = {}
        self.width = 0
        self.loops: list[tuple[int, list[Jump]]] = []

    # -- steps -----------------------------------------------------------------------------------

    def here(self) -> int:
        return len(self.code.steps)

    def add(self, step: Any) -> Any:
        """Add a step, which goes on at the one that follows."""
        self.code.steps.append(step)
        if not step.nexts:
            step.nexts = [self.here()]
        return step

    def store(self, value: Expression) -> int:
        """Put a value into a new slot."""
        slot = self.temporary()
        self.add(Set(value.slots, (slot,), value=value.value))
        return slot

    # -- variables -------------------------------------------------------------------------------

    def slot(self, name: str) -> int:
        if name not in self.slots:
            self.slots[name] = self.temporary()
        return self.slots[name]

    def temporary(self) -> int:
        self.width += 1
        return self.width - 1

    def local(self, name: str) -> str | None:
        """The variable for which a name stands, or None."""
        if name.startswith("__"):
            refuse("a name that a class may change")
        return name if name in self.locals or name.startswith("<") else None

    def load(self, variable: str, keep: bool = False) -> Expression:
        """The value of a variable, which is shared from now on unless it is only looked at."""
        slot = self.slot(variable)

        def value(slots: Slots) -> Any:
            held = slots[slot]
            if type(held) is Held and held.owned and not keep:
                held = slots[slot] = shared(held)
            return held if held is not UNSET else refuse("a variable without a value")

        return Expression(value, frozenset({slot}), slot)

    def held(self, slot: int) -> Expression:
        """What a step has put into a slot."""
        return Expression(lambda slots: slots[slot], frozenset({slot}), slot)

    def global_value(self, name: str) -> Any:
        """The value of a name that is no local variable."""
        if self.local(name) is not None:
            return MISSING
        function: Any = self.function
        if name in function.__code__.co_freevars:
            place = function.__code__.co_freevars.index(name)
            try:
                return (function.__closure__ or ())[place].cell_contents
            except ValueError:
                return MISSING
        if type(function.__globals__) is not dict or type(function.__builtins__) is not dict:
            return MISSING
        inside = function.__globals__
        return inside[name] if name in inside else function.__builtins__.get(name, MISSING)

    def combine(self, function: Callable[..., Any], parts: list[Expression]) -> Expression:
        values = [part.value for part in parts]
        return Expression(
            lambda slots: function(*[value(slots) for value in values]),
            union(part.slots for part in parts),
        )

    # -- what depends on the parts below ---------------------------------------------------------

    def expression(self, node: ast.expr) -> Expression:
        """The value of a node; steps before it draw and call."""
        raise NotImplementedError

    def comprehension(self, node: Any) -> Expression:
        """A list, dictionary or set of its own that a comprehension fills."""
        raise NotImplementedError

    def add_loop(self, loop: ast.For) -> None:
        """Add the steps of a loop."""
        raise NotImplementedError

    def returned(self, value: ast.expr) -> None:
        """Add the step that returns a value."""
        raise NotImplementedError

    def part(self, names: list[str], name: str) -> Variables:
        """A translator for a part of this function that reads some variables."""
        raise NotImplementedError

    def finish(self) -> Code:
        """The steps, when all are added."""
        self.code.finish(self.width)
        return self.code

    def peek(self, node: ast.expr) -> Expression:
        """An expression whose value is used up at once."""
        if isinstance(node, ast.Name) and (name := self.local(node.id)) is not None:
            return self.load(name, keep=True)
        return self.expression(node)
