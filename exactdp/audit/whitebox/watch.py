"""What a foreign program may call while it runs: nothing random, and nothing that remembers.

A profile hook sees every Python function that starts and every C function that is called, under
whatever name the program reaches it. C functions must be known to depend on their arguments alone;
the others (clocks, files, processes, threads, other generators) end the run.
"""

from __future__ import annotations

import abc
import builtins
import copy
import copyreg
import gc
import logging
import random
import sys
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from typing import Any

from exactdp.audit.whitebox.generators import ExactRandom
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.kinship import kinship
from exactdp.audit.whitebox.memory import Memory
from exactdp.audit.whitebox.numpy_generators import ExactGenerator
from exactdp.audit.whitebox.orders import looked_at, returns_a_set, salted_order
from exactdp.audit.whitebox.plainness import objection
from exactdp.audit.whitebox.purity import impurity, impurity_in
from exactdp.audit.whitebox.rounds import Rounds, is_generator
from exactdp.audit.whitebox.slots import below
from exactdp.audit.whitebox.stand_ins import REAL, StandIns, refused
from exactdp.audit.whitebox.telltales import TELLTALES
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.audit.whitebox.veil import under_way
from exactdp.audit.whitebox.whose import Whose, in_library
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration_branches import Again

__all__ = ["NotPlain", "Watch", "unwatched"]

#: What libraries use for bookkeeping, without passing it on.
_INTERNAL = frozenset(
    {"builtins.hash()", "builtins.__hash__()", "sys._getframe()"}
    | {"_thread.get_ident()", "numpy.empty()", "numpy.empty_like()", "sys.exc_info()"}
    | {"sys.exception()"}
)
_DRAWING = {
    method.__code__
    for method in (ExactRandom.getrandbits, ExactRandom._randbelow, ExactRandom.random)
} | {method.__code__ for method in (ExactGenerator.integers, ExactGenerator.random)}
_NEW_GENERATORS = {random.Random.__init__.__code__, ExactRandom.__init__.__code__}
_MODULES = frozenset(below(types.ModuleType))
_LOGGER = number_of(logging.getLogger.__code__)
_IMPORTING = {"importlib._bootstrap", "importlib._bootstrap_external"}
_attribute = getattr  # as it is when no program runs
_WATCHED = frozenset(map(number_of, _DRAWING | _NEW_GENERATORS | TELLTALES.keys()))


@contextmanager
def unwatched() -> Iterator[None]:
    """For work of this library's own that a watched run asks for."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


class NotPlain(NotEnumerable):
    """The program may see that a lazy number is a stand-in; it is run again with ordinary ones."""


class Watch:
    """Guards the runs of one program.

    memory: told of the functions that are seen to run. plain: whether all code has to be plain.
    drawing: the functions of modules that were called with a generator, by globals and name.
    """

    def __init__(self, memory: Memory, plain: bool) -> None:
        self._memory, self._plain = memory, plain
        self._remembering = 0  # calls under way of functions whose results are kept
        self._stop: Callable[[BaseException], Any] = _nobody
        self._fresh = False  # nothing drawn yet, as far as is known
        self._drawn: Callable[[], bool] = _never
        self._rounds = Rounds(memory.unchanged)
        self._cached, self._places = memory.cached, self._rounds.places
        self._whose = Whose()
        self._ours = self._whose.ours
        self._stand_ins = StandIns(self._whose, self._end, Watch._see.__code__)
        # code by its number: to hash it would take longer than most that is asked here
        self._met: dict[int, types.CodeType] = {}
        self._returning: set[int] = set()  # and of these, what may return a set
        self._foreign: set[int] = set()  # and the program's own
        self._pure: set[Any] = set()  # functions of modules that were found so
        self.drawing: list[tuple[dict[str, Any], str]] = []

    @contextmanager
    def on(
        self,
        stop: Callable[[BaseException], Any],
        drawn: Callable[[], bool] | None = None,
        tidily: bool = False,
    ) -> Iterator[None]:
        """Watch everything this thread does; stop(signal) is to end the run.

        drawn: whether the run has drawn anything; None for a run that is to go through to its end.
        tidily: whether garbage is collected at every call.
        """
        self._stop, self._remembering = stop, 0
        self._fresh, self._drawn = drawn is not None, drawn or _never
        self._rounds.begin()
        see = self._see_tidily if tidily else self._see
        with self._stand_ins.in_place():
            before = sys.getprofile()
            sys.setprofile(see)
            try:
                with under_way(stop):
                    yield
            finally:
                lost = sys.getprofile() != see
                sys.setprofile(before)
                self._stop = _nobody
        if lost:
            stop(
                NotEnumerable(
                    "nobody watched the program to its end: it called itself until the stack "
                    "was full, which depends on who calls it, or ended the watch"
                )
            )

    def _see_tidily(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """The collector alone waits, longer for what is older, and for a good moment."""
        if event == "call":
            gc.collect()
        self._see(frame, event, arg)

    def _see(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """The profile hook. Millions of events pass: what concerns few of them is asked first."""
        code = number_of(frame.f_code)
        if event == "c_call":
            if arg in self._pure:
                return
            ours = self._ours.get(code)
            if not (self._whose.is_ours(frame) if ours is None else ours):
                self._check(arg, frame)
        elif event == "call":
            if code not in self._met:
                self._meet(frame)
            if code in _WATCHED or code in self._cached or code in self._returning:
                self._enter(frame)
            if self._places:
                if code in self._foreign:
                    self._rounds.beware(frame)
                if self._fresh or number_of(frame.f_back) in self._places:
                    self._follow(frame)
            elif self._fresh:
                self._follow(frame)
        elif event == "return":
            if self._remembering:
                self._remembering -= code in self._cached
            if self._places:
                self._rounds.leave(frame)
            if type(arg) in _MODULES or code == _LOGGER:
                self._leave(frame, arg)

    def _leave(self, frame: types.FrameType, found: Any) -> None:
        """A call ends that gives a module or a logger: what a library finds is not reached yet."""
        caller, name = frame.f_back, frame.f_globals.get("__name__")
        if caller is None or name in _IMPORTING or not in_library(frame):
            return
        if in_library(caller) or self._whose.is_ours(caller):
            return
        if number_of(frame.f_code) != _LOGGER:
            self._refuse(f"a module that {frame.f_code.co_name}() gets at")
        try:
            self._memory.find(found)
        except ExactDPError as signal:
            self._stop(signal)

    def _enter(self, frame: types.FrameType) -> None:
        """A call begins of a function that draws, returns a set, or whose results are kept."""
        code, number = frame.f_code, number_of(frame.f_code)
        if number in self._returning and looked_at(frame, self._whose.is_ours):
            self._refuse(f"the order of the set that {code.co_name} returns")
        self._remembering += number in self._cached
        if self._remembering and code in _DRAWING:
            self._refuse("a function whose results are kept draws")
        if code in TELLTALES and not in_library(frame.f_back or frame):
            self._refuse(f"{TELLTALES[code]} tells of the process")
        if code in _NEW_GENERATORS and not self._whose.is_ours(frame.f_back):
            self._refuse("a new generator has randomness of its own")

    def _follow(self, frame: types.FrameType) -> None:
        """A call begins: before the first draw, or perhaps another round of a rejection loop."""
        self._fresh = self._fresh and not self._drawn()
        if self._fresh:
            self._rounds.note(frame)
        elif self._rounds.comes_back(frame):
            self._stop(Again())

    def _meet(self, frame: types.FrameType) -> None:
        """A function is seen to run for the first time."""
        code = frame.f_code
        self._met[number_of(code)] = code
        if self._whose.is_ours(frame):
            return
        try:
            names = ChainMap(frame.f_globals, REAL, vars(builtins))
            if not in_library(frame):
                self._foreign.add(number_of(code))
                seen = {**_values(frame), **{n: names[n] for n in code.co_names if n in names}}
                if told := kinship(code, names):
                    raise NotEnumerable(told)
                if why := impurity_in(code, names) or salted_order(code, seen):
                    raise NotEnumerable(f"{why} may depend on more than its arguments")
                if returns_a_set(code, seen):
                    self._returning.add(number_of(code))
                self._memory.meet(code, frame.f_globals)
            else:
                self._memory.visit(code, frame.f_globals)
            self._note_drawing(frame)
            if self._plain:
                why = "" if code.co_filename in _STAND_INS else objection(code, names)
                if why := why or self._memory.objection:
                    raise NotPlain(why)
        except ExactDPError as signal:
            self._stop(signal)

    def _note_drawing(self, frame: types.FrameType) -> None:
        code, inside = frame.f_code, frame.f_globals
        named = inside.get(code.co_name)
        alone = isinstance(named, types.FunctionType) and named.__code__ is code
        if alone and any(map(is_generator, _values(frame).values())):
            self.drawing.append((inside, code.co_name))

    def _check(self, function: Any, frame: types.FrameType) -> None:
        why = impurity(function)
        if not why and isinstance(_attribute(function, "__self__", None), types.ModuleType):
            self._pure.add(function)
        if why and not (why in _INTERNAL and in_library(frame)):
            self._refuse(f"{why} may depend on more than its arguments")

    def _end(self, signal: BaseException) -> None:
        """End the run that is under way."""
        self._stop(signal)

    def _refuse(self, reason: str) -> None:
        self._stop(refused(reason))


#: Python's own code that lazy numbers are known to pass through unharmed.
_STAND_INS = frozenset(
    {sys.modules[name].__file__ for name in ("random", "fractions", "numbers", "contextlib")}
    | {each.__code__.co_filename for each in (copy.copy, copyreg.pickle)}
    | {abc.ABCMeta.__instancecheck__.__code__.co_filename}
    | {Sized.__len__.__code__.co_filename}  # collections.abc
)


def _values(frame: types.FrameType) -> dict[str, Any]:
    """Arguments and closure of a call that begins."""
    code = frame.f_code
    mine = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *code.co_freevars}
    return {name: value for name, value in frame.f_locals.items() if name in mine}


def _never() -> bool:
    return False


def _nobody(signal: BaseException) -> None:
    """No run is under way."""
