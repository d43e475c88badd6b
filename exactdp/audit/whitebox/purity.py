"""Which C functions depend on their arguments alone, and which code reaches others.

Clocks, files, processes, threads and other generators are C functions in the end. They are refused
when they are called, and already where code names them: handed to map, partial or sorted they would
be called by C, which nobody sees.
"""

from __future__ import annotations

import _random
import dis
import types
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from exactdp.audit.whitebox.plainness import written_in_python

__all__ = ["impurity", "impurity_in", "is_salted", "named", "salted_order"]

#: Modules of C functions and types that depend on their arguments alone.
_PURE = frozenset(
    """
    _abc _bisect _blake2 _codecs _collections _collections_abc _contextvars _csv _datetime _decimal
    _functools _hashlib _heapq _json _md5 _operator _pickle _sha1 _sha2 _sha256 _sha512 _sre
    _statistics _string _struct _weakref array binascii builtins cmath collections datetime decimal
    flint functools gmpy2 itertools math numpy operator re types unicodedata weakref zlib
    """.split()  # noqa: SIM905
)
_IMPURE = frozenset(
    [("builtins", name) for name in ("breakpoint", "globals", "hash", "id", "input", "open")]
    + [("datetime", name) for name in ("now", "today", "utcnow")]
    + [
        ("builtins", "__hash__"),
        ("_thread", "get_ident"),
        ("numpy", "empty"),
        ("numpy", "empty_like"),
    ]
)
_ALSO_PURE = frozenset(
    [("posix", "fspath"), ("sys", "exc_info"), ("sys", "exception")]
    + [("sys", "getrecursionlimit"), ("sys", "getsizeof"), ("sys", "intern")]
    + [("_thread", name) for name in ("allocate_lock", "RLock", "lock", "_local")]
)
_ORDERLESS = frozenset(
    ("all", "any", "frozenset", "isinstance", "len", "max", "min", "set", "sorted")
)
_SET_METHODS = (
    frozenset(vars(set))
    - {"__iter__", "copy", "pop"}
    - {"difference", "intersection", "symmetric_difference", "union"}
)


def impurity(function: Any) -> str:
    """Why a function written in C may depend on more than its arguments, or ""."""
    owner, name = getattr(function, "__self__", None), function.__name__
    if isinstance(owner, _random.Random):
        return f"{name}() of another generator"
    if owner is None or isinstance(owner, types.ModuleType):
        module = str(function.__module__ or "")
    else:
        kind: type = type(owner)
        return _impurity_of_method(owner if isinstance(owner, type) else None, kind, name)
    return _impurity_in_module(module, name)


@lru_cache(maxsize=1 << 12)
def _impurity_of_method(owner: type | None, kind: type, name: str) -> str:
    """owner: the class, if the method is one of a class itself."""
    line = (*(owner.__mro__ if owner is not None else ()), *kind.__mro__)
    found = next((base for base in line if name in vars(base)), line[0])
    pure = (found.__module__, found.__name__) in _ALSO_PURE
    return "" if pure else _impurity_in_module(found.__module__, name)


@lru_cache(maxsize=1 << 12)
def _impurity_in_module(module: str, name: str) -> str:
    top = module.partition(".")[0]
    if "rand" in name.lower():  # generators inside of flint, gmpy2 and numpy
        return f"{module}.{name}()"
    if (top in _PURE and (top, name) not in _IMPURE) or (top, name) in _ALSO_PURE:
        return ""
    return f"{module}.{name}()"


def impurity_in(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """The first impure function that code names, by itself or as an attribute, or ""."""
    constants = (each if type(each) is tuple else (each,) for each in code.co_consts)
    texts = {text for each in constants for text in each if type(text) is str}
    for text in sorted(_TOLD & texts):
        return f"{text} as a text"
    if {"now", "today"} & texts and any("datetime64" in text for text in (*texts, *code.co_names)):
        return "datetime64('now')"
    if why := _looks_at_stand_ins(code, names):
        return why
    for name, value in named(code, names):
        function = getattr(value, "__func__", value)
        python = isinstance(function, (types.FunctionType, types.ModuleType, type))
        random = "rand" in name.lower() and callable(value) and not python
        address = name == "ctypes" and not isinstance(value, types.ModuleType)  # of an array
        if name in _TELLING or random or address:
            return f"{name}()"
        if isinstance(function, types.FunctionType) and function.__module__ == "threading":
            return f"{name}()"
        if name == "hash" or not isinstance(value, types.BuiltinFunctionType):
            continue  # hash() is replaced while a program runs
        if why := impurity(value):
            return why
    return ""


#: Attributes by which code looks at its process, or at the variables of other code.
_TELLING = frozenset(
    {
        "__hash__",
        "cache_info",
        "f_back",
        "f_builtins",
        "f_code",
        "f_globals",
        "f_locals",
        "gi_frame",
    }
    | {"__code__", "__func__", "__self__", "tb_frame"}
    | {"__array_interface__", "__array_struct__"}  # addresses
)
#: Texts by which a function in C would be told from one in Python, a generator from a module.
_TOLD = _TELLING | {"SystemRandom", "randbelow", "randbits", "token_bytes"}


def _looks_at_stand_ins(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """Whether code asks what hash() or repr() is, which are replaced while a program runs."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in (*_SILENT, "PRECALL")]
    for asked, step in pairwise(s for s in steps if s.opname != "PUSH_NULL"):
        stands_in = step.opname.startswith("LOAD_GLOBAL") and step.argval in ("hash", "repr")
        asks = asked.opname.startswith("LOAD_GLOBAL") and asked.argval in _ASKING
        if stands_in and asks:
            return f"{asked.argval}({step.argval})"
    return ""


_ASKING = frozenset({"callable", "dir", "getattr", "hasattr", "isinstance", "type", "vars"})


def named(code: types.CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The globals that code reads or writes, and the attributes of modules and C types among them.

    A name without a value comes with None.
    """
    owner: Any = None
    for name, of_what in _references(code):
        if of_what == "globals":
            owner = names.get(name)
        else:
            known = of_what == "the last" and (
                isinstance(owner, types.ModuleType) or _is_c_type(owner)
            )
            owner = getattr(owner, name, None) if known else None
        yield name, owner


@lru_cache(maxsize=1 << 14)
def _references(code: types.CodeType) -> tuple[tuple[str, str], ...]:
    """The globals and attributes that code names: of the globals, the last named or something else.

    Code does not change, and it is asked after every run.
    """
    found, follows = [], False
    for step in dis.get_instructions(code):
        if step.opname.startswith(_OF_GLOBALS):
            found.append((str(step.argval), "globals"))
            follows = True
        elif step.opname.startswith(_OF_OWNERS):
            found.append((str(step.argval), "the last" if follows else "something"))
        elif step.opname not in _SILENT:
            follows = False
    return tuple(found)


_OF_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_OF_OWNERS = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")


def _is_c_type(kind: Any) -> bool:
    return isinstance(kind, type) and not written_in_python(kind)


def salted_order(code: types.CodeType, values: Mapping[str, Any], outermost: bool) -> str:
    """Where code may look at the order of a set of text, another one in every process, or "".

    values: the globals, arguments and closure of the code; sets among them are looked at as well.
    outermost: whether what it returns is the outcome, and nothing that other code looks at.
    A set may be asked what is in it, counted, sorted, compared or returned. Sets of numbers keep
    their order.
    """
    if code.co_name == "<setcomp>":
        return ""  # looked at where it is called
    steps = [s for s in dis.get_instructions(code) if s.opname not in _SILENT]
    ends = {i: _end_of_set(steps, i) for i in range(len(steps))}
    made = [(i, end) for i, end in ends.items() if end is not None]
    stores = [steps[end + 1] for _, end in made if end + 1 < len(steps)]
    kept = {s.argval for s in stores if s.opname in ("STORE_FAST", "STORE_DEREF")}
    kept |= {name for name, value in values.items() if _is_set_of_text(value)}
    made += [(i, i) for i, s in enumerate(steps) if _loads(s) and s.argval in kept]
    made += [(i, i) for i in range(1, len(steps)) if _joins_keys(steps, i)]
    returns = outermost and code.co_name not in (*code.co_names, *code.co_freevars)
    for i, end in made:
        if not _orderless(steps, i, end, returns):
            return f"the order of a set in {code.co_name}"
    return ""


def _loads(step: dis.Instruction) -> bool:
    return step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME"))


def _is_set_of_text(value: Any) -> bool:
    return isinstance(value, (set, frozenset)) and len(value) > 1 and any(map(is_salted, value))


def _joins_keys(steps: list[dis.Instruction], i: int) -> bool:
    """Whether two views of keys become a set here."""
    near = [s for s in steps[max(0, i - 8) : i] if s.opname in ("LOAD_METHOD", "LOAD_ATTR")]
    return steps[i].opname == "BINARY_OP" and any(s.argval in ("keys", "items") for s in near)


_SILENT = frozenset(["CACHE", "RESUME", "NOP", "EXTENDED_ARG", "COPY_FREE_VARS"])


def _end_of_set(steps: list[dis.Instruction], i: int) -> int | None:
    """The last instruction that makes a set of text begun at i, if one is."""
    step = steps[i]
    if isinstance(step.argval, types.CodeType) and step.argval.co_name == "<setcomp>":
        return next((j for j in range(i, len(steps)) if steps[j].opname == "CALL"), None)
    if step.opname == "BUILD_SET":
        parts = steps[max(0, i - (step.arg or 0)) : i]
        grown = i + 2 < len(steps) and steps[i + 2].opname == "SET_UPDATE"
        if grown:
            return i + 2 if is_salted(steps[i + 1].argval) else None
        numbers = all(p.opname.startswith("LOAD_CONST") and not is_salted(p.argval) for p in parts)
        return None if step.arg and numbers else i
    if step.opname.startswith("LOAD_CONST") and isinstance(step.argval, frozenset):
        consumed = i + 1 < len(steps) and steps[i + 1].opname == "SET_UPDATE"
        return None if consumed or not is_salted(step.argval) else i
    if step.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")) and step.argval in ("set", "frozenset"):
        return _call_of(steps, i)
    return None


def _call_of(steps: list[dis.Instruction], i: int) -> int | None:
    """The call of what is loaded at i: after it, nothing but its result is on the stack."""
    depth = 0
    for j in range(i, len(steps)):
        depth += dis.stack_effect(steps[j].opcode, steps[j].arg, jump=False)
        if steps[j].opname.startswith("CALL") and depth <= 1:
            return j
        if steps[j].opname == "CALL" and depth <= 2:
            return j
    return None


def _orderless(steps: list[dis.Instruction], start: int, end: int, returns: bool) -> bool:
    """Whether a set that is made or loaded from start to end is used without regard to order.

    returns: whether it may be returned.
    """
    place = _consumer(steps, end)
    if place is None:
        return False
    user = steps[place]
    if user.opname == "BINARY_OP" and place != end:  # a union, say: a set again
        return _orderless(steps, start, place, returns)
    if user.opname in ("LOAD_METHOD", "LOAD_ATTR"):
        return str(user.argval) in _SET_METHODS
    if user.opname.startswith(("CALL", "PRECALL")):
        named = "KW" in user.opname or any(s.opname == "KW_NAMES" for s in steps[end:place])
        return _callee(steps, start) in _ORDERLESS and not named  # a key has ties
    if user.opname.startswith(("STORE_FAST", "STORE_DEREF")):
        return True  # looked at where it is loaded
    if user.opname == "RETURN_VALUE":
        return returns
    return user.opname in _ANSWERS or user.opname.startswith("POP_JUMP")


_ANSWERS = frozenset(["CONTAINS_OP", "COMPARE_OP", "POP_TOP", "SET_ADD"])


_PUSHES = ("LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_GLOBAL")


def _consumer(steps: list[dis.Instruction], end: int) -> int | None:
    """Where the value on top of the stack after an instruction is taken from it."""
    depth = 1
    for j in range(end + 1, len(steps)):
        pushes = steps[j].opname.startswith(
            ("LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_GLOBAL")
        )
        if depth == 1 and not pushes and steps[j].opname not in ("PUSH_NULL", "COPY"):
            return j
        depth += dis.stack_effect(steps[j].opcode, steps[j].arg, jump=False)
        if depth <= 1 and not pushes:
            return j
    return None


def _callee(steps: list[dis.Instruction], i: int) -> str:
    near = [s.argval for s in steps[max(0, i - 4) : i] if s.opname.startswith("LOAD_GLOBAL")]
    return str(near[-1]) if near else ""


def is_salted(value: Any) -> bool:
    """Whether the hash of a value may differ from process to process: all but those of numbers."""
    if type(value) in (tuple, frozenset):
        return any(map(is_salted, value))
    return type(value) not in _NUMBERS and not isinstance(value, np.number)


_NUMBERS = frozenset({bool, int, float, complex, Fraction, Decimal})
