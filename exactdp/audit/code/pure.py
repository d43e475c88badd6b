"""Whether source shows that code only computes and draws.

Such code reads its variables, constants, and other functions of this kind; it calls their methods,
and it changes no attribute and no variable of others. A value that it meets is a number, a text, a
container, the generator, or one of the objects and functions that it was given, whose methods are
looked at, too.
"""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
import types
from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, getattr_static
from typing import Any

from exactdp.audit.code.keys import is_generator, is_immutable

_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_FORBIDDEN = (
    *(ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.With, ast.AsyncWith),
    *(ast.AsyncFor, ast.Import, ast.ImportFrom, ast.ClassDef, ast.AsyncFunctionDef, ast.Match),
)
_MODULES = {"math", "cmath", "operator", "_operator", "itertools"}
_BUILTINS_TEXT = """
abs all any bin bool bytes chr complex dict divmod enumerate filter float frozenset int isinstance
len list map max min ord pow range reversed round set sorted str sum tuple zip
"""
_NO_OPERATORS = {"__init__", "__new__", "__post_init__", "__repr__", "__str__", "__init_subclass__"}
_ALLOWED = {getattr(builtins, name) for name in _BUILTINS_TEXT.split()} | {Fraction}

#: Expressions in which something else may wait on the stack, or whose order is not the text's.
_UNCLEAR = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.NamedExpr, ast.Dict),
)
#: A variable of a module (given by its dictionary), or an attribute of a module or class.
Constant = tuple[Any, str]


class _Impure(Exception):
    """Code may do more than compute and draw."""


def constants(
    node: ast.AST,
    code: types.CodeType,
    module: dict[str, Any],
    kinds: Collection[type],
    functions: Collection[types.FunctionType],
) -> list[Constant] | None:
    """The constants that code reads, if it only computes and draws; else None.

    node: of a function with this code and module, or a statement of it. kinds, functions: classes
    of the objects, and the functions, that it may meet as values.
    """
    reader, seen = _Reader(kinds, functions), {code}
    try:
        reader.read(node, code, module)
        while reader.functions:
            function = reader.functions.pop()
            inner, code = function_node(function.__code__), function.__code__
            defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()
            if inner is None or function.__closure__ or not is_immutable(defaults):
                return None
            if code not in seen:
                seen.add(code)
                reader.read(inner, code, function.__globals__)
    except _Impure:
        return None
    return reader.constants


class _Reader:
    """Collects the constants that functions read, and the functions that these meet."""

    def __init__(self, kinds: Collection[type], functions: Collection[types.FunctionType]) -> None:
        self._kinds, self._met_functions = kinds, functions
        self.constants: list[Constant] = []
        self.functions = [*functions, *(each for kind in kinds for each in _operators(kind))]

    def read(self, node: ast.AST, code: types.CodeType, module: dict[str, Any]) -> None:
        """Read the code of one function; raises _Impure if it does more than compute and draw."""
        nodes = list(ast.walk(node))
        if code.co_flags & _SUSPENDED or any(map(_is_forbidden, nodes[1:])):
            raise _Impure
        holders = {name: module if name in module else vars(builtins) for name in _globals(code)}
        for each in nodes:
            if isinstance(each, ast.Name) and each.id in holders:
                value = holders[each.id].get(each.id)
                if not isinstance(value, types.ModuleType):  # else its attribute is noted
                    self._note(holders[each.id], each.id, value)
            elif isinstance(each, ast.Attribute):
                base = each.value.id if isinstance(each.value, ast.Name) else ""
                of = holders[base].get(base) if base in holders else None
                if isinstance(of, (types.ModuleType, types.FunctionType, type)):
                    self._note(of, each.attr, getattr(of, each.attr, None))
                else:
                    self._note_members(each.attr)

    def _note_members(self, name: str) -> None:
        """Note an attribute of one of the objects or functions; which of them has it is unknown."""
        for function in self._met_functions:
            if name in vars(function):
                self._note(function, name, vars(function)[name])
        for kind in self._kinds:
            member = getattr_static(kind, name, self)
            if member is not self:
                member = getattr(member, "fget", getattr(member, "__func__", member))
                self._note(kind, name, member)

    def _note(self, holder: Any, name: str, value: Any) -> None:
        if is_immutable(value):
            self.constants.append((holder, name))
        elif isinstance(value, types.FunctionType):
            self.functions.append(value)
        elif not _is_harmless(value):
            raise _Impure


def _operators(kind: type) -> list[types.FunctionType]:
    """What operators and calls of an object may call; not what dataclasses generate."""
    members = [each for k in kind.__mro__[:-1] for each in vars(k).items()]
    special = [m for name, m in members if name.startswith("__") and name not in _NO_OPERATORS]
    functions = [each for each in special if isinstance(each, types.FunctionType)]
    return [each for each in functions if each.__code__.co_filename != "<string>"]


def _is_forbidden(node: ast.AST) -> bool:
    # `is` may tell two equal values apart: it is allowed with constants such as None only
    if isinstance(node, ast.Compare):
        asks = any(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops)
        return asks and not all(isinstance(each, ast.Constant) for each in node.comparators)
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return True
    if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
        return True  # such as __dict__ and __defaults__
    return isinstance(node, (*_FORBIDDEN, ast.FunctionDef))


def _globals(code: types.CodeType) -> set[str]:
    """The variables of its module that code, and lambdas in this code, read."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD_GLOBAL")}
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return names.union(*map(_globals, inner))


def _is_harmless(value: Any) -> bool:
    """Whether a value of a module can be called or used, and nothing is changed by it."""
    if is_generator(value):
        return True
    if isinstance(value, type) and issubclass(value, BaseException):
        return True
    of = getattr(value, "__module__", None)
    return (isinstance(value, (type, types.BuiltinFunctionType)) and of in _MODULES) or (
        isinstance(value, (type, types.BuiltinFunctionType)) and value in _ALLOWED
    )


# -- source ----------------------------------------------------------------------------------------


def function_node(code: types.CodeType) -> Any:
    """The syntax of a function; None without its source."""
    nodes, codes = _source(code.co_filename)
    candidates = nodes.get((code.co_firstlineno, code.co_name), [])
    return candidates[0] if len(candidates) == 1 and code in codes else None


def assigned(node: ast.AST) -> frozenset[str]:
    """The variables that are set, or deleted, in the syntax of a function."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if not isinstance(each.ctx, ast.Load))


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
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            line = min(each.lineno for each in [node, *getattr(node, "decorator_list", [])])
            nodes.setdefault((line, getattr(node, "name", "<lambda>")), []).append(node)
    return nodes, codes


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def loop_at(code: types.CodeType, offset: int) -> ast.While | None:
    """The outermost loop around an instruction, if the instruction is the first call of a statement
    in it.

    Nothing waits on the function's stack then but what the statement has read from variables. A
    statement in a `for`, `with` or `except` block is none of these: an iterator, a context manager
    or an exception waits there.
    """
    return _loops(code).get(offset)


@lru_cache(maxsize=1 << 12)
def _loops(code: types.CodeType) -> dict[int, ast.While]:
    if not any("JUMP_BACKWARD" in each.opname for each in dis.get_instructions(code)):
        return {}  # no loop: its file need not be read
    node = function_node(code)
    if not isinstance(node, ast.FunctionDef):
        return {}
    loops: dict[Any, ast.While] = {}
    for loop, call in _first_calls(node.body, None):
        if loop is not None and isinstance(call, ast.Call):
            loops[call.lineno, call.end_lineno, call.col_offset, call.end_col_offset] = loop
    places = enumerate(code.co_positions())
    return {2 * i: loops[place] for i, place in places if place in loops}


def _first_calls(block: list[ast.stmt], loop: ast.While | None) -> Iterator[tuple[Any, Any]]:
    """Of each statement, the outermost loop around it and the call that is evaluated first."""
    for statement in block:
        if isinstance(statement, (ast.If, ast.While)):
            around = loop or (statement if isinstance(statement, ast.While) else None)
            yield around, _first_call(statement.test)
            yield from _first_calls([*statement.body, *statement.orelse], around)
        elif isinstance(statement, ast.Try):
            yield from _first_calls(statement.body, loop)
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
            yield loop, _first_call(statement.value) if statement.value else None


def _first_call(expression: ast.AST) -> ast.AST | None:
    """The call that is evaluated first and not of a harmless builtin; or what makes it unclear."""
    if isinstance(expression, _UNCLEAR):
        return expression
    for child in ast.iter_child_nodes(expression):
        if (first := _first_call(child)) is not None:
            return first
    if isinstance(expression, ast.Call):
        name = getattr(expression.func, "id", None)
        return None if name in (*_BUILTINS_TEXT.split(), "Fraction") else expression
    return None
