"""Where code may tell one type of generator from another, which C answers and nobody sees.

What stands in for random.Random is a SystemRandom here, whatever production hands over, and what
stands in for a numpy Generator has a type of its own.
"""

from __future__ import annotations

import dis
import random
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.instructions import SILENT, call_of, consumer

__all__ = ["is_generator_type", "kinship"]

#: Of which every generator is an instance that a program may be given for them.
_COMMON = (random.Random, np.random.Generator)
_NUMBERS = frozenset(map(number_of, (*_COMMON, random.SystemRandom)))


def is_generator_type(thing: Any) -> bool:
    """Whether a thing is a type that a program may compare its generator's with."""
    return number_of(thing) in _NUMBERS


def kinship(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """Where code does more with the type of a generator than to call its methods, or "".

    To ask whether something is a random.Random, or a Generator, is fine: the answer is always yes.
    names: the globals of the code, builtins included.
    """
    steps = [s for s in dis.get_instructions(code) if s.opname not in SILENT]
    found: Any = None
    for i, step in enumerate(steps):
        if found is np.random and step.argval == "default_rng" and not _is_only_called(steps, i):
            return "numpy's default_rng() without calling it"
        if step.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
            found = names.get(step.argval)
        elif step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            if found is type:
                return f"type.{step.argval}"
            found = getattr(found, step.argval, None) if _is_module(found) else None
        else:
            found = None
        if is_generator_type(found) and not _harmless(steps, i, found):
            return f"the type {found.__name__} of generators: the program may tell its own by it"
        if isinstance(found, np.ufunc) and _leaves_gaps(code, steps, i):
            return f"{found.__name__}(where=...) without out= shows what happens to be in memory"
        if _is_unset(found) and _is_called(steps, i):
            return f"a new {found.__name__} shows what happens to be in memory"
    return ""


def _is_module(thing: Any) -> bool:
    return isinstance(thing, types.ModuleType)


def _is_unset(thing: Any) -> bool:
    return isinstance(thing, type) and np.ndarray in type.mro(thing)


def _leaves_gaps(code: types.CodeType, steps: list[dis.Instruction], end: int) -> bool:
    """Whether a ufunc is called with where=, and without an array for what that leaves out."""
    place = consumer(steps, end)
    if place is None or not steps[place].opname.startswith(("CALL", "PRECALL")):
        return False
    if steps[place].opname == "CALL_FUNCTION_EX":
        return "where" in {text for each in code.co_consts for text in _texts(each)}
    before = steps[place - 1]
    names = _texts(code.co_consts[before.arg or 0]) if before.opname in _WITH_NAMES else ()
    return "where" in names and "out" not in names


_WITH_NAMES = ("KW_NAMES", "LOAD_CONST")


def _texts(constant: Any) -> tuple[Any, ...]:
    return constant if type(constant) is tuple else (constant,)


def _is_called(steps: list[dis.Instruction], end: int) -> bool:
    """Whether a type that has been loaded is called, or asked for its __new__."""
    place = consumer(steps, end)
    if place is None:
        return False
    if steps[place].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return str(steps[place].argval) == "__new__"
    if not steps[place].opname.startswith(("CALL", "PRECALL")):
        return False
    between = steps[end + 1 : place]
    pushed = sum(dis.stack_effect(s.opcode, s.arg, jump=False) for s in between)
    arguments = 1 if steps[place].opname == "CALL_FUNCTION_EX" else steps[place].arg or 0
    return pushed >= arguments  # else it is one of them


def _is_only_called(steps: list[dis.Instruction], end: int) -> bool:
    """Whether an attribute that is named is loaded, and called at once."""
    asked = (steps[end].opname, steps[consumer(steps, end) or end].opname)
    return asked[0].startswith("LOAD") and asked[1].startswith(_CALLS) and _is_called(steps, end)


_CALLS = ("CALL", "PRECALL")


def _harmless(steps: list[dis.Instruction], end: int, kind: type) -> bool:
    """Whether a type that has been loaded is asked for a method, called, or is one that
    isinstance() may be asked about."""
    place = consumer(steps, end)
    if place is not None and steps[place].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return not str(steps[place].argval).startswith("__")
    if kind is not np.random.Generator and _is_called(steps, end):
        return True  # a new one: refused where it is made
    if place is not None and steps[place].opname == "BUILD_TUPLE":
        place = consumer(steps, place)
    if place is None or kind not in _COMMON:
        return False
    if steps[place].opname == "PRECALL":
        place += 1
    asking = (i for i in range(end) if steps[i].opname.startswith("LOAD_GLOBAL"))
    return any(call_of(steps, i) == place for i in asking if steps[i].argval == "isinstance")
