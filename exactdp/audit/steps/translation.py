"""From the syntax tree of a function to its steps. What is not on a closed list is refused."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import types
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from exactdp.audit.steps import expressions
from exactdp.audit.steps.draws import METHODS, NUMPY_METHODS, Drawn, coin
from exactdp.audit.steps.source import tree_of
from exactdp.audit.steps.steps import (
    Call,
    Code,
    Draw,
    Expression,
    If,
    Jump,
    Next,
    Return,
    Set,
    Slots,
    union,
)
from exactdp.audit.steps.values import (
    SCALARS,
    UNSET,
    Held,
    Place,
    Refused,
    items_of,
    new,
    read,
    refuse,
    shared,
)

_PURE = (*expressions.FUNCTIONS, *expressions.ITERATORS)
_MISSING = object()


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


def _constantly(value: Any) -> Expression:
    return Expression(lambda slots: value)


class _Translator:
    """Translates one function, or a part of it: steps are added at the end."""

    def __init__(self, program: Program, function: types.FunctionType, name: str = "") -> None:
        self.program, self.function = program, function
        code = function.__code__
        self.locals = {*code.co_varnames, *code.co_cellvars}
        self.code = Code(name or function.__qualname__)
        self.slots: dict[str, int] = {}
        self.width = 0
        self.loops: list[tuple[int, list[Jump]]] = []

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

    def finish(self) -> Code:
        self.code.finish(self.width)
        return self.code

    # -- variables and steps ---------------------------------------------------------------------

    def slot(self, name: str) -> int:
        if name not in self.slots:
            self.slots[name] = self.temporary()
        return self.slots[name]

    def temporary(self) -> int:
        self.width += 1
        return self.width - 1

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

    # -- statements ------------------------------------------------------------------------------

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
                change = expressions.appended if name == "append" else expressions.added
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

        reads = union(each.slots for each in values) | {slot}
        self.add(Set(reads, (slot,), value=value))

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
            self.changed(base, expressions.replaced, [place, value])
            return
        put, sets = self.target(target)

        def assigned(slots: Slots) -> Any:
            put(slots, value.value(slots))
            return slots[sets[0]]

        self.add(Set(value.slots, tuple(sets), value=assigned))

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
        function = expressions.BINARY.get(type(statement.op))
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

    def _for(self, statement: ast.For) -> None:
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
        step = self.add(Return(result.slots, (), [], value=result.value))
        step.nexts = []

    def draws(self, node: ast.AST) -> bool:
        """Whether a node may draw: it calls something else than a function without draws."""
        if not isinstance(node, ast.Call):
            return False
        return not isinstance(node.func, ast.Name) or self.global_value(node.func.id) not in _PURE

    # -- expressions -----------------------------------------------------------------------------

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

        return Expression(value, frozenset({slot}))

    def global_value(self, name: str) -> Any:
        """The value of a name that is no local variable."""
        if self.local(name) is not None:
            return _MISSING
        function: Any = self.function
        if name in function.__code__.co_freevars:
            place = function.__code__.co_freevars.index(name)
            try:
                return (function.__closure__ or ())[place].cell_contents
            except ValueError:
                return _MISSING
        if type(function.__globals__) is not dict or type(function.__builtins__) is not dict:
            return _MISSING
        inside = function.__globals__
        return inside[name] if name in inside else function.__builtins__.get(name, _MISSING)

    def peek(self, node: ast.expr) -> Expression:
        """An expression whose value is used up at once."""
        if isinstance(node, ast.Name) and (name := self.local(node.id)) is not None:
            return self.load(name, keep=True)
        return self.expression(node)

    def expression(self, node: ast.expr) -> Expression:
        method: Any = _EXPRESSIONS.get(type(node))
        if method is None:
            refuse(f"the expression {type(node).__name__}")
        result: Expression = method(self, node)
        return result

    def _constant(self, node: ast.Constant) -> Expression:
        if type(node.value) not in SCALARS:
            refuse("a constant")
        return _constantly(node.value)

    def _name(self, node: ast.Name) -> Expression:
        name = self.local(node.id)
        if name is not None:
            return self.load(name)
        return _constantly(read(self.global_value(node.id)))

    def combine(self, function: Callable[..., Any], parts: list[Expression]) -> Expression:
        values = [part.value for part in parts]
        return Expression(
            lambda slots: function(*[value(slots) for value in values]),
            union(part.slots for part in parts),
        )

    def _binary(self, node: ast.BinOp) -> Expression:
        function = expressions.BINARY.get(type(node.op))
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

    def held(self, slot: int) -> Expression:
        """What a step has put into a slot."""
        return Expression(lambda slots: slots[slot], frozenset({slot}))

    def _unary(self, node: ast.UnaryOp) -> Expression:
        return self.combine(expressions.UNARY[type(node.op)], [self.peek(node.operand)])

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

    def _compare(self, node: ast.Compare) -> Expression:
        if len(node.ops) == 1 and (coin := self.coin(node)) is not None:
            return coin
        parts = [node.left, *node.comparators]
        if any(isinstance(each, ast.Call) for part in parts[2:] for each in ast.walk(part)):
            refuse("a chain of comparisons with a call")
        tests = [expressions.COMPARISONS[type(op)] for op in node.ops]

        def compare(*values: Any) -> bool:
            pairs = zip(tests, values, values[1:], strict=False)
            return all(test(one, other) for test, one, other in pairs)

        return self.combine(compare, [self.peek(part) for part in parts])

    def coin(self, node: ast.Compare) -> Expression | None:
        """A comparison of random() with a number."""
        test = expressions.ORDERS.get(type(node.ops[0]))
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

    def method(self, node: Any, *names: str) -> int | None:
        """The slot of the variable whose method of one of these names is called, or None."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        base = node.func.value
        if node.func.attr not in names or not isinstance(base, ast.Name) or node.keywords:
            return None
        name = self.local(base.id)
        return None if name is None else self.slot(name)

    def draw(
        self, generator: int, reads: frozenset[int], draw: Callable[[Slots], Drawn]
    ) -> Expression:
        slot = self.temporary()
        self.add(Draw(reads | {generator}, (slot,), [], generator=generator, draw=draw))
        return self.held(slot)

    def drawn(self, node: ast.Call, methods: dict[str, Callable[..., Drawn]]) -> Expression | None:
        """A call of a method of the generator."""
        generator = self.method(node, *methods)
        if generator is None or not isinstance(node.func, ast.Attribute):
            return None
        arguments = self.combine(
            methods[node.func.attr], [self.expression(each) for each in node.args]
        )
        return self.draw(generator, arguments.slots, arguments.value)

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
        for known, function in expressions.FUNCTIONS.items():
            if called is known:
                if node.keywords:
                    refuse("a keyword")
                if known not in expressions.OF_ITEMS and any(map(self.is_used_up, node.args)):
                    refuse("an iterator as an object")
                parts = [self.used(each) for each in node.args]
                return self.combine(function, parts)
        return self.function_call(node, self.program.code(called))

    def used(self, node: ast.expr) -> Expression:
        """An argument that a function uses up at once."""
        if isinstance(node, ast.GeneratorExp):
            return self._comprehension(node)
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
            return node.func.attr in expressions.VIEWS
        if not isinstance(node.func, ast.Name):
            return False
        called = self.global_value(node.func.id)
        return any(called is each for each in expressions.ITERATORS)

    def iterable(self, node: ast.expr) -> Expression:
        """The items over which a loop goes."""
        if isinstance(node, ast.Call) and self.is_iterator(node):
            if node.keywords:
                refuse("a keyword")
            if isinstance(node.func, ast.Attribute):
                if node.args:
                    refuse("a method")
                return self.combine(
                    expressions.VIEWS[node.func.attr], [self.expression(node.func.value)]
                )
            assert isinstance(node.func, ast.Name)
            called = self.global_value(node.func.id)
            function = next(f for k, f in expressions.ITERATORS.items() if k is called)
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
            if function in expressions.FUNCTIONS and not node.keywords:
                return self.combine(
                    expressions.FUNCTIONS[function], [self.expression(e) for e in node.args]
                )
        if not self.program.numpy and (value := self.drawn(node, METHODS)) is not None:
            return value
        if called.attr == "get" and not node.keywords:
            return self.combine(
                expressions.get, [self.peek(base), *map(self.expression, node.args)]
            )
        raise Refused(f"the method {called.attr}")

    def function_call(self, node: ast.Call, code: Code) -> Expression:
        parameters = code.parameters
        values = {name: _constantly(value) for name, value in code.defaults.items()}
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

    def _subscript(self, node: ast.Subscript) -> Expression:
        return self.combine(
            expressions.element, [self.peek(node.value), self.expression(node.slice)]
        )

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

    def _comprehension(self, node: Any) -> Expression:
        """A comprehension, as a loop that fills a list of its own, with variables of its own."""
        kind = {ast.DictComp: dict, ast.SetComp: set}.get(type(node), list)
        filled = f"<{self.temporary()}>"  # no name of a renamed variable
        self.add(Set(frozenset(), (self.slot(filled),), value=lambda slots: new(kind, ())))
        name = ast.Name(filled, ast.Load())
        if kind is dict:
            target = ast.Subscript(name, node.key, ast.Store())
            body: ast.stmt = ast.Assign([target], node.value)
        else:
            method = ast.Attribute(name, "add" if kind is set else "append", ast.Load())
            body = ast.Expr(ast.Call(method, [node.elt], []))
        for part in reversed(node.generators):
            if part.is_async:
                refuse("an asynchronous loop")
            for test in reversed(part.ifs):
                body = ast.If(test, [body], [])
            body = ast.For(part.target, part.iter, [body], [])
        loop = _rename(body, self.temporary())
        self._for(loop)
        return self.held(self.slot(filled))


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _rename(loop: Any, number: int) -> ast.For:
    """A comprehension's loops, with other names for the variables that they set.

    What the first loop is over is evaluated outside, with the names there.
    """
    loops, each = [], loop
    while isinstance(each, ast.For):
        loops.append(each)
        each = each.body[0]
        while isinstance(each, ast.If):
            each = each.body[0]
    variables = {n.id for f in loops for n in ast.walk(f.target) if isinstance(n, ast.Name)}
    names = {name: f"<{name} {number}>" for name in variables}
    renaming = _Renaming(names)
    copy = deepcopy(loop)
    first = copy.iter
    copy.iter = ast.Constant(None)
    renamed: ast.For = renaming.visit(copy)
    renamed.iter = first
    return renamed


_STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.Pass: _Translator._pass,
    ast.Expr: _Translator._expression,
    ast.Assign: _Translator._assign,
    ast.AnnAssign: _Translator._annotated,
    ast.AugAssign: _Translator._augmented,
    ast.If: _Translator._if,
    ast.While: _Translator._while,
    ast.For: _Translator._for,
    ast.Break: _Translator._break,
    ast.Continue: _Translator._continue,
    ast.Return: _Translator._return,
}
_EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Constant: _Translator._constant,
    ast.Name: _Translator._name,
    ast.BinOp: _Translator._binary,
    ast.UnaryOp: _Translator._unary,
    ast.BoolOp: _Translator._bool,
    ast.IfExp: _Translator._if_expression,
    ast.Compare: _Translator._compare,
    ast.Call: _Translator._call,
    ast.Subscript: _Translator._subscript,
    ast.Tuple: _Translator._tuple,
    ast.List: _Translator._list,
    ast.Dict: _Translator._dict,
    ast.Set: _Translator._set,
    ast.ListComp: _Translator._comprehension,
    ast.DictComp: _Translator._comprehension,
    ast.SetComp: _Translator._comprehension,
}
#: a < b is b > a
_SWAPPED: dict[Any, Any] = {
    operator.lt: operator.gt,
    operator.gt: operator.lt,
    operator.le: operator.ge,
    operator.ge: operator.le,
}
