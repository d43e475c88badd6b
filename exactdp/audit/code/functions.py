"""Calls that are explored by themselves, and loops that start over.

A program that calls samplers inside samplers has too many branches to be followed as a whole. So a
call of one of its functions that is about to draw is explored by itself, where it stands, and the
law of its results replaces its branches. And a loop whose round returns to the first state of the
program, or of such a call, is not followed further: what comes has the law of the whole.

Both need that nothing but variables changes in between. A profile hook sees every call; the source
of a Python function shows what it changes (:mod:`syntax`), and C functions are taken to change
something unless they are known not to.
"""

from __future__ import annotations

import abc
import fractions
import numbers
import types
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, NamedTuple

from exactdp.audit.code.explore import Explorer, Found
from exactdp.audit.code.forks import ProgramRaised
from exactdp.audit.code.keys import Ages, is_plain, key_of
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lines import is_ours
from exactdp.audit.code.runs import Inseparable, Run, Way
from exactdp.audit.code.syntax import Changes, Code, code_of
from exactdp.samplers.enumeration_branches import Again
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["Functions"]

#: Modules whose C functions change nothing, but for those in _CHANGING.
_LASTING = {"builtins", "math", "cmath", "_operator", "_abc", "time"}
_CHANGING = {"next", "setattr", "delattr", "exec", "eval", "print", "__import__", "vars", "sleep"}
_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, frozenset, range, type(None), type)
#: Their methods change the container alone.
_CONTAINERS = (list, dict, set)
#: Functions of these files change nothing but the number that they make.
_NUMBERS = (fractions.__file__, numbers.__file__, abc.__file__, "<frozen abc>")
#: How much less a law may leave out than that of its caller; what it may if that must be complete.
_FINER, _FINEST = Fraction(1, 1 << 8), Fraction(1, 1 << 96)
#: Largest number of calls in calls that are explored by themselves.
_MOST_NESTED = 20


class _Call(NamedTuple):
    """A call under way. step: the choices before it. given: its variables when it began, if its
    arguments are set anew."""

    frame: types.FrameType
    step: int
    given: dict[str, Any] | None


@dataclass
class _State:
    """What is explored: the program, or a call. allowed: probability that its law may leave out.

    Of the present run: calls under way, the innermost last; first: variables at the calls before
    its first draw, with the number of changes then.
    """

    allowed: Fraction
    outer: _State | None = None
    code: types.CodeType | None = None
    run: Run | None = None
    calls: list[_Call] = field(default_factory=list)
    first: dict[tuple[int, int], tuple[Any, ...]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return 0 if self.outer is None else 1 + self.outer.depth

    def begin(self, run: Run) -> None:
        """A run begins."""
        self.run = run
        self.calls.clear()
        self.first.clear()
        if self.outer is not None and self.outer.run is not None:
            self.outer.run.inner = run


class Functions:
    """The calls of a program that runs again and again in this process.

    follow: runs a function with a path, as for Explorer. residual, max_runs: of the program's law.
    """

    def __init__(self, follow: Callable[..., Found], residual: Fraction, max_runs: int) -> None:
        self._follow, self._most = follow, max_runs
        self._ages = Ages()
        self._state = _State(residual)
        self._old_changed = False  # whether something from before the runs may have changed
        self._laws: dict[Hashable, tuple[Fraction, list[Way]]] = {}
        self._inseparable: set[int] = set()
        self._codes: dict[int, Code] = {}  # by id: codes are slow to hash

    def begin(self, run: Run) -> None:
        """A run begins."""
        self._state.begin(run)

    # -- the profile hook: millions of events pass ---------------------------------------------

    def see(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """The profile hook."""
        code = frame.f_code
        known = self._codes.get(id(code)) or self._meet(code)
        if event == "call":
            caller = frame.f_back
            before = self._codes.get(id(caller.f_code)) if caller is not None else None
            if before is not None and before.starts:
                self._statement(caller, before, code.co_name)
            if not known.is_still:
                self._called(frame, known)
        elif event == "return":
            if known.is_program and self._state.calls and self._state.calls[-1].frame is frame:
                self._state.calls.pop()
        elif event == "c_call" and not known.is_still and _may_change(arg):
            owner = getattr(arg, "__self__", None)
            self._change(owner if type(owner) in _CONTAINERS else None)

    def _meet(self, code: types.CodeType) -> Code:
        still = is_ours(code.co_filename) or code.co_filename in _NUMBERS
        known = Code(code, is_still=True) if still else code_of(code)
        self._codes[id(code)] = known
        return known

    def _called(self, frame: types.FrameType, known: Code) -> None:
        """A Python function begins."""
        if known.changes is not Changes.NOTHING or known.augmented:
            variables = frame.f_locals
            lists = any(not is_plain(variables.get(name)) for name in known.augmented)
            if known.changes is Changes.ITS_OBJECT and not lists:
                self._change(variables[known.code.co_varnames[0]])
            elif known.changes is not Changes.NOTHING or lists:
                self._change(None)
        if known.is_program and self._state.run is not None:
            given = dict(frame.f_locals) if known.reassigned else None
            self._state.calls.append(_Call(frame, self._state.run.step, given))

    def _change(self, thing: Any) -> None:
        """Something is about to change. thing: what it is, if it can be nothing else."""
        if self._state.outer is not None:
            self._give_up()
        if self._state.run is not None:
            self._state.run.changes += 1
        self._old_changed = self._old_changed or thing is None or not self._ages.is_new(thing)

    def _give_up(self) -> None:
        """The function that is explored by itself cannot be, now or later."""
        self._inseparable.add(id(self._state.code))
        if self._state.run is not None:
            self._state.run.stop(Inseparable())

    # -- loops that start over ---------------------------------------------------------------------

    def _statement(self, frame: Any, known: Code, called: str) -> None:
        """A statement makes a call: perhaps in a state that the run had before its first draw.

        Variables that had no value then do not matter: to read one before it is set would have been
        an error.
        """
        run, first = self._state.run, self._state.first
        named = known.starts.get(frame.f_lasti)
        made = called in ("__new__", "__init__") and isinstance(frame.f_globals.get(named), type)
        if run is None or (named != called and not made):
            return
        place, variables = (id(frame), frame.f_lasti), frame.f_locals
        if place in first:
            _, names, state, changes = first[place]
            if changes == run.changes and names <= variables.keys():
                here = key_of([variables[name] for name in sorted(names)], self._ages)
                if state is not None and here == state:
                    run.stop(Again())
        if run.step == 0:
            names = set(variables)
            state = key_of([variables[name] for name in sorted(names)], self._ages)
            first[place] = frame, names, state, run.changes

    # -- calls that are explored by themselves -------------------------------------------------

    def ahead(self, run: Run) -> list[Way] | None:
        """The ways through the outermost call that begins with this draw, if it has a law."""
        for call in self._state.calls[1:]:
            if call.step == run.step and (ways := self._law(call, run)):
                return ways
        return None

    def _law(self, call: _Call, run: Run) -> list[Way] | None:
        code = call.frame.f_code
        if id(code) in self._inseparable or self._state.depth >= _MOST_NESTED:
            return None
        again = _again(call)
        if again is None:
            return None
        function, given = again
        held = None if self._old_changed else key_of(given, self._ages)
        law_key = None if held is None else (id(code), held)
        allowed = self._state.allowed * _FINER / run.mass or _FINEST
        allowed = min(_power(allowed), Fraction(1, 4))
        if law_key in self._laws and self._laws[law_key][0] <= allowed:
            return self._laws[law_key][1]
        self._state = _State(allowed, self._state, code)
        explorer = Explorer(self._followed(function), allowed, self._most)
        try:
            explorer.explore()
        except Inseparable:
            return None
        except (TooManyBranches, ProgramRaised):
            self._inseparable.add(id(code))
            return None
        finally:
            run.inner, self._state = None, self._state.outer or self._state
        ways = explorer.ways()
        if law_key is not None:
            self._laws[law_key] = explorer.tally.law().residual, ways
        return ways

    def _followed(self, function: Callable[[], Any]) -> Callable[..., Found]:
        def call(generator: Any) -> Any:
            result = function()
            if not is_plain(result):
                self._give_up()
            return result

        return lambda *where: self._follow(call, *where)


def _again(call: _Call) -> tuple[Callable[[], Any], list[Any]] | None:
    """What makes a call once more, and what it is given; None where that is not known.

    An iterator would be used up, and a number that its caller has drawn is not the call's own.
    """
    code, values = call.frame.f_code, dict(call.given or call.frame.f_locals)
    count = code.co_argcount + code.co_kwonlyargcount
    names, rest = list(code.co_varnames[:count]), list(code.co_varnames[count : count + 2])
    more = values[rest.pop(0)] if code.co_flags & CO_VARARGS else ()
    named = values[rest.pop(0)] if code.co_flags & CO_VARKEYWORDS else {}
    wanted = [*names, *code.co_freevars]
    if any(name not in values for name in wanted):
        return None
    given = [*(values[name] for name in wanted), *more, *named.values()]
    if any(hasattr(type(v), "__next__") or _is_open(v) for v in given):
        return None
    cells = tuple(types.CellType(values[name]) for name in code.co_freevars)
    function = types.FunctionType(code, call.frame.f_globals, code.co_name, None, cells)
    positional = [values[name] for name in names[: code.co_argcount]]
    others = {name: values[name] for name in names[code.co_argcount :]} | named
    return lambda: function(*positional, *more, **others), [*given, *others]


def _power(x: Fraction) -> Fraction:
    """A power of two in (x/4, x]: a short fraction."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length() - 1
    return Fraction(2) ** exponent


def _is_open(value: Any) -> bool:
    return isinstance(value, LazyNumber) and not value.is_known()


def _may_change(function: Any) -> bool:
    """Whether a C function may change anything."""
    owner = function.__self__
    if isinstance(owner, types.ModuleType):
        return owner.__name__ not in _LASTING or function.__name__ in _CHANGING
    return not isinstance(owner, _IMMUTABLE)
