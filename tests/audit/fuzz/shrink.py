"""A failing program made as small as it can be while it still fails."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator


def smallest(source: str, fails: Callable[[str], bool], attempts: int = 2000) -> str:
    """Greedy: drop a statement or put a part of an expression in its place, as long as it fails."""
    shrunk = True
    while shrunk:
        shrunk = False
        for candidate in _simpler(source):
            attempts -= 1
            if attempts < 0:
                return source
            if fails(candidate):
                source, shrunk = candidate, True
                break
    return source


def _simpler(source: str) -> Iterator[str]:
    """Shorter programs, one change each, the boldest first."""
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for i in range(len(value)):
                    yield from _edited(tree, place, name, [*value[:i], *value[i + 1 :]], source)
                    inner = getattr(value[i], "body", [])
                    if inner and not isinstance(value[i], ast.FunctionDef):
                        yield from _edited(
                            tree, place, name, [*value[:i], *inner, *value[i + 1 :]], source
                        )
            elif isinstance(value, ast.expr):
                parts = [part for part in ast.walk(value) if isinstance(part, ast.expr)][1:]
                for part in [*parts, ast.Constant(0), ast.Constant(1)]:
                    yield from _edited(tree, place, name, part, source)


def _edited(tree: ast.AST, place: int, name: str, value: object, source: str) -> Iterator[str]:
    other = copy.deepcopy(tree)
    for i, node in enumerate(ast.walk(other)):
        if i == place:
            setattr(node, name, copy.deepcopy(value))
            break
    try:
        text = ast.unparse(ast.fix_missing_locations(other)) + "\n"
        compile(text, "shrunk", "exec")
    except (SyntaxError, ValueError, TypeError, AttributeError):
        return
    if len(text) < len(source):
        yield text
