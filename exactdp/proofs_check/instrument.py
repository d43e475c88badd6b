"""Claims rewritten so that every comparison they require reports both sides.

In ``require(a <= b, case)``, in the value a helper returns, and in a name that is required later,
``a <= b`` becomes a call of the recorder; of ``abs(a - b) < tolerance`` and ``a - b >= 0``, it is
given a and b.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from types import CodeType
from typing import Any, TypeGuard

__all__ = ["RECORDER", "Loops", "rewritten"]

RECORDER = "_recorded_by"  # the global name under which a rewritten module finds it

#: (file, first line, name) of a function -> the variables of its for loops.
Loops = dict[tuple[str, int, str], tuple[str, ...]]

_RELATIONS = {"overlaps", "contains", "issubset"}  # of balls and sets
_PASS_ON = {"bool", "all", "any"}  # calls whose arguments are judged in their place


def rewritten(source: str, filename: str) -> tuple[CodeType, Loops]:
    """The code of a module whose comparisons report to its global RECORDER, and its loops."""
    tree = ast.parse(source, filename)
    loops: Loops = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            loops[filename, first, node.name] = tuple(_loop_names(node))
    code = compile(ast.fix_missing_locations(_Rewriter().visit(tree)), filename, "exec")
    return code, loops


def _loop_names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            yield from (n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.required: list[set[str]] = [set()]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.required.append({name for call in _requires(node) for name in _names(call.args[0])})
        visited = self.generic_visit(node)
        self.required.pop()
        return visited

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _is_call(node, {"require"}) and node.args:
            first = node.args[0]
            fresh = [] if any(True for _ in _names(first)) else [_call("enter")]
            node.args[0] = _call("judged", *fresh, _judge(first))
        if _is_call(node, {"always_positive"}):
            return ast.Call(_method("box"), [node.func, *node.args], node.keywords)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value:
            node.value = _judge(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(t, ast.Name) and t.id in self.required[-1] for t in node.targets):
            node.value = _judge(node.value)
        return node


def _requires(function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if _is_call(node, {"require"}) and node.args:
            yield node


def _is_call(node: ast.AST | None, names: Set[str]) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _names(node: ast.expr) -> Iterator[str]:
    """Names whose truth decides: x, not x, bool(x), x and y."""
    if isinstance(node, ast.Name):
        yield node.id
    for part in _parts(node):
        yield from _names(part)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a truth value is made of."""
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return [node.elt]
    if _is_call(node, _PASS_ON):
        return node.args
    return []


class _Judge(ast.NodeTransformer):
    """Replaces the comparisons a truth value is made of, and nothing below them."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Compare):
            return _comparison(node)
        if _is_relation(node):
            return _call("related", node)
        inner = _parts(node) if isinstance(node, ast.expr) else []
        return _Inner(inner).visit(node) if inner else node


def _comparison(node: ast.Compare) -> ast.expr:
    names = [type(op).__name__ for op in node.ops]
    if len(names) == 1:
        absolute = _is_call(node.left, {"abs"})
        inside = node.left.args[0] if _is_call(node.left, {"abs"}) else node.left
        bound = node.comparators[0]
        zero = isinstance(bound, ast.Constant) and bound.value == 0
        if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Sub) and (absolute or zero):
            how = "gap" if absolute else "difference"
            return _call(how, ast.Constant(names[0]), inside.left, inside.right, bound)
    return _call("compare", ast.Constant(" ".join(names)), node.left, *node.comparators)


def _is_relation(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _RELATIONS
    )


class _Inner(ast.NodeTransformer):
    def __init__(self, chosen: list[ast.expr]) -> None:
        self.chosen = {id(node) for node in chosen}

    def visit(self, node: ast.AST) -> Any:
        return _judge(node) if id(node) in self.chosen else self.generic_visit(node)


def _judge(node: Any) -> Any:
    return _Judge().visit(node)


def _method(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(RECORDER, ast.Load()), name, ast.Load())


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(_method(name), list(args), [])
