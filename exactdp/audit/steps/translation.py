"""From the syntax tree of a function to its steps. What is not on a closed list is refused."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from exactdp.audit.steps.source import tree_of
from exactdp.audit.steps.statements import Statements
from exactdp.audit.steps.steps import Code
from exactdp.audit.steps.values import read, refuse


class Program:
    """The functions of a program, translated when they are first called.

    numpy: whether the generator is numpy's.
    """

    def __init__(self, numpy: bool) -> None:
        self.numpy = numpy
        self._codes: dict[int, tuple[types.FunctionType, Code | None]] = {}

    def code(self, function: Any) -> Code:
        """The steps of a function."""
        if type(function) is not types.FunctionType:
            refuse("a call of something else than a function")
        if id(function) not in self._codes:
            self._codes[id(function)] = function, None
            code = _Translator(self, function).whole()
            self._codes[id(function)] = function, code
        known = self._codes[id(function)][1]
        return known if known is not None else refuse("a function that calls itself")


def _defaults(function: types.FunctionType, names: list[str]) -> dict[str, Any]:
    """The default values of parameters."""
    defaults = function.__defaults__ or ()
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return {name: read(value) for name, value in values.items()}


class _Translator(Statements):
    """Translates one function, or a part of it."""

    def whole(self) -> Code:
        """The whole function."""
        tree = tree_of(self.function)
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            refuse("a function with other than plain parameters")
        if self.function.__code__.co_flags & (
            inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        ):
            refuse("a generator function")
        self.code.parameters = [each.arg for each in arguments.args]
        self.code.defaults = _defaults(self.function, self.code.parameters)
        for each in arguments.args:
            self.slot(each.arg)
        if isinstance(tree, ast.Lambda):
            self.returned(tree.body)
        else:
            self.block(tree.body)
            self.returned(ast.Constant(None))
        return self.finish()

    def part(self, names: list[str], name: str) -> _Translator:
        """A translator for a part of this function that reads some variables."""
        part = _Translator(self.program, self.function, name)
        part.locals = self.locals
        for each in names:
            part.slot(each)
        return part
