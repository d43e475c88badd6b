"""Draws from the generator."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from exactdp.audit.steps import operators
from exactdp.audit.steps.draws import Drawn, coin
from exactdp.audit.steps.steps import Draw, Expression, Slots
from exactdp.audit.steps.variables import Variables

#: a < b is b > a
_SWAPPED: dict[Any, Any] = {
    operator.lt: operator.gt,
    operator.gt: operator.lt,
    operator.le: operator.ge,
    operator.ge: operator.le,
}
_PURE = (*operators.FUNCTIONS, *operators.ITERATORS)


class Coins(Variables):
    """Translates draws."""

    def draws(self, node: ast.AST) -> bool:
        """Whether a node may draw: it calls something else than a function without draws."""
        if not isinstance(node, ast.Call):
            return False
        return not isinstance(node.func, ast.Name) or self.global_value(node.func.id) not in _PURE

    def draw(
        self, generator: int, reads: frozenset[int], draw: Callable[[Slots], Drawn]
    ) -> Expression:
        slot = self.temporary()
        self.add(Draw(reads | {generator}, (slot,), [], generator=generator, draw=draw))
        return self.held(slot)

    def method(self, node: Any, *names: str) -> int | None:
        """The slot of the variable whose method of one of these names is called, or None."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        base = node.func.value
        if node.func.attr not in names or not isinstance(base, ast.Name) or node.keywords:
            return None
        name = self.local(base.id)
        return None if name is None else self.slot(name)

    def drawn(self, node: ast.Call, methods: dict[str, Callable[..., Drawn]]) -> Expression | None:
        """A call of a method of the generator."""
        generator = self.method(node, *methods)
        if generator is None or not isinstance(node.func, ast.Attribute):
            return None
        arguments = self.combine(
            methods[node.func.attr], [self.expression(each) for each in node.args]
        )
        return self.draw(generator, arguments.slots, arguments.value)

    def coin(self, node: ast.Compare) -> Expression | None:
        """A comparison of random() with a number."""
        test = operators.ORDERS.get(type(node.ops[0]))
        left, right = node.left, node.comparators[0]
        for call, bound, swapped in ((left, right, False), (right, left, True)):
            generator = self.method(call, "random")
            if test is None or generator is None or not isinstance(call, ast.Call) or call.args:
                continue
            return self.tossed(generator, _SWAPPED[test] if swapped else test, bound)
        return None

    def tossed(self, generator: int, test: Callable[..., bool], bound: ast.expr) -> Expression:
        value = self.expression(bound)
        return self.draw(generator, value.slots, lambda slots: coin(test, value.value(slots)))
