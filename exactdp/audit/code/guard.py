"""What a program may not use while it runs: other randomness, and the world outside the process.

For a forked child alone: functions of random, numpy.random and os are replaced for good, and a hook
for Python's audit events (PEP 578) is added, which cannot be removed. Generators that exist before
the runs are compared with what they were.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lines import at, is_ours
from exactdp.audit.code.numpy_generators import SHOWING
from exactdp.audit.code.runs import NotEnumerable, Run
from exactdp.samplers.seeded import SeededSource

__all__ = ["GENERATORS", "Guard", "Guarded", "generators"]

_ADVICE = "draw from the generator that is handed over"
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_KEPT = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
#: Audit events of files, processes, sockets and libraries, by how their names begin.
_OUTSIDE = (
    *("open", "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork"),
    *("mmap.", "sqlite3.", "ctypes.dlopen", "builtins.input"),
)
#: Where Python itself reads source files, for the text of a warning.
_READS_SOURCE = ("linecache.py", "tokenize.py")


class Guarded:
    """A block in which a run is guarded, and a profile hook sees what is called."""

    def __init__(self, guard: Guard, run: Run, hook: Any) -> None:
        self._guard, self._outer = guard, guard.run
        self._run, self._hook = run, hook

    def __enter__(self) -> None:
        self._guard.run = self._run
        sys.setprofile(self._hook)

    def __exit__(self, *error: object) -> None:
        lost = self._hook is not None and sys.getprofile() is None  # Python removes a failing hook
        sys.setprofile(None)
        self._guard.run = self._outer
        if lost and self._run.signal is None:
            reason = "the program calls itself until the stack is full; use a loop"
            self._run.stop(NotEnumerable(reason))


class Guard:
    """Refuses what the program may not use. existing: generators from before the runs."""

    def __init__(self, existing: Sequence[Any]) -> None:
        self.run: Run | None = None
        self._states = [(each, _state(each)) for each in existing]
        self.replaced = {id(old): new for old, new in self._replace()}
        sys.addaudithook(self._event)

    def refuse(self, reason: str) -> None:
        """End the run, if there is one: it has no exact law."""
        if self.run is not None:
            self.run.stop(NotEnumerable(reason))

    def refuse_call(self, name: str, frame: types.FrameType) -> None:
        """End the run for a call that draws, or that starts a thread."""
        why = f"is randomness of its own; {_ADVICE}"
        if name == "Thread.start":
            why = "starts a thread, and nobody knows which thread draws first; draw here"
        self.refuse(f"{name}() {at(frame)} {why}")

    def drawn(self) -> str | None:
        """Why there is no law if an older generator was drawn from."""
        for each, state in self._states:
            if _state(each) != state:
                return (
                    f"the program draws from a {type(each).__name__} of its own, not from the one "
                    f"that is handed over; {_ADVICE}, or build the object that holds it inside the "
                    "run (make=)"
                )
        return None

    def _event(self, event: str, arguments: Any) -> None:
        if self.run is None or not event.startswith(_OUTSIDE):
            return
        frame = sys._getframe(1)
        file = frame.f_code.co_filename
        if not is_ours(file) and not file.endswith(_READS_SOURCE):
            self.refuse(
                f"{event} {at(frame)} reaches outside of the process; pass its result as data"
            )

    def _replace(self) -> Iterator[tuple[Any, Any]]:
        """Replace what draws without a generator, and threads; pairs of old and new."""
        hidden: list[tuple[Any, str]] = [(np.random, name) for name in vars(np.random)]
        hidden += [(random, name) for name, v in vars(random).items() if _is_bound(v)]
        hidden += [(random.Random, name) for name in ("__init__", "random", "getrandbits")]
        hidden += [(os, "urandom"), (random, "_urandom"), (SeededSource, "take")]
        hidden += [(threading.Thread, "start")]
        for holder, name in hidden:
            old = getattr(holder, name)
            public = not name.startswith("_") or holder is not np.random
            if public and callable(old) and old not in _KEPT:
                new = self._stub(f"{holder.__name__}.{name}", old)
                setattr(holder, name, new)
                yield old, new
        if sys.version_info >= (3, 12):
            import builtins

            builtins.sum = _plain_sum

    def _stub(self, name: str, old: Any) -> Any:
        def refused(*arguments: Any, **named: Any) -> Any:
            given = arguments[0] if arguments else None
            if name.endswith("default_rng") and isinstance(given, np.random.Generator):
                return given
            self.refuse_call(name, sys._getframe(1))
            return old(*arguments, **named)

        if isinstance(old, type):
            made = {"__new__": lambda cls, *arguments, **named: refused(*arguments, **named)}
            return type(old.__name__, (old,), made)
        return refused


_sum = sum


def _plain_sum(items: Any, /, start: Any = 0) -> Any:
    """sum(), which from Python 3.12 on compensates the rounding of floats, but of no others."""
    return _sum([x.settle() if isinstance(x, LazyNumber) else x for x in items], start)


def _is_bound(value: Any) -> bool:
    return isinstance(getattr(value, "__self__", None), random.Random)


def generators() -> list[Any]:
    """All generators that exist."""
    kinds, todo = set[type](), list[type](GENERATORS)
    while todo:
        kinds.add(kind := todo.pop())
        todo += kind.__subclasses__()
    ours = (SHOWING, SHOWING.bit_generator)
    objects = gc.get_objects()
    chosen = compress(objects, map(kinds.__contains__, map(type, objects)))  # of a million, quickly
    return [*(each for each in chosen if each not in ours), np.random.mtrand._rand]


def _state(generator: Any) -> str:
    if isinstance(generator, random.SystemRandom):
        return ""
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    state = getattr(generator, "_bit_generator", generator).state
    return json.dumps(state, default=lambda array: array.tolist())
