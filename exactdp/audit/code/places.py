"""Where runs meet: loops that start over, and functions that return what another run returned.

A rejected round that leaves nothing behind is followed by the law that the loop had before it; of
runs that leave a function with the same result, one stands for all. Both hold where nothing else
could tell the runs apart: the variables that may still be read are equal, the function's stack is
empty, and no code that ran in between could change anything but its own variables.
"""

from __future__ import annotations

import enum
import json
import types
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

import numpy as np

from exactdp.audit.code import loops
from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.outcomes import written
from exactdp.audit.code.runs import Run
from exactdp.samplers.enumeration_branches import Again

__all__ = ["Activation", "Places", "Whose"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction),
    *(np.int64, np.float64, np.bool_),
)
#: Told apart by which object they are: they stay what they are while nothing changes.
_LASTING = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, type)
_GENERATORS = (ExactRandom, ExactGenerator, Run)


class Whose(enum.Enum):
    """Whose code it is."""

    OURS = 0
    LIBRARY = 1
    PROGRAM = 2


@dataclass
class Activation:
    """A call of one of the program's functions that is under way.

    step: the choices made before it. index: its number among the calls of the run. changed: the
    changes seen before it. mergeable: whether its code changes nothing but its own variables.
    """

    frame: types.FrameType
    step: int
    index: int
    changed: int
    mergeable: bool


class Places:
    """The places of one run at a time.

    depth: the number of choices after which a loop may start over; -1 for none. returned: told of
    calls that end, with a key that is equal for equal results, or None; None if nobody wants to
    know.
    """

    def __init__(self) -> None:
        self.depth = -1
        self.returned: Callable[[Activation, str | None], None] | None = None
        self.stack: list[Activation] = []
        self.ever_changed = False
        self.run: Run | None = None
        self._calls = self._changed = 0
        self._marks: dict[tuple[int, int], tuple[types.FrameType, int, set[Hashable]]] = {}

    def begin(self, run: Run) -> None:
        """A run begins."""
        self.run, self._calls, self._changed = run, 0, 0
        self.stack.clear()
        self._marks.clear()

    def end(self) -> None:
        """It ends."""
        self.run = None
        self._marks.clear()

    def changed(self) -> None:
        """Something may have been changed that outlives the function at work."""
        self._changed += 1
        self.ever_changed = True

    def call(self, frame: types.FrameType, mergeable: bool) -> None:
        """A function of the program begins. mergeable: whether it changes nothing itself."""
        if self.returned is not None and self.run is not None:
            self._calls += 1
            step = self.run.step
            self.stack.append(Activation(frame, step, self._calls, self._changed, mergeable))

    def place(self, frame: types.FrameType, caller: types.FrameType) -> None:
        """The program's code calls a function: perhaps where a loop starts over."""
        run = self.run
        if run is None:
            return
        place = id(caller), caller.f_lasti
        if run.step == self.depth:
            self._mark(place, frame, caller)
        elif place in self._marks:
            self._compare(place, frame, caller, run)

    def leave(self, frame: types.FrameType, result: Any) -> None:
        """A function ends."""
        if self.returned is None or not self.stack or self.stack[-1].frame is not frame:
            return
        call = self.stack.pop()
        same = call.changed == self._changed and call.mergeable
        same = same and result is not None and _is_plain(result)
        same = same and all(map(_lasts, frame.f_locals.values()))
        self.returned(call, json.dumps(written(result)) if same else None)

    def law_key(self, call: Activation) -> Hashable:
        """Equal for calls that have one law; None where that is unknown."""
        if self.ever_changed:
            return None
        values = call.frame.f_locals
        names = (*_arguments(call.frame.f_code), *call.frame.f_code.co_freevars)
        keys = [_key(values[name]) for name in names if name in values]
        return None if None in keys else (id(call.frame.f_code), *keys)

    def _mark(self, place: tuple[int, int], frame: Any, caller: types.FrameType) -> None:
        state = _state(frame, caller)
        if state is not None:
            known = self._marks.get(place)
            if known is None or known[1] != self._changed:
                known = self._marks[place] = caller, self._changed, set()
            if state in known[2] and self.run is not None:
                self.run.stop(Again())  # a draw that nobody looked at
            known[2].add(state)

    def _compare(self, place: tuple[int, int], frame: Any, caller: Any, run: Run) -> None:
        _, changed, states = self._marks[place]
        if changed == self._changed and _state(frame, caller) in states:
            run.stop(Again())


def _state(frame: types.FrameType, caller: types.FrameType) -> Hashable:
    """All that the future of a call may depend on while nothing changes; None if unknown."""
    call = loops.calls(caller.f_code).get(caller.f_lasti)
    if call is None or call.changes or not _is_called(call.path, frame, caller):
        return None
    variables, arguments = dict(caller.f_locals), frame.f_locals
    if not all(map(_lasts, variables.values())):
        return None
    keys = [_key(variables[name]) for name in sorted(call.live & variables.keys())]
    keys += [_key(arguments[name]) for name in _arguments(frame.f_code)]
    names = tuple(sorted(call.live & variables.keys()))
    return None if None in keys else (id(frame.f_code), names, tuple(keys))


def _is_called(path: tuple[str, ...], frame: types.FrameType, caller: types.FrameType) -> bool:
    """Whether a function is what the caller names, not what that calls in its turn."""
    name, *attributes = path
    found = caller.f_locals.get(name, caller.f_globals.get(name))
    for attribute in attributes:
        held = [vars(found)] if hasattr(found, "__dict__") else []
        held += (
            [] if isinstance(found, (type, types.ModuleType)) else map(vars, type(found).__mro__)
        )
        found = next((inside[attribute] for inside in held if attribute in inside), None)
    return getattr(found, "__code__", None) is frame.f_code


def _arguments(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in _ATOMS


def _plain_key(value: Any) -> Hashable:
    kind = type(value)
    if kind is tuple:
        return kind, tuple(map(_plain_key, value))
    if kind in (float, complex, np.float64):
        return kind, repr(value)  # -0.0 is another number than 0.0, and NaN equals itself
    return kind, value


def _is_object(value: Any) -> bool:
    """Whether a value is an instance of a class that is written in Python."""
    line = type(value).__mro__[:-1]
    return bool(line) and all("__dict__" in vars(k) or "__slots__" in vars(k) for k in line)


def _lasts(value: Any) -> bool:
    """Whether only code that is known to change things can change a value."""
    return (
        isinstance(value, LazyNumber)
        or _is_plain(value)
        or isinstance(value, _LASTING)
        or type(value) in _GENERATORS
        or _is_object(value)
        or (type(value) is dict and not value)
    )


def _key(value: Any) -> Hashable:
    """Equal only for values that nothing tells apart; None where that is unknown."""
    if isinstance(value, LazyNumber):
        known, value = value.known()
        if not known:
            return None
    if type(value) in _GENERATORS:
        return ("generator",)
    if _is_plain(value):
        return _plain_key(value)
    if type(value) is tuple:
        keys = tuple(map(_key, value))
        return None if None in keys else keys
    if _is_object(value) or isinstance(value, _LASTING):
        return "object", id(value)
    return ("empty",) if type(value) is dict and not value else None
