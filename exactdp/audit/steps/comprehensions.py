"""A comprehension as a loop, with names of its own for the variables that it sets."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import Any

from exactdp.audit.steps.values import refuse


def loop_of(node: Any, filled: str, number: int) -> ast.For:
    """The loop that fills a variable with the items of a comprehension.

    number: what makes the names of its variables its own.
    """
    name = ast.Name(filled, ast.Load())
    if isinstance(node, ast.DictComp):
        target = ast.Subscript(name, node.key, ast.Store())
        body: ast.stmt = ast.Assign([target], node.value)
    else:
        method = ast.Attribute(
            name, "add" if isinstance(node, ast.SetComp) else "append", ast.Load()
        )
        body = ast.Expr(ast.Call(method, [node.elt], []))
    for part in reversed(node.generators):
        if part.is_async:
            refuse("an asynchronous loop")
        for test in reversed(part.ifs):
            body = ast.If(test, [body], [])
        body = ast.For(part.target, part.iter, [body], [])
    return _rename(body, number)


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
