"""What the source of a function shows: what it may change, and where its variables are its state.

That is at the first call of a statement: nothing waits on the function's stack but what the
statement has read from variables. Statements in `for`, `with` and `except` blocks are left out,
because an iterator, a context manager or an exception waits there.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import Any

from exactdp.audit.code.lines import is_program

__all__ = ["Changes", "Code", "code_of"]

_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_INNER = (*_FUNCTIONS, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: Functions that tell which variables have a value.
_READERS = {"dir", "eval", "exec", "locals", "vars"}


class Changes(IntEnum):
    """What a function may change by its own statements, beside its variables."""

    NOTHING = 0
    ITS_OBJECT = 1  # attributes of its first argument
    ANYTHING = 2


@dataclass(frozen=True)
class Code:
    """What is known of a function; nothing, without its source.

    code: kept, so that its id stays its own. is_still: whether it calls nothing that changes
    anything. is_program: whether it is one of the program's. reassigned: its arguments that are set
    anew.
    augmented: the variables that it changes by operators such as +=, which change a list in place.
    starts: the first calls of statements, by the offset of the instruction, with the called name.
    """

    code: types.CodeType
    is_still: bool = False
    is_program: bool = False
    changes: Changes = Changes.ANYTHING
    reassigned: frozenset[str] = frozenset()
    augmented: frozenset[str] = frozenset()
    starts: dict[int, str] = field(default_factory=dict)


def code_of(code: types.CodeType) -> Code:
    """What is known of a function."""
    mine = is_program(code.co_filename)
    if code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>"):  # part of the one around it
        return Code(code, False, mine, Changes.NOTHING)
    nodes, codes = _source(code.co_filename)
    found = nodes.get((code.co_firstlineno, code.co_name), [])
    if code.co_flags & _SUSPENDED or not found or code not in codes:
        return Code(code, False, mine)
    own = [node for each in found for node in _own(each)]
    stored = frozenset(n.id for n in own if isinstance(n, ast.Name) and not _is_read(n))
    augmented = (n.target for n in own if isinstance(n, ast.AugAssign))
    return Code(
        code,
        False,
        mine,
        max(_change(node, code, stored) for node in own),
        stored.intersection(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]),
        frozenset(target.id for target in augmented if isinstance(target, ast.Name)),
        _starts(found[0], own, code) if mine and len(found) == 1 else {},
    )


@lru_cache(maxsize=1 << 8)
def _source(file: str) -> tuple[dict[tuple[int, str], list[Any]], frozenset[types.CodeType]]:
    """The functions of a source file, by first line and name; and their codes, because the file
    may have changed since it was imported."""
    nodes: dict[tuple[int, str], list[Any]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
        codes = frozenset(_codes(compile(tree, file, "exec", dont_inherit=True)))
    except (SyntaxError, ValueError, RecursionError):
        return {}, frozenset()
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            line = min(each.lineno for each in [node, *getattr(node, "decorator_list", [])])
            nodes.setdefault((line, getattr(node, "name", "<lambda>")), []).append(node)
    return nodes, codes


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _own(function: ast.AST) -> Iterator[Any]:
    """The nodes of a function, without those of functions inside it."""
    todo = [function]
    while todo:
        node = todo.pop()
        yield node
        todo += [each for each in ast.iter_child_nodes(node) if not isinstance(each, _INNER)]


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _change(node: ast.AST, code: types.CodeType, stored: frozenset[str]) -> Changes:
    """What one node of a function may change."""
    match node:
        case ast.Global() | ast.Nonlocal() | ast.keyword(arg="out"):  # numpy fills out=
            return Changes.ANYTHING
        case ast.For(iter=ast.Attribute()) | ast.comprehension(iter=ast.Attribute()):
            return Changes.ANYTHING  # an iterator that is kept goes on where it was left
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            own = name in code.co_varnames or name in code.co_cellvars
            return Changes.NOTHING if own else Changes.ANYTHING
        case ast.Attribute(value=ast.Name(id=name)) if not _is_read(node):
            mine = name in code.co_varnames[: min(code.co_argcount, 1)] and name not in stored
            return Changes.ITS_OBJECT if mine else Changes.ANYTHING
        case ast.Attribute() | ast.Subscript() if not _is_read(node):
            return Changes.ANYTHING
    return Changes.NOTHING


def _starts(function: ast.AST, own: list[Any], code: types.CodeType) -> dict[int, str]:
    if not isinstance(function, ast.FunctionDef):
        return {}
    if any(isinstance(n, ast.NamedExpr) or _tells_apart(n) for n in own):
        return {}
    calls = [call for call in _first_calls(function.body) if isinstance(call, ast.Call)]
    found: dict[Any, str] = {
        (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset): getattr(
            call.func, "id", getattr(call.func, "attr", "")
        )
        for call in calls
    }
    places = enumerate(code.co_positions())
    return {2 * i: found[place] for i, place in places if place in found}


def _tells_apart(node: ast.AST) -> bool:
    """Whether code asks which variables have a value, or which of two equal values it has (`is`,
    but for None and the like)."""
    if not isinstance(node, ast.Compare):
        return isinstance(node, ast.Name) and node.id in _READERS
    asks = any(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops)
    return asks and not all(isinstance(each, ast.Constant) for each in node.comparators)


def _first_calls(block: list[ast.stmt]) -> Iterator[ast.AST | None]:
    """Of each statement, the call that is evaluated first."""
    for statement in block:
        if isinstance(statement, (ast.If, ast.While)):
            yield _first_call(statement.test)
            yield from _first_calls([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            yield from _first_calls(statement.body)
        elif isinstance(
            statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
        ):
            yield _first_call(statement.value) if statement.value else None


def _first_call(expression: ast.AST) -> ast.AST | None:
    """The call that is evaluated first; or a function or comprehension, if that comes first."""
    if isinstance(expression, (*_INNER, *_COMPREHENSIONS)):
        return expression
    for child in ast.iter_child_nodes(expression):
        if (found := _first_call(child)) is not None:
            return found
    return expression if isinstance(expression, ast.Call) else None
