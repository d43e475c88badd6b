"""What a program calls while it runs: nothing random but the generator that it was handed.

A profile hook sees every Python function that starts and every C function that is called. Python
code of this package and of the import system is left alone. Works in a forked child, where the
functions of random and numpy.random can be replaced for good.
"""

from __future__ import annotations

import fractions
import gc
import numbers
import os
import random
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from exactdp.audit.code.built import built_before, drawing_constructor
from exactdp.audit.code.calls import Effect, effect_of
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.loops import Changes, changes_of
from exactdp.audit.code.numpy_generators import SHOWING
from exactdp.audit.code.places import Places
from exactdp.audit.code.runs import Run
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.audit.code.where import HERE, IMPORTS, Whose, at, whose_code
from exactdp.samplers.seeded import SeededSource

__all__ = ["Watch"]

#: These change nothing but the number that they make.
_NUMBERS = (fractions.__file__, numbers.__file__)
_GENERATORS = (np.random.Generator, np.random.RandomState)
_ADVICE = "draw from the generator that is handed over"


class _Known(NamedTuple):
    """A piece of code, which is kept alive: its number stays its own.

    changes: what it may change beside its own variables.
    """

    code: types.CodeType
    whose: Whose
    changes: Changes


class Watch:
    """Watches the runs of one program in this process.

    places: told of the calls of the program's functions. unknown: C functions that may keep
    randomness of their own, by where they are called. named: the global variables that the
    program's code names, by module. generators: from which the program must not draw.
    """

    def __init__(self, places: Places, generators: Sequence[Any] = ()) -> None:
        self.places = places
        self.unknown: dict[str, str] = {}
        self.named: dict[str, set[str]] = {}
        self._run: Run | None = None
        self._mistake: Exception | None = None
        self._known: dict[int, _Known] = {}  # by the number of a code: to hash it takes longer
        self._program: set[int] = set()
        self._effects: dict[tuple[Any, str], Effect] = {}
        self._states = [(each, _state(each)) for each in generators]
        self._replaced = {id(old): new for old, new in self._replace()}

    def begin(self, run: Run) -> None:
        """Watch everything this thread does from now on; only end() may follow in the caller."""
        self._run = run
        self.places.begin(run)
        sys.setprofile(self._see)

    def end(self) -> None:
        """Watch no longer."""
        lost, run = sys.getprofile() is None, self._run
        sys.setprofile(None)
        self.places.end()
        self._run = None
        if self._mistake is not None:
            raise NotEnumerable(
                "a call of the program cannot be followed "
                f"({type(self._mistake).__name__}: {self._mistake})"
            )
        if lost and run is not None and run.signal is None:
            run.stop(
                NotEnumerable("the program called itself until the stack was full; use a loop")
            )

    def finish(self) -> None:
        """Raises NotEnumerable if a generator was drawn from that existed before the runs."""
        for generator, state in self._states:
            if _state(generator) != state:
                raise NotEnumerable(
                    f"the program draws from a numpy {type(generator).__name__} of its own, not "
                    f"from the one it is handed; {_ADVICE}, or build the object that holds it "
                    "inside the run (make=)"
                )

    def held(self) -> dict[str, list[str]]:
        """The variables of modules that the program's code names, by module.

        Functions are among them for their defaults, closures and attributes.
        """
        code = (types.BuiltinFunctionType, types.ModuleType)
        found = {}
        for module, names in self.named.items():
            # a doctest, for one, has variables beside those of the module that it calls its own
            inside = vars(sys.modules[module]) if module in sys.modules else {}
            found[module] = sorted(n for n in names if not isinstance(inside.get(n, sys), code))
        return found

    # -- the profile hook: millions of events pass ---------------------------------------------

    def _see(self, frame: types.FrameType, event: str, arg: Any) -> None:
        try:
            if event == "c_call":
                owner = getattr(arg, "__self__", None)
                key = (owner if type(owner) is types.ModuleType else type(owner), arg.__name__)
                effect = self._effects.get(key)
                if effect is None:
                    effect = self._effects[key] = effect_of(owner, arg)
                if effect is not Effect.NONE:
                    self._called(effect, arg, frame)
            elif event == "call":
                known = self._known.get(id(frame.f_code)) or self._meet(frame)
                still = known.changes is Changes.NOTHING
                if not still:
                    own = known.changes is Changes.ITS_OBJECT
                    thing = frame.f_locals[known.code.co_varnames[0]] if own else None
                    self.places.changed(thing)
                back = frame.f_back
                if back is not None and id(back.f_code) in self._program:
                    self.places.place(frame, back)
                if known.whose is Whose.PROGRAM:
                    self.places.call(frame, still)
            elif event == "return":
                self.places.leave(frame, arg)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._mistake = error  # Python takes the hook away, and the run goes on
            raise

    def _called(self, effect: Effect, function: Any, frame: types.FrameType) -> None:
        """A C function is called that is more than a function of its arguments."""
        file = frame.f_code.co_filename
        if file.startswith((HERE, IMPORTS)):
            return
        if effect is Effect.CHANGES:
            self.places.changed()
            return
        name = _name(function)
        if effect is Effect.RANDOM:
            self._refuse(f"{name}() {at(frame)} is randomness of its own; {_ADVICE}")
        if effect is Effect.OUTSIDE:
            self._refuse(
                f"{name}() {at(frame)} reaches outside of the process; pass its result as data"
            )
        self.unknown.setdefault(name, at(frame))
        self.places.changed()

    def _meet(self, frame: types.FrameType) -> _Known:
        """A function is seen to run for the first time."""
        code = frame.f_code
        if code is random.Random.__init__.__code__:
            self._refuse(f"a new generator {at(frame)} has randomness of its own; {_ADVICE}")
        if code is SeededSource.take.__code__:
            self._refuse(
                f"a SeededSource {at(frame)} draws what its seed says, in every run the same; "
                f"{_ADVICE}"
            )
        whose = whose_code(code.co_filename)
        still = whose is Whose.OURS or code.co_filename in _NUMBERS
        changes = Changes.NOTHING if still else changes_of(code)
        known = self._known[id(code)] = _Known(code, whose, changes)
        if whose is Whose.PROGRAM:
            self._program.add(id(code))
            self._look_at(frame)
        return known

    def _look_at(self, frame: types.FrameType) -> None:
        """What the program's code names: generators under early names, objects made before."""
        inside, values = frame.f_globals, list(frame.f_locals.values())
        names = self.named.setdefault(str(inside.get("__name__")), set())
        for name in (*frame.f_code.co_names, frame.f_code.co_qualname.partition(".")[0]):
            if name in inside:
                if id(inside[name]) in self._replaced:
                    inside[name] = self._replaced[id(inside[name])]
                names.add(name)  # what it holds is compared in fresh interpreters
                values.append(inside[name])
        for value in values:
            why = drawing_constructor(_type(value))
            if why and built_before(value):
                self._refuse(
                    f"a {type(value).__name__} {at(frame)} was built before the run, by a "
                    f"constructor that uses {why}: what it drew then is not drawn again; build it "
                    "inside the run (make=)"
                )

    def _refuse(self, reason: str) -> None:
        if self._run is not None:
            self._run.stop(NotEnumerable(reason))

    # -- functions of random and numpy.random ----------------------------------------------------

    def _replace(self) -> Iterator[tuple[Any, Any]]:
        """Replaces what draws without being handed a generator; pairs of old and new."""
        hidden = [(np.random, name) for name in vars(np.random) if not name.startswith("_")]
        hidden += [(random, name) for name, v in vars(random).items() if _is_bound(v)]
        for module, name in [*hidden, (os, "urandom"), (random, "_urandom")]:
            old = getattr(module, name)
            kept = old in (*_GENERATORS, np.random.BitGenerator, np.random.SeedSequence)
            if kept or isinstance(old, types.ModuleType) or not callable(old):
                continue
            new = self._stub(module.__name__, name, old)
            setattr(module, name, new)
            yield old, new
        if sys.version_info >= (3, 12):
            import builtins

            builtins.sum = _plain_sum

    def _stub(self, module: str, name: str, old: Any) -> Any:
        def refused(*arguments: Any, **named: Any) -> Any:
            given = arguments[0] if arguments else None
            if name == "default_rng" and isinstance(given, np.random.Generator):
                return given
            self._refuse(
                f"{module}.{name}() {at(sys._getframe(1))} is randomness of its own; {_ADVICE}"
            )
            return old(*arguments, **named)

        if isinstance(old, type):
            made = {"__new__": lambda cls, *arguments, **named: refused(*arguments, **named)}
            return type(old.__name__, (old,), made)
        return refused


_sum = sum


def _plain_sum(items: Any, /, start: Any = 0) -> Any:
    """sum(), which from Python 3.12 on compensates the rounding of floats, but of no others."""
    known = [each.settle() if isinstance(each, LazyNumber) else each for each in items]
    return _sum(known, start)


def _is_bound(value: Any) -> bool:
    return isinstance(getattr(value, "__self__", None), random.Random)


def numpy_generators() -> list[Any]:
    """All generators of numpy that exist."""
    found = [each for each in gc.get_objects() if type(each) in _GENERATORS]
    return [each for each in [*found, np.random.mtrand._rand] if each is not SHOWING]


def _state(generator: Any) -> str:
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    return repr(
        [part if i != 1 else part.tobytes() for i, part in enumerate(generator.get_state())]
    )


def _type(value: Any) -> Any:
    return type(value)


def _name(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    where = owner.__name__ if isinstance(owner, types.ModuleType) else type(owner).__name__
    return f"{where}.{function.__name__}"
