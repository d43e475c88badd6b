"""The syntax tree of a function, which must compile to the function's own code."""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from exactdp.audit.steps.values import refuse

Function = ast.FunctionDef | ast.Lambda


def tree_of(function: types.FunctionType) -> Function:
    """The syntax tree of a function.

    The text is compiled again, and the code must be equal: what is read is what runs.
    """
    code = function.__code__
    tree, codes = _file(code.co_filename, tuple(linecache.getlines(code.co_filename)))
    if not any(each == code and _same(each, code) for each in codes):
        refuse("a function whose text is not known")
    trees = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and _begins(node, code)
    ]
    if len(trees) != 1:
        refuse("functions that share a line")
    return trees[0]


@lru_cache(maxsize=64)
def _file(name: str, lines: tuple[str, ...]) -> tuple[ast.AST, list[types.CodeType]]:
    text = "".join(lines)
    try:
        tree = ast.parse(text, name)
        code = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        refuse("a function whose text is not known")
    return tree, list(_nested(code))


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _nested(each)


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two codes do the same: constants of equal value may differ in type."""
    return bool(_parts(one) == _parts(other))


def _parts(code: types.CodeType) -> Any:
    constants = [_parts(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return (
        *(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        *(code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable),
        constants,
    )


def _begins(node: ast.AST, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    decorators = [each.lineno for each in node.decorator_list]
    return min([node.lineno, *decorators]) == code.co_firstlineno
