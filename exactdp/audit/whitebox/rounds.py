"""Rejected rounds: a run that comes back to where it was before its first draw need not go on.

Whatever follows has the law that the program had from the start: what is left of the law is known.
A place is the call of a function; it is the same one when nothing that follows can tell it apart:

- the same activation of the same code, at the same call of the same function, which finds nothing
  of the caller's on the evaluation stack (no iterator, no half-finished sum)
- arguments, and the caller's variables that may still be read, of equal types and values; all its
  variables are numbers, text, tuples of them or the generator: nothing that can be changed in place
- everything that the program reaches is as it was before the first run, and no code of the program
  was called in between that may have held anything else
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)
from typing import Any

import numpy as np

from exactdp.audit.whitebox.generators import ExactRandom
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.numpy_generators import ExactGenerator
from exactdp.audit.whitebox.outcomes import key_of
from exactdp.audit.whitebox.plainness import written_in_python
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.samplers.enumeration import EnumeratingSource

__all__ = ["Rounds", "exact_key", "is_generator", "is_plain"]

#: By number: a type that is veiled does not like to be compared.
_GENERATORS = frozenset(map(number_of, (ExactRandom, ExactGenerator, EnumeratingSource)))
_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction),
    *(np.int64, np.float64, np.bool_),
)

_attribute = getattr  # as it is when no program runs
_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
#: What reads variables that the instructions do not name.
_READERS = frozenset({"dir", "eval", "exec", "locals", "super", "vars"})


class Rounds:
    """The places where a run has been before its first draw.

    unchanged: whether all that the program reaches is as it was before the first run. places: by
    the number of a frame and the place in its code.
    """

    def __init__(self, unchanged: Callable[[], bool]) -> None:
        self._unchanged = unchanged
        self._pristine: list[bool] = []  # by the order of the places, the same in every run
        self.places: dict[int, dict[int, set[Hashable]]] = {}
        self._count = 0
        self._calls: dict[int, tuple[types.CodeType, dict[int, _Call]]] = {}  # by the code's number

    def begin(self) -> None:
        """A run begins."""
        self.places.clear()
        self._count = 0

    def note(self, frame: types.FrameType) -> None:
        """A call begins, and nothing has been drawn."""
        caller = frame.f_back
        if caller is None or (state := self._state(frame, caller)) is None:
            return
        if self._count == len(self._pristine):
            self._pristine.append(self._unchanged())
        if self._pristine[self._count]:
            inside = self.places.setdefault(number_of(caller), {})
            inside.setdefault(caller.f_lasti, set()).add(state)
        self._count += 1

    def comes_back(self, frame: types.FrameType) -> bool:
        """Whether a call begins where the run has been before its first draw."""
        caller = frame.f_back
        if caller is None or not (
            states := self.places.get(number_of(caller), {}).get(caller.f_lasti)
        ):
            return False
        return self._state(frame, caller) in states and self._unchanged()

    def beware(self, frame: types.FrameType) -> None:
        """A call begins that may be given, or hold, what can be changed: from a registry, perhaps,
        where nobody sees it. No place so far is known to be as it was."""
        if not all(map(_harmless, frame.f_locals.values())):
            self.places.clear()

    def leave(self, frame: types.FrameType) -> None:
        """A call ends; another one may be given its number."""
        self.places.pop(number_of(frame), None)

    def _state(self, frame: types.FrameType, caller: types.FrameType) -> Hashable:
        """All that the future of a call may depend on beside what the program reaches; None where
        that cannot be told."""
        call = self._calls_of(caller.f_code).get(caller.f_lasti)
        if call is None:
            return None
        variables = dict(caller.f_locals)
        function = call.function(variables, caller)
        if _attribute(function, "__code__", None) is not frame.f_code:
            return None  # called by something in between, which may have a state of its own
        if not all(map(_harmless, variables.values())):
            return None
        try:
            still_read = [
                (n, exact_key(variables[n])) for n in sorted(call.live & variables.keys())
            ]
            return function, tuple(still_read), tuple(map(exact_key, _arguments(frame)))
        except NotEnumerable:
            return None

    def _calls_of(self, code: types.CodeType) -> dict[int, _Call]:
        if (known := self._calls.get(number_of(code))) is None:
            known = self._calls[number_of(code)] = code, _calls(code)
        return known[1]


def _harmless(value: Any) -> bool:
    return is_plain(value) or is_generator(value) or isinstance(value, LazyNumber)


def is_generator(value: Any) -> bool:
    """Whether a value is one of the generators that programs are given here."""
    return number_of(type(value)) in _GENERATORS


def is_plain(value: Any) -> bool:
    """Whether a value is a number, text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in _ATOMS


def exact_key(value: Any) -> Hashable:
    """Equal only for values that nothing tells apart; raises NotEnumerable where that is unknown.

    For immutable values, generators, and numbers that have been revealed.
    """
    if isinstance(value, LazyNumber):
        known, value = value.known()
        if not known:
            raise NotEnumerable("a number that has not been looked at")
    if is_generator(value):
        return "generator", number_of(value)
    if type(value) is type and not written_in_python(value):
        return "type", value
    if type(value) is tuple:
        return "tuple", tuple(map(exact_key, value))
    if type(value) not in _ATOMS:
        raise NotEnumerable(f"a {type(value).__qualname__}")
    return key_of(value)


def _arguments(frame: types.FrameType) -> Iterator[Any]:
    code, variables = frame.f_code, dict(frame.f_locals)
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & CO_VARARGS)
    for name in code.co_varnames[:count]:
        yield variables[name]
    if code.co_flags & CO_VARKEYWORDS:
        yield from (part for pair in variables[code.co_varnames[count]].items() for part in pair)


@dataclass(frozen=True)
class _Call:
    """A call that leaves nothing but its result on the stack.

    path: what is called, a global name or a variable and a method of it. live: the variables that
    may be read afterwards.
    """

    path: tuple[str, ...]
    live: frozenset[str]

    def function(self, variables: Mapping[str, Any], caller: types.FrameType) -> Any:
        """What is called, if it is a function written in Python."""
        if len(self.path) == 1:
            inside = caller.f_globals
            return inside.get(self.path[0]) if isinstance(inside, dict) else None
        owner = variables.get(self.path[0])
        return getattr(type(owner), self.path[1], None) if is_generator(owner) else None


@lru_cache(maxsize=1 << 12)
def _calls(code: types.CodeType) -> dict[int, _Call]:
    """The calls of a piece of code at which places can be told apart, by their offsets."""
    steps = list(dis.get_instructions(code))
    if code.co_flags & _SUSPENDED or any(s.opname == "IS_OP" for s in steps):
        return {}
    depths, live = _depths(steps), _live(steps)
    # an exception may lead anywhere, and a closure read at any time
    everything = bool(code.co_exceptiontable) or not _READERS.isdisjoint(code.co_names)
    always = {*code.co_cellvars, *code.co_freevars, *(code.co_varnames if everything else ())}
    found: dict[int, _Call] = {}
    for i, step in enumerate(steps):
        if step.opname not in ("CALL", "CALL_KW") or depths.get(i + 1) != 1:
            continue
        begin = next((j for j in range(i, -1, -1) if depths.get(j) == 0), i)
        # what is loaded first is what is called, unless it has been called already
        waits = all(depths.get(j, 0) > 1 for j in range(begin + 2, i + 1))
        if waits and (path := _path(steps[begin : i + 1])):
            call = _Call(path, frozenset(live[i + 1] | always))
            # a frame stands at the instruction, or in the room for notes behind it
            found |= dict.fromkeys(range(step.offset, steps[i + 1].offset), call)
    return found


def _path(steps: list[dis.Instruction]) -> tuple[str, ...]:
    """What is called by instructions that do nothing else and have one way through them, or ()."""
    if any(_target(s) is not None or (j and s.is_jump_target) for j, s in enumerate(steps)):
        return ()
    first, second = steps[:2]
    if first.opname == "LOAD_GLOBAL" and second.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
        return (str(first.argval),)
    if first.opname == "LOAD_FAST" and second.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return str(first.argval), str(second.argval)
    return ()


_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")


def _target(step: dis.Instruction) -> int | None:
    jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
    return int(step.argval) if jumps else None


def _ways(steps: list[dis.Instruction]) -> list[list[tuple[int, bool]]]:
    """The instructions that may follow each, and whether by a jump; exceptions left out."""
    places = {step.offset: i for i, step in enumerate(steps)}
    ways: list[list[tuple[int, bool]]] = []
    for i, step in enumerate(steps):
        goes_on = i + 1 < len(steps) and not step.opname.startswith(_ENDS)
        jump = _target(step)
        ways.append([(i + 1, False)] if goes_on else [])
        if jump is not None:
            ways[-1].append((places[jump], True))
    return ways


def _depths(steps: list[dis.Instruction]) -> dict[int, int]:
    """How many values are on the stack before each instruction, exception handlers left out."""
    ways, depths, todo = _ways(steps), {0: 0}, [0]
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


def _live(steps: list[dis.Instruction]) -> list[frozenset[str]]:
    """The variables that may be read before they are set anew, before each instruction."""
    ways = _ways(steps)
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
    names: tuple[str, ...] = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    if step.opname in ("STORE_FAST", "STORE_FAST_STORE_FAST"):
        return after - set(names)
    if step.opname == "STORE_FAST_LOAD_FAST":
        return (after | {names[1]}) - {names[0]}
    return after | set(names)
