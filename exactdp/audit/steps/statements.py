"""From statements to steps."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from exactdp.audit.steps import operators
from exactdp.audit.steps.expressions import Expressions
from exactdp.audit.steps.steps import Expression, If, Jump, Next, Return, Set, Slots, union
from exactdp.audit.steps.values import Held, Place, items_of, refuse, shared


class Statements(Expressions):
    """Translates statements."""

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            kind = type(statement)
            method: Any = _STATEMENTS.get(kind)
            if method is None:
                refuse(f"the statement {kind.__name__}")
            method(self, statement)

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _expression(self, statement: ast.Expr) -> None:
        value = statement.value
        if isinstance(value, ast.Constant):
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            base, name = value.func.value, value.func.attr
            if isinstance(base, ast.Name) and name in ("append", "add") and not value.keywords:
                if len(value.args) != 1:
                    refuse("append() of several items")
                change = operators.appended if name == "append" else operators.added
                self.changed(base, change, [self.expression(value.args[0])])
                return
        self.store(self.expression(value))  # it may raise

    def changed(self, base: ast.Name, change: Callable[..., Any], values: list[Expression]) -> None:
        """Change the list or dictionary of a variable."""
        name = self.local(base.id)
        if name is None:
            refuse("a change of a variable of a module")
        slot, parts = self.slot(name), [each.value for each in values]

        def value(slots: Slots) -> Any:
            return change(slots[slot], *(part(slots) for part in parts))

        reads = union(each.slots for each in values)
        grows = None if slot in reads else change
        self.add(Set(reads | {slot}, (slot,), value=value, grows=grows))

    def _assign(self, statement: ast.Assign) -> None:
        if len(statement.targets) != 1:
            refuse("an assignment to several targets")
        target = statement.targets[0]
        value = self.expression(statement.value)
        self.assign(target, value)

    def _annotated(self, statement: ast.AnnAssign) -> None:
        if statement.value is None or not isinstance(statement.target, ast.Name):
            refuse("an annotation")
        self.assign(statement.target, self.expression(statement.value))

    def assign(self, target: ast.expr, value: Expression) -> None:
        if isinstance(target, ast.Subscript):
            base = target.value
            if not isinstance(base, ast.Name):
                refuse("a change of a part of a value")
            place = self.expression(target.slice)
            self.changed(base, operators.replaced, [place, value])
            return
        put, sets = self.target(target)

        def assigned(slots: Slots) -> Any:
            put(slots, value.value(slots))
            return slots[sets[0]]

        copied = value.copied if isinstance(target, ast.Name) else None
        self.add(Set(value.slots, tuple(sets), value=assigned, copied=copied))

    def target(self, target: ast.expr) -> tuple[Callable[[Slots, Any], None], list[int]]:
        """A function that sets the variables of a target, and their slots."""
        if isinstance(target, ast.Name):
            name = self.local(target.id)
            if name is None:
                refuse("an assignment to a variable of a module")
            slot = self.slot(name)

            def put(slots: Slots, value: Any) -> None:
                slots[slot] = value

            return put, [slot]
        if not isinstance(target, ast.Tuple | ast.List) or not target.elts:
            refuse("a target that is no variable")
        parts = [self.target(each) for each in target.elts]

        def put_all(slots: Slots, value: Any) -> None:
            items = items_of(value)
            if len(items) != len(parts):
                refuse("a target of another length")
            for (put_one, _), item in zip(parts, items, strict=True):
                put_one(slots, shared(item))

        return put_all, [slot for _, sets in parts for slot in sets]

    def _augmented(self, statement: ast.AugAssign) -> None:
        function = operators.BINARY.get(type(statement.op))
        if function is None:
            refuse("an operator")
        target = statement.target
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            before: ast.expr = ast.Subscript(target.value, target.slice, ast.Load())
        elif isinstance(target, ast.Name):
            before = ast.Name(target.id, ast.Load())
        else:
            refuse("a target that is no variable")
        if any(isinstance(each, ast.Call) for each in ast.walk(target)):
            refuse("a draw in a target")
        old, new_part = self.expression(before), self.expression(statement.value)

        def value(slots: Slots) -> Any:
            one = old.value(slots)
            if type(one) is Held:
                refuse("a list that grows in place")
            return function(one, new_part.value(slots))

        self.assign(target, Expression(value, old.slots | new_part.slots))

    def _if(self, statement: ast.If) -> None:
        self.either(
            self.expression(statement.test),
            lambda: self.block(statement.body),
            lambda: self.block(statement.orelse),
        )

    def _while(self, statement: ast.While) -> None:
        begin = self.here()
        test = self.expression(statement.test)
        step = self.add(If(test.slots, (), [0, 0], test=test.value))
        step.nexts[0] = self.here()
        self.loops.append((begin, []))
        self.block(statement.body)
        self.add(Jump(frozenset(), (), [begin]))
        step.nexts[1] = self.here()
        _, ends = self.loops.pop()
        self.block(statement.orelse)
        for each in ends:
            each.nexts[0] = self.here()

    def add_loop(self, statement: ast.For) -> None:
        self.loop(
            statement.target, self.iterable(statement.iter), lambda: self.block(statement.body)
        )
        ends = self.ends
        self.block(statement.orelse)
        for each in ends:
            each.nexts[0] = self.here()

    def loop(self, target: ast.expr, items: Expression, body: Callable[[], None]) -> None:
        place = self.store(
            Expression(lambda slots: Place(items_of(items.value(slots))), items.slots)
        )
        put, _ = self.target(target)
        begin = self.here()
        step = self.add(Next(frozenset({place}), (), [0, 0], place=place, assign=put))
        step.nexts[0] = self.here()
        self.loops.append((begin, []))
        body()
        self.add(Jump(frozenset(), (), [begin]))
        step.nexts[1] = self.here()
        _, self.ends = self.loops.pop()

    def _break(self, statement: ast.Break) -> None:
        self.loops[-1][1].append(self.add(Jump(frozenset(), (), [0])))

    def _continue(self, statement: ast.Continue) -> None:
        self.add(Jump(frozenset(), (), [self.loops[-1][0]]))

    def _return(self, statement: ast.Return) -> None:
        self.returned(statement.value or ast.Constant(None))

    def returned(self, value: ast.expr) -> None:
        result = self.peek(value)
        step = self.add(Return(result.slots, (), [], value=result.value, copied=result.copied))
        step.nexts = []


_STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.Pass: Statements._pass,
    ast.Expr: Statements._expression,
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._annotated,
    ast.AugAssign: Statements._augmented,
    ast.If: Statements._if,
    ast.While: Statements._while,
    ast.For: Statements.add_loop,
    ast.Break: Statements._break,
    ast.Continue: Statements._continue,
    ast.Return: Statements._return,
}
