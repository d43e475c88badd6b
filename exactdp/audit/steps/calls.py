"""Calls of functions, and the items over which loops and functions go."""

from __future__ import annotations

import ast
import math
from dataclasses import replace

from exactdp.audit.steps import operators
from exactdp.audit.steps.coins import Coins
from exactdp.audit.steps.draws import METHODS, NUMPY_INTEGERS, NUMPY_METHODS
from exactdp.audit.steps.steps import Call, Code, Expression, union
from exactdp.audit.steps.values import Refused, refuse
from exactdp.audit.steps.variables import constantly


class Calls(Coins):
    """Translates calls."""

    def _call(self, node: ast.Call) -> Expression:
        if isinstance(node.func, ast.Attribute):
            return self.method_call(node, node.func)
        if not isinstance(node.func, ast.Name):
            refuse("a call of something else than a name")
        called = self.global_value(node.func.id)
        if called is int and self.program.numpy and len(node.args) == 1 and not node.keywords:
            inner = node.args[0]
            if isinstance(inner, ast.Call) and (draw := self.drawn(inner, NUMPY_METHODS)):
                return draw
        for known, function in operators.FUNCTIONS.items():
            if called is known:
                if node.keywords:
                    refuse("a keyword")
                if known not in operators.OF_ITEMS and any(map(self.is_used_up, node.args)):
                    refuse("an iterator as an object")
                parts = [self.used(each) for each in node.args]
                whole = self.combine(function, parts)
                copies = called in (list, tuple) and len(parts) == 1
                return replace(whole, copied=parts[0].copied) if copies else whole
        return self.function_call(node, self.program.code(called))

    def used(self, node: ast.expr) -> Expression:
        """An argument that a function uses up at once."""
        if isinstance(node, ast.GeneratorExp):
            return self.comprehension(node)
        return self.iterable(node) if self.is_iterator(node) else self.peek(node)

    def is_used_up(self, node: ast.expr) -> bool:
        """Whether items come from an iterator, which has no length and is never empty."""
        if isinstance(node, ast.GeneratorExp):
            return True
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        called = self.global_value(node.func.id)
        return called is not range and self.is_iterator(node)

    def is_iterator(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in operators.VIEWS
        if not isinstance(node.func, ast.Name):
            return False
        called = self.global_value(node.func.id)
        return any(called is each for each in operators.ITERATORS)

    def iterable(self, node: ast.expr) -> Expression:
        """The items over which a loop goes."""
        if isinstance(node, ast.Call) and self.is_iterator(node):
            if node.keywords:
                refuse("a keyword")
            if isinstance(node.func, ast.Attribute):
                if node.args:
                    refuse("a method")
                return self.combine(
                    operators.VIEWS[node.func.attr], [self.expression(node.func.value)]
                )
            assert isinstance(node.func, ast.Name)
            called = self.global_value(node.func.id)
            function = next(f for k, f in operators.ITERATORS.items() if k is called)
            if called is reversed and any(map(self.is_used_up, node.args)):
                refuse("the reverse of an iterator")
            # the arguments of zip, enumerate and reversed may be iterators again
            return self.combine(
                function,
                [
                    self.iterable(e) if self.is_iterator(e) else self.expression(e)
                    for e in node.args
                ],
            )
        return self.expression(node)

    def method_call(self, node: ast.Call, called: ast.Attribute) -> Expression:
        base = called.value
        if isinstance(base, ast.Name) and self.global_value(base.id) is math:
            function = getattr(math, called.attr, None)
            if function in operators.FUNCTIONS and not node.keywords:
                return self.combine(
                    operators.FUNCTIONS[function], [self.expression(e) for e in node.args]
                )
        methods = NUMPY_INTEGERS if self.program.numpy else METHODS
        if (value := self.drawn(node, methods)) is not None:
            return value
        if called.attr == "get" and not node.keywords:
            return self.combine(operators.get, [self.peek(base), *map(self.expression, node.args)])
        raise Refused(f"the method {called.attr}")

    def function_call(self, node: ast.Call, code: Code) -> Expression:
        parameters = code.parameters
        values = {name: constantly(value) for name, value in code.defaults.items()}
        if len(node.args) > len(parameters) or any(each.arg is None for each in node.keywords):
            refuse("the arguments of a call")
        for name, each in zip(parameters, node.args, strict=False):
            values[name] = self.expression(each)
        for keyword in node.keywords:
            if keyword.arg in parameters[: len(node.args)]:
                refuse("two values of one parameter")
            values[str(keyword.arg)] = self.expression(keyword.value)
        if set(values) != set(parameters):
            refuse("the arguments of a call")
        listed = [values[name] for name in parameters]
        slot = self.temporary()
        self.add(
            Call(
                union(each.slots for each in listed),
                (slot,),
                [],
                function=code,
                arguments=tuple(each.value for each in listed),
            )
        )
        return self.held(slot)
