"""From expressions to the steps before them, and a function of the variables."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from exactdp.audit.steps import operators
from exactdp.audit.steps.calls import Calls
from exactdp.audit.steps.comprehensions import loop_of
from exactdp.audit.steps.steps import Call, Expression, If, Jump, Set, union
from exactdp.audit.steps.values import SCALARS, new, read, refuse, shared
from exactdp.audit.steps.variables import constantly


class Expressions(Calls):
    """Translates operators."""

    def expression(self, node: ast.expr) -> Expression:
        method: Any = _EXPRESSIONS.get(type(node))
        if method is None:
            refuse(f"the expression {type(node).__name__}")
        result: Expression = method(self, node)
        return result

    def _constant(self, node: ast.Constant) -> Expression:
        if type(node.value) not in SCALARS:
            refuse("a constant")
        return constantly(node.value)

    def _name(self, node: ast.Name) -> Expression:
        name = self.local(node.id)
        if name is not None:
            return self.load(name)
        return constantly(read(self.global_value(node.id)))

    def _binary(self, node: ast.BinOp) -> Expression:
        function = operators.BINARY.get(type(node.op))
        if function is None:
            refuse("an operator")
        if sum(self.draws(each) for each in ast.walk(node)) > 1 and self.code.name != "a sum":
            return self.outlined(node)
        return self.combine(function, [self.expression(node.left), self.expression(node.right)])

    def outlined(self, node: ast.expr) -> Expression:
        """A sum of several draws, as a function of its own: its law has fewer values than draws."""
        read_names = {
            self.local(each.id) for each in ast.walk(node) if isinstance(each, ast.Name)
        } - {None}
        names = sorted(str(each) for each in read_names if str(each) in self.slots)
        part = self.part(names, "a sum")
        part.returned(node)
        arguments = tuple(self.load(each) for each in names)
        slot = self.temporary()
        self.add(
            Call(
                union(each.slots for each in arguments),
                (slot,),
                [],
                function=part.finish(),
                arguments=tuple(each.value for each in arguments),
            )
        )
        return self.held(slot)

    def _unary(self, node: ast.UnaryOp) -> Expression:
        return self.combine(operators.UNARY[type(node.op)], [self.peek(node.operand)])

    def _bool(self, node: ast.BoolOp) -> Expression:
        slot = self.temporary()
        both = isinstance(node.op, ast.And)
        ends = []
        for place, each in enumerate(node.values):
            value = self.expression(each)
            self.add(Set(value.slots, (slot,), value=value.value))
            if place < len(node.values) - 1:
                step = If(frozenset({slot}), (), [0, 0], test=lambda slots: slots[slot])
                self.add(step)
                step.nexts[0 if both else 1] = self.here()
                ends.append(step)
        for step in ends:
            step.nexts[1 if both else 0] = self.here()
        return self.held(slot)

    def _if_expression(self, node: ast.IfExp) -> Expression:
        slot = self.temporary()

        def put(part: ast.expr) -> None:
            value = self.expression(part)
            self.add(Set(value.slots, (slot,), value=value.value))

        self.either(self.peek(node.test), lambda: put(node.body), lambda: put(node.orelse))
        return self.held(slot)

    def either(
        self, test: Expression, then: Callable[[], None], otherwise: Callable[[], None]
    ) -> None:
        step = self.add(If(test.slots, (), [0, 0], test=test.value))
        step.nexts[0] = self.here()
        then()
        end = self.add(Jump(frozenset(), (), [0]))
        step.nexts[1] = self.here()
        otherwise()
        end.nexts[0] = self.here()

    def _compare(self, node: ast.Compare) -> Expression:
        if len(node.ops) == 1 and (coin := self.coin(node)) is not None:
            return coin
        parts = [node.left, *node.comparators]
        if any(isinstance(each, ast.Call) for part in parts[2:] for each in ast.walk(part)):
            refuse("a chain of comparisons with a call")
        tests = [operators.COMPARISONS[type(op)] for op in node.ops]

        def compare(*values: Any) -> bool:
            pairs = zip(tests, values, values[1:], strict=False)
            return all(test(one, other) for test, one, other in pairs)

        return self.combine(compare, [self.peek(part) for part in parts])

    def _subscript(self, node: ast.Subscript) -> Expression:
        return self.combine(operators.element, [self.peek(node.value), self.expression(node.slice)])

    def _tuple(self, node: ast.Tuple) -> Expression:
        return self.combine(
            lambda *items: tuple(map(shared, items)), [self.expression(e) for e in node.elts]
        )

    def _list(self, node: ast.List) -> Expression:
        return self.combine(
            lambda *items: new(list, items), [self.expression(e) for e in node.elts]
        )

    def _dict(self, node: ast.Dict) -> Expression:
        if any(each is None for each in node.keys):
            refuse("a dictionary of others")
        keys = [self.expression(each) for each in node.keys if each is not None]
        values = [self.expression(each) for each in node.values]
        count = len(keys)
        return self.combine(
            lambda *parts: new(dict, zip(parts[:count], parts[count:], strict=True)),
            [*keys, *values],
        )

    def _set(self, node: ast.Set) -> Expression:
        return self.combine(lambda *items: new(set, items), [self.expression(e) for e in node.elts])

    def comprehension(self, node: Any) -> Expression:
        """A comprehension fills a list of its own, with variables of its own."""
        kind = {ast.DictComp: dict, ast.SetComp: set}.get(type(node), list)
        filled = f"<{self.temporary()}>"  # no name of a renamed variable
        self.add(Set(frozenset(), (self.slot(filled),), value=lambda slots: new(kind, ())))
        self.add_loop(loop_of(node, filled, self.temporary()))
        return self.held(self.slot(filled))


_EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._bool,
    ast.IfExp: Expressions._if_expression,
    ast.Compare: Expressions._compare,
    ast.Call: Expressions._call,
    ast.Subscript: Expressions._subscript,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Dict: Expressions._dict,
    ast.Set: Expressions._set,
    ast.ListComp: Expressions.comprehension,
    ast.DictComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
}
