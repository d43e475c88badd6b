"""Calls that are explored by themselves, and loops that start over.

A program that calls samplers inside samplers has too many branches to be followed as a whole. So a
call of a function that only computes and draws (:mod:`pure`) is explored by itself when it is about
to draw, by calling it again and again where it stands; the law of its results replaces its
branches. And a loop of this kind that comes back to its first draw with the same variables has the
law that it had then, and is not followed further.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from exactdp.audit.code.forks import ProgramRaised
from exactdp.audit.code.keys import Key, is_immutable
from exactdp.audit.code.lines import is_ours
from exactdp.audit.code.pure import assigned, constants, function_node, loop_at
from exactdp.audit.code.runs import Run
from exactdp.samplers.enumeration_branches import Again, RunOver, Way
from exactdp.samplers.enumeration_search import Explorer, Found
from exactdp.samplers.enumeration_tally import TooManyBranches

#: The mass that the law of a call may leave out: this share of what its caller's law may leave out;
#: or this mass, where the caller's law must be complete.
_FINER, _FINEST = Fraction(1, 1 << 8), Fraction(1, 1 << 96)
#: Largest number of calls in calls that are explored by themselves.
_MOST_NESTED = 20

Frame = types.FrameType


class Inseparable(RunOver):
    """The call cannot be explored by itself."""


@dataclass
class _Level:
    """The exploration of the program, or of a call in it, and its present run.

    allowed: probability that the law may leave out. expected: the variables of the call at its
    first draw, if its arguments may have other values by then. last: the frame that drew last.
    first: the frames at the first draw, with their variables if they are in loops.
    """

    allowed: Fraction
    depth: int = 0
    expected: Hashable = None
    last: Frame | None = None
    first: dict[int, Any] | None = None


class Functions:
    """The functions of a program that runs again and again in this process.

    follow: runs a call along a way, as for Explorer. residual, max_runs: of the program's law.
    """

    def __init__(self, follow: Callable[..., Found], residual: Fraction, max_runs: int) -> None:
        self._follow, self._most = follow, max_runs
        self._level = _Level(residual)
        self._laws: dict[Hashable, tuple[Fraction, list[Way]]] = {}
        self._pure: dict[Hashable, Any] = {}
        self._inseparable: set[types.CodeType] = set()

    def begin(self) -> None:
        """A run begins."""
        self._level.last = self._level.first = None

    def before_draw(self, run: Run) -> None:
        """The program is about to draw: perhaps where it was before, or in a call with a law."""
        level = self._level
        before, level.last = level.last, sys._getframe(1)
        if level.first is not None and run.step < len(run.path):
            return
        frames = _callers(level.last)
        if level.first is None:
            level.first = {id(each): (each, self._state(each)) for each in frames[1:]}
            if level.expected is not None and _variables(frames[-1]) != level.expected:
                run.stop(Inseparable())
        if run.step < len(run.path):
            return
        known = {id(each) for each in _callers(before)}
        new = [each for each in frames if id(each) not in known]
        if not new:  # one call of the generator draws several times
            return
        if len(new) < len(frames):
            looping = frames[len(new)]
            _, state = level.first.get(id(looping), (None, None))
            if state is not None and state == self._state(looping, state[1]):
                run.stop(Again())
        for each in reversed(new[1:] if known else new[1:-1]):
            ways = self._law(each, run)
            if ways is not None:
                run.take_law(ways)
                return

    # -- loops that start over ---------------------------------------------------------------------

    def _state(self, frame: Frame, names: tuple[str, ...] | None = None) -> Any:
        """What the future of a loop depends on, if it is at the first call of a statement; else
        None.

        names: variables that may matter. A variable without a value at the first draw does not:
        a read before its assignment would have raised an error.
        """
        loop, variables = loop_at(frame.f_code, frame.f_lasti), frame.f_locals
        names = tuple(variables) if names is None else names
        if loop is None or any(name not in variables for name in names):
            return None
        key = Key(variables[name] for name in names)
        if key.key is None or self._constants(loop, frame, key) is None:
            return None
        return frame.f_lasti, names, key.key

    def _constants(self, node: Any, frame: Frame, key: Key) -> Any:
        code = frame.f_code
        others = frozenset(each.__code__ for each in key.functions)
        known = code, node.lineno, frozenset(key.kinds), others
        if known not in self._pure:
            self._pure[known] = constants(node, code, frame.f_globals, key.kinds, key.functions)
        return self._pure[known]

    # -- calls that are explored by themselves -------------------------------------------------

    def _law(self, frame: Frame, run: Run) -> list[Way] | None:
        """The ways through a call that is about to draw for the first time, if it has a law."""
        code, outer = frame.f_code, self._level
        if code in self._inseparable or outer.depth >= _MOST_NESTED:
            return None
        again = _again(frame)
        node = function_node(code)
        if again is None or node is None:
            return None
        call, inputs = again
        key = Key(inputs)
        read = None if key.key is None else self._constants(node, frame, key)
        if read is None or key.changeable:
            return None
        expected = None
        if assigned(node).intersection(code.co_varnames[: _arguments(code)]):
            if loop_at(code, frame.f_lasti) is None:
                return None
            expected = _variables(frame)
        values = [h[name] if isinstance(h, dict) else getattr(h, name) for h, name in read]
        law_key = code, key.key, Key(values).key
        allowed = outer.allowed * _FINER / run.mass or _FINEST
        allowed = min(_power_of_two(allowed), Fraction(1, 4))
        if law_key in self._laws and self._laws[law_key][0] <= allowed:
            return self._laws[law_key][1]
        self._level = _Level(allowed, outer.depth + 1, expected)
        explorer = Explorer(self._followed(call), allowed, self._most)
        try:
            explorer.explore()
        except (Inseparable, TooManyBranches, ProgramRaised):
            self._inseparable.add(code)
            return None
        finally:
            self._level = outer
        self._laws[law_key] = explorer.tally.law().residual, explorer.ways()
        return self._laws[law_key][1]

    def _followed(self, call: Callable[[], Any]) -> Callable[..., Found]:
        def function(generator: Any) -> Any:
            result = call()
            if not is_immutable(result):
                raise Inseparable
            return result

        return lambda *where: self._follow(function, *where)


def _callers(frame: Frame | None) -> list[Frame]:
    """The frame of a call of the generator, and the frames of the program and of libraries that
    lead to this call."""
    frames: list[Frame] = []
    while frame is not None:
        file = frame.f_code.co_filename
        if not (is_ours(file) or file == random.__file__):
            frames.append(frame)
        elif len(frames) > 1:
            break
        else:
            frames[:] = [frame]
        frame = frame.f_back
    return frames


def _variables(frame: Frame) -> Hashable:
    """Where a frame is, and its variables; not None."""
    values = frame.f_locals
    return frame.f_lasti, tuple(values), Key(values.values()).key


def _arguments(code: types.CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _again(frame: Frame) -> tuple[Callable[[], Any], list[Any]] | None:
    """A function that repeats a call, and the inputs of the call; None for *args and **named."""
    code, values = frame.f_code, frame.f_locals
    names = [*code.co_varnames[: _arguments(code)], *code.co_freevars]
    if code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or any(each not in values for each in names):
        return None
    inputs = [values[name] for name in names]
    cells = tuple(map(types.CellType, inputs[_arguments(code) :]))
    function = types.FunctionType(code, frame.f_globals, code.co_name, None, cells)
    positional = inputs[: code.co_argcount]
    named = dict(zip(names, inputs, strict=True))
    named = {name: named[name] for name in code.co_varnames[code.co_argcount : _arguments(code)]}
    return lambda: function(*positional, **named), inputs


def _power_of_two(x: Fraction) -> Fraction:
    """A power of two in (x/4, x]: a short fraction."""
    return Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 1)
