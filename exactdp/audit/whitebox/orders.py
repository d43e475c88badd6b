"""Where code may look at the order of a set of text, another one in every process.

Which order a set shows depends on the hashes of what is in it, and those of text on the seed of the
process. It is read from the instructions: what a set is used for must not depend on its order.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.whitebox.atoms import is_nan
from exactdp.audit.whitebox.instructions import SILENT, call_of, consumer

__all__ = [
    "is_salted",
    "is_set_of_text",
    "looked_at",
    "returns_a_set",
    "salted_order",
]

_ORDERLESS = frozenset(
    ("all", "any", "frozenset", "isinstance", "len", "max", "min", "set", "sorted")
)
_SET_METHODS = (
    frozenset(vars(set))
    - {"__iter__", "copy", "pop"}
    - {"difference", "intersection", "symmetric_difference", "union"}
)


def salted_order(code: types.CodeType, values: Mapping[str, Any]) -> str:
    """Where code may look at the order of a set of text, another one in every process, or "".

    values: the globals, arguments and closure of the code; sets among them are looked at as well.
    Where a set is returned to other code, :func:`looked_at` is asked at every call.
    A set may be asked what is in it, counted, sorted, compared or returned. Sets of numbers keep
    their order.
    """
    if code.co_name == "<setcomp>":
        return ""  # looked at where it is called
    steps = [s for s in dis.get_instructions(code) if s.opname not in SILENT]
    ends = {i: _end_of_set(steps, i) for i in range(len(steps))}
    made = [(i, end) for i, end in ends.items() if end is not None]
    stores = [steps[end + 1] for _, end in made if end + 1 < len(steps)]
    kept = {s.argval for s in stores if s.opname in ("STORE_FAST", "STORE_DEREF")}
    kept |= {name for name, value in values.items() if is_set_of_text(value)}
    made += [(i, i) for i, s in enumerate(steps) if _loads(s) and s.argval in kept]
    made += [(i, i) for i in range(1, len(steps)) if _joins_keys(steps, i)]
    for i, end in made:
        if not _orderless(steps, i, end):
            return f"the order of a set in {code.co_name}"
    return ""


def returns_a_set(code: types.CodeType, values: Mapping[str, Any]) -> bool:
    """Whether code may return a set of text: it makes one, or has one among its values."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in SILENT]
    return any(map(is_set_of_text, values.values())) or any(
        _end_of_set(steps, i) is not None or _joins_keys(steps, i) for i in range(len(steps))
    )


def looked_at(frame: types.FrameType, ends: Callable[[types.FrameType], bool]) -> bool:
    """Whether code may look into what a call that begins will return, before it is the outcome.

    ends: whether a frame is that of who takes the outcome.
    """
    caller = frame.f_back
    while caller is not None and not ends(caller):
        steps = [s for s in dis.get_instructions(caller.f_code) if s.opname not in SILENT]
        # a frame stands at the instruction, or in the room for notes behind it
        call = sum(s.offset <= caller.f_lasti for s in steps) - 1
        if not steps[call].opname.startswith("CALL"):
            return True
        place = consumer(steps, call)
        if place is None or steps[place].opname not in (*_ANSWERS, "RETURN_VALUE"):
            return True
        if steps[place].opname != "RETURN_VALUE":
            return False
        caller = caller.f_back
    return False


def _loads(step: dis.Instruction) -> bool:
    return step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME"))


def is_set_of_text(value: Any) -> bool:
    """Whether a value is a set whose order may differ from process to process."""
    return isinstance(value, (set, frozenset)) and len(value) > 1 and any(map(is_salted, value))


def _joins_keys(steps: list[dis.Instruction], i: int) -> bool:
    """Whether two views of keys become a set here."""
    near = [s for s in steps[max(0, i - 8) : i] if s.opname in ("LOAD_METHOD", "LOAD_ATTR")]
    return steps[i].opname == "BINARY_OP" and any(s.argval in ("keys", "items") for s in near)


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
        return call_of(steps, i)
    return None


def _orderless(steps: list[dis.Instruction], start: int, end: int) -> bool:
    """Whether a set that is made or loaded from start to end is used without regard to order."""
    place = consumer(steps, end)
    if place is None:
        return False
    user = steps[place]
    if user.opname == "BINARY_OP" and place != end:  # a union, say: a set again
        return _orderless(steps, start, place)
    if user.opname in ("LOAD_METHOD", "LOAD_ATTR"):
        return str(user.argval) in _SET_METHODS
    if user.opname.startswith(("CALL", "PRECALL")):
        named = "KW" in user.opname or any(s.opname == "KW_NAMES" for s in steps[end:place])
        return _callee(steps, start) in _ORDERLESS and not named  # a key has ties
    if user.opname.startswith(("STORE_FAST", "STORE_DEREF")):
        return True  # looked at where it is loaded
    return user.opname in (*_ANSWERS, "RETURN_VALUE") or user.opname.startswith("POP_JUMP")


_ANSWERS = frozenset(["CONTAINS_OP", "COMPARE_OP", "POP_TOP", "SET_ADD"])


def _callee(steps: list[dis.Instruction], i: int) -> str:
    near = [s.argval for s in steps[max(0, i - 4) : i] if s.opname.startswith("LOAD_GLOBAL")]
    return str(near[-1]) if near else ""


def is_salted(value: Any) -> bool:
    """Whether the hash of a value may differ from process to process: all but those of numbers."""
    if type(value) in (tuple, frozenset):
        return any(map(is_salted, value))
    if is_nan(value):
        return True  # by its address
    return type(value) not in _NUMBERS and not isinstance(value, np.number)


_NUMBERS = frozenset({bool, int, float, complex, Fraction, Decimal})
