"""Whether code does no more with a number than calculate, compare and convert it.

A lazy number stands for an ordinary one in arithmetic, comparisons and conversions, and nowhere
else: type(x), `x is y`, a class pattern or a C function that asks for an exact type would see that
it is a stand-in. So lazy numbers are handed out only to programs all of whose code is plain by the
lists below, read from its instructions before it runs. Other programs get ordinary numbers.
"""

from __future__ import annotations

import builtins
import dis
import math
import random
import re
import struct
import sys
import types
import weakref
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from exactdp.audit.whitebox.instructions import SILENT, call_of

__all__ = ["adds_attributes_only", "objection", "objection_to", "written_in_python"]

_BUILTINS_TEXT = """
abs all any bin bool bytes chr classmethod complex dict divmod enumerate filter float format
frozenset hasattr hash hex int isinstance iter len list map max min next object oct ord pow
print property range repr reversed round set slice sorted staticmethod str super tuple zip
"""
# sum of later ones compensates for the rounding of floats
_BUILTINS = frozenset(_BUILTINS_TEXT.split()) | ({"sum"} if sys.version_info < (3, 12) else set())
_CALLABLES = frozenset(
    {getattr(builtins, name) for name in _BUILTINS}
    | {value for value in vars(math).values() if callable(value) and value is not math.ldexp}
    | {Fraction, random.Random, random.SystemRandom}
)
#: C functions that take nothing but an int.
_STRICT = frozenset({"math.ldexp", "itertools.permutations"})
_MODULES = frozenset({"math", "random", "fractions", "itertools", "contextlib"})
_DATA = (bool, int, float, complex, str, bytes, bytearray, Fraction, range, type(None), type(...))
_DUNDERS = frozenset({"__init__", "__name__", "__doc__", "__enter__", "__exit__", "__len__"})
_HEAP_TYPE = 1 << 9
_POINTER = struct.calcsize("P")
_SINGLETONS = (None, True, False, ..., NotImplemented)


def objection(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """Why a piece of code is not plain, or "". names: its globals, builtins included."""
    if any(type(text) in (str, bytes) and _has_star(text) for text in code.co_consts):
        return f"% with a width of its own in {code.co_name}"
    before: dis.Instruction | None = None
    steps = [step for step in dis.get_instructions(code) if step.opname not in SILENT]
    for i, step in enumerate(steps):
        if _is_module_of_more(steps, i, names):
            why = ""  # what is asked of it is looked at next
        else:
            why = _objection_to_step(step, before, names) or _objection_to_power(steps, i)
        if why:
            return f"{why} in {code.co_name}, line {_line(code, step)}"
        before = step if step.opname != "PRECALL" else before
    return ""


def _is_module_of_more(steps: list[dis.Instruction], i: int, names: Mapping[str, Any]) -> bool:
    """Whether a module is loaded to be asked for something in it, or given it."""
    if not steps[i].opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")) or i + 1 == len(steps):
        return False
    asked = steps[i + 1].opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")
    return asked and isinstance(names.get(steps[i].argval), types.ModuleType)


def _has_star(text: str | bytes) -> bool:
    """Whether a format takes a width, which has to be an int itself."""
    written = text if isinstance(text, str) else text.decode("latin-1")
    return _STAR.search(written) is not None


_STAR = re.compile(r"%(\([^)]*\))?[-#0 +]*(\*|\d*\.\*)")


def _objection_to_power(steps: list[dis.Instruction], i: int) -> str:
    """Where pow() has a modulus, and takes ints alone."""
    if not steps[i].opname.startswith("LOAD_GLOBAL") or steps[i].argval != "pow":
        return ""
    end = call_of(steps, i)
    two = end is not None and steps[end].opname == "CALL" and steps[end].arg == 2
    return "" if two else "pow() of three numbers"


def _objection_to_step(
    step: dis.Instruction, before: dis.Instruction | None, names: Mapping[str, Any]
) -> str:
    name, value = step.opname, step.argval
    if name == "IS_OP":
        return "" if _loads_singleton(before) else "`is`"
    if name.startswith(("MATCH_CLASS", "IMPORT_STAR")):
        return "a class pattern"
    if name == "IMPORT_NAME":
        return "" if value in _MODULES else f"import {value}"
    if name.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
        return objection_to(names[value], value) if value in names else ""
    if name.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")):
        return _objection_to_attribute(str(value), before, names)
    return ""


def _loads_singleton(step: dis.Instruction | None) -> bool:
    if step is None or not step.opname.startswith(("LOAD_CONST", "LOAD_SMALL", "RETURN_CONST")):
        return False
    return any(step.argval is each for each in _SINGLETONS)


def _objection_to_attribute(
    name: str, before: dis.Instruction | None, names: Mapping[str, Any]
) -> str:
    if name.startswith("__") and name not in _DUNDERS:
        return f".{name}"
    if before is None or not before.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
        return ""
    owner = names.get(before.argval)
    if isinstance(owner, type) and owner in _CALLABLES:
        return f"{before.argval}.{name}"  # int.bit_length(x) takes exact ints only
    if isinstance(owner, types.ModuleType) and f"{owner.__name__}.{name}" in _STRICT:
        return f"{owner.__name__}.{name}"
    if isinstance(owner, types.ModuleType) and owner.__name__ not in ("math", "itertools"):
        return objection_to(vars(owner).get(name, owner), f"{before.argval}.{name}")
    return ""


def objection_to(value: Any, name: str) -> str:
    """Why a value that code can reach by name may do more with a number, or ""."""
    if value in _CALLABLES if _hashable(value) else False:
        return ""
    if isinstance(value, types.ModuleType):
        return "" if value.__name__ in _MODULES else name
    if isinstance(value, (types.FunctionType, types.MethodType, types.CodeType, types.CellType)):
        return ""  # read when it runs
    if isinstance(value, (staticmethod, classmethod, property, partial, weakref.ref)):
        return ""  # what it holds is reached as well
    if isinstance(value, type):
        plain = issubclass(value, BaseException) or written_in_python(value) or _makes_types(value)
        return "" if plain else name
    if isinstance(value, (types.MappingProxyType, types.GetSetDescriptorType)):
        return ""
    if isinstance(value, (random.Random, np.random.Generator)):
        return ""  # which draws nothing here, or is ours
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _objection_to_items(value, name)
    if isinstance(value, _DATA) and type(value) in _DATA:
        return ""
    return "" if written_in_python(type(value)) and not callable(value) else name


def _makes_types(value: type) -> bool:
    """Whether a type is one of classes, such as ABCMeta, and written in Python."""
    line = value.__mro__[:-2]
    return issubclass(value, type) and bool(line) and all(map(adds_attributes_only, line))


def _objection_to_items(value: Any, name: str) -> str:
    items: Iterator[Any] = iter(value.values()) if isinstance(value, dict) else iter(value)
    for item in islice(items, 10_000):
        if objection_to(item, name):
            return name
    return name if len(value) > 10_000 else ""


def written_in_python(kind: type) -> bool:
    """A class of the program's own: its methods are read when they run, its instances hold nothing
    but attributes."""
    return all(map(adds_attributes_only, kind.__mro__[:-1]))


def adds_attributes_only(kind: type) -> bool:
    """Made by a class statement, as far as can be told: on the heap, no larger than its slots."""
    grown = kind.__basicsize__ - (kind.__base__ or object).__basicsize__
    slots = 2 + len(vars(kind).get("__slots__", ()))
    return bool(kind.__flags__ & _HEAP_TYPE) and grown <= _POINTER * slots


def _hashable(value: Any) -> bool:
    return isinstance(value, (type, types.BuiltinFunctionType))


def _line(code: types.CodeType, step: dis.Instruction) -> int:
    found = code.co_firstlineno
    for start, line in dis.findlinestarts(code):
        if start > step.offset:
            break
        found = line or found
    return found
