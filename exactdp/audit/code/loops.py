"""What the instructions of a function say about its loops: what is carried along, what changes."""

from __future__ import annotations

import dis
import enum
import types
from dataclasses import dataclass
from functools import lru_cache
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)

__all__ = ["Call", "Changes", "arguments", "calls", "changes_of", "reassigns"]

_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
#: What reads variables that the instructions do not name.
_READERS = frozenset({"dir", "eval", "exec", "locals", "super", "vars"})
_STORES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "STORE_DEREF", "STORE_NAME")
_DELETES = ("DELETE_ATTR", "DELETE_SUBSCR", "DELETE_GLOBAL", "DELETE_DEREF", "DELETE_NAME")
_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
_ELSEWHERE = ("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")


@dataclass(frozen=True)
class Call:
    """A call that leaves nothing but its result on the stack.

    path: what is called, a variable and attributes of it. live: the variables that may be read
    afterwards. changes: whether a loop through the call changes more than the function's own
    variables.
    """

    path: tuple[str, ...]
    live: frozenset[str]
    changes: bool


class Changes(enum.Enum):
    """What a function may change by what it does itself, beside its own variables."""

    NOTHING = 0
    ITS_OBJECT = 1  # attributes of its first argument, as methods do with self
    ANYTHING = 2


@lru_cache(maxsize=1 << 12)
def changes_of(code: types.CodeType) -> Changes:
    """What a function may change by what it does itself."""
    if code.co_flags & _SUSPENDED:
        return Changes.ANYTHING
    steps = list(dis.get_instructions(code))
    found = [i for i in range(len(steps)) if _changes(steps, i)]
    if not found:
        return Changes.NOTHING
    depths = _depths(steps, _ways(steps))
    own = code.co_varnames[:1] if code.co_argcount else ()
    only = all(_object_of_store(steps, depths, i) in own for i in found)
    return Changes.ITS_OBJECT if only and not reassigns(code) else Changes.ANYTHING


def arguments(code: types.CodeType) -> tuple[str, ...]:
    """The names of a function's arguments."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_varnames[:count]


@lru_cache(maxsize=1 << 12)
def reassigns(code: types.CodeType) -> bool:
    """Whether a function gives one of its arguments another value, or deletes it."""
    steps = [
        s for s in dis.get_instructions(code) if s.opname.startswith(("STORE_FAST", "DELETE_FAST"))
    ]
    return not set(arguments(code)).isdisjoint(name for step in steps for name in _names(step))


def _names(step: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction on local variables names."""
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _object_of_store(steps: list[dis.Instruction], depths: dict[int, int], i: int) -> str | None:
    """The variable that an instruction stores an attribute of, if it does so."""
    if steps[i].opname != "STORE_ATTR" or steps[i].is_jump_target:
        return None
    read = i - 1
    if steps[read].opname == "SWAP":  # self.n += 1: self waits on the stack below the result
        read = next(j for j in range(read, -1, -1) if depths.get(j) == depths[i] - 2)
        if steps[read + 1].opname != "COPY" or steps[read + 1].is_jump_target:
            return None
    loads = steps[read].opname.startswith("LOAD_FAST") or steps[read].opname.endswith("LOAD_FAST")
    return _names(steps[read])[-1] if loads else None


def _changes(steps: list[dis.Instruction], i: int) -> bool:
    step = steps[i]
    if step.opname.startswith((*_STORES, *_DELETES)):
        return True
    if step.opname.startswith("KW_NAMES") or step.opname == "LOAD_CONST":
        return type(step.argval) is tuple and "out" in step.argval  # numpy fills what it is given
    # an iterator that is kept elsewhere goes on where it was left
    return step.opname == "GET_ITER" and i > 0 and steps[i - 1].opname.startswith(_ELSEWHERE)


@lru_cache(maxsize=1 << 12)
def calls(code: types.CodeType) -> dict[int, Call]:
    """The calls of a function that find nothing on its stack, by their offsets."""
    steps = list(dis.get_instructions(code))
    if code.co_flags & _SUSPENDED or any(map(_tells_apart, steps, steps[1:])):
        return {}
    ways = _ways(steps)
    depths, live = _depths(steps, ways), _live(steps, ways)
    # an exception may lead anywhere, and a closure read at any time
    everything = bool(code.co_exceptiontable) or not _READERS.isdisjoint(code.co_names)
    always = {*code.co_cellvars, *code.co_freevars, *(code.co_varnames if everything else ())}
    found: dict[int, Call] = {}
    for i, step in enumerate(steps[:-1]):
        path = _path(steps, depths, i) if depths.get(i + 1) == 1 else ()
        if path and step.opname in ("CALL", "CALL_KW"):
            loop = _reached(ways, i) & _reached(_reversed(ways), i)
            call = Call(
                path, frozenset(live[i + 1] | always), any(_changes(steps, j) for j in loop)
            )
            # a frame stands at the instruction, or in the room for notes behind it
            found |= dict.fromkeys(range(step.offset, steps[i + 1].offset), call)
    return found


def _tells_apart(before: dis.Instruction, step: dis.Instruction) -> bool:
    """Whether code asks which of two equal values it has (`is`, but for None, True and False)."""
    single = before.opname == "LOAD_CONST" and isinstance(before.argval, bool | None)
    return step.opname == "IS_OP" and not single


def _path(steps: list[dis.Instruction], depths: dict[int, int], i: int) -> tuple[str, ...]:
    """What the call at i calls, if it is named and waits on the stack until then, or ()."""
    begin = next((j for j in range(i, -1, -1) if depths.get(j) == 0), i)
    between = steps[begin : i + 1]
    if any(_target(s) is not None or (j and s.is_jump_target) for j, s in enumerate(between)):
        return ()
    loads = [s for s in between if s.opname != "PUSH_NULL"]
    if not loads or not loads[0].opname.startswith(("LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF")):
        return ()
    path = [str(loads[0].argval)]
    for step in loads[1:]:
        if step.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        path.append(str(step.argval))
    named = begin + len(path) + (between[0].opname == "PUSH_NULL")
    return tuple(path) if all(depths.get(j, 0) > 1 for j in range(named, i + 1)) else ()


def _target(step: dis.Instruction) -> int | None:
    jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
    return int(step.argval) if jumps else None


Ways = list[list[tuple[int, bool]]]


def _ways(steps: list[dis.Instruction]) -> Ways:
    """The instructions that may follow each, and whether by a jump; exceptions left out."""
    places = {step.offset: i for i, step in enumerate(steps)}
    ways: Ways = []
    for i, step in enumerate(steps):
        goes_on = i + 1 < len(steps) and not step.opname.startswith(_ENDS)
        ways.append([(i + 1, False)] if goes_on else [])
        if (jump := _target(step)) is not None:
            ways[-1].append((places[jump], True))
    return ways


def _reversed(ways: Ways) -> Ways:
    back: Ways = [[] for _ in ways]
    for i, following in enumerate(ways):
        for j, jumped in following:
            back[j].append((i, jumped))
    return back


def _reached(ways: Ways, start: int) -> set[int]:
    """The instructions that can follow one, directly or later."""
    found: set[int] = set()
    todo = [start]
    while todo:
        new = {j for j, _ in ways[todo.pop()]} - found
        found |= new
        todo += new
    return found


def _depths(steps: list[dis.Instruction], ways: Ways) -> dict[int, int]:
    """How many values are on the stack before each instruction, exception handlers left out."""
    depths, todo = {0: 0}, [0]
    while todo:
        i = todo.pop()
        step = steps[i]
        argument = step.arg if step.opcode >= dis.HAVE_ARGUMENT else None
        for j, jumped in ways[i]:
            depth = depths[i] + dis.stack_effect(step.opcode, argument, jump=jumped)
            if j not in depths:
                depths[j] = depth
                todo.append(j)
    return depths


def _live(steps: list[dis.Instruction], ways: Ways) -> list[frozenset[str]]:
    """The variables that may be read before they are set anew, before each instruction."""
    live: list[frozenset[str]] = [frozenset()] * (len(steps) + 1)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(steps))):
            after = frozenset().union(*(live[j] for j, _ in ways[i]))
            now = _before(steps[i], after)
            changed, live[i] = changed or now != live[i], now
    return live


def _before(step: dis.Instruction, after: frozenset[str]) -> frozenset[str]:
    if "_FAST" not in step.opname:
        return after
    names = _names(step)
    if step.opname in ("STORE_FAST", "STORE_FAST_STORE_FAST"):
        return after - set(names)
    if step.opname == "STORE_FAST_LOAD_FAST":
        return (after | {names[1]}) - {names[0]}
    return after | set(names)
