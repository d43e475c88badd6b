"""What a program may not use while it runs: other randomness, and the world outside the process.

For a forked child alone: functions of random, numpy.random and os are replaced for good, and a hook
for Python's audit events (PEP 578) is added, which cannot be removed. Generators that exist before
the runs are compared with what they were.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lines import at, is_ours
from exactdp.audit.code.numpy_generators import SHOWING
from exactdp.audit.code.runs import Run
from exactdp.audit.randomness import state
from exactdp.errors import NotEnumerable
from exactdp.samplers.seeded import SeededSource

_ADVICE = "draw from the generator that is handed over"
_KEPT = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
#: Audit events of files, processes, sockets and libraries, by how their names begin.
_OUTSIDE = (
    *("open", "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork"),
    *("mmap.", "sqlite3.", "ctypes.dlopen", "builtins.input"),
)
#: Audit events of looking at frames and of copying, which are too frequent for a longer test.
_FREQUENT = {"object.__getattr__", "builtins.id", "sys._getframe", "sys.setprofile"}
#: Where Python itself reads source files, for the text of a warning.
_READS_SOURCE = ("linecache.py", "tokenize.py")


class Guard:
    """Refuses what the program may not use. existing: generators from before the runs."""

    def __init__(self, existing: Sequence[Any]) -> None:
        self.run: Run | None = None
        ours = SHOWING, SHOWING.bit_generator
        self._states = [(each, state(each)) for each in existing if each not in ours]
        self.replaced = {id(old): new for old, new in self._replace()}
        sys.addaudithook(self._event)

    @contextmanager
    def around(self, run: Run, hook: Any = None) -> Iterator[None]:
        """A block in which a run is guarded, and a profile hook sees what is called."""
        outer, self.run = self.run, run
        sys.setprofile(hook)
        try:
            yield
        finally:
            lost = hook is not None and sys.getprofile() is None  # Python removes a failing hook
            sys.setprofile(None)
            self.run = outer
            if lost and run.signal is None:
                reason = "the program calls itself until the stack is full; use a loop"
                run.stop(NotEnumerable(reason))

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

    def why_no_law(self) -> str | None:
        """Why there is no law, if the program drew from an older generator; else None."""
        for each, before in self._states:
            if state(each) != before:
                return (
                    f"the program draws from a {type(each).__name__} of its own, not from the one "
                    f"that is handed over; {_ADVICE}, or build the object that holds it inside the "
                    "run (make=)"
                )
        return None

    def _event(self, event: str, arguments: Any) -> None:
        if event in _FREQUENT or self.run is None or not event.startswith(_OUTSIDE):
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
            first_argument = arguments[0] if arguments else None
            if name.endswith("default_rng") and isinstance(first_argument, np.random.Generator):
                return first_argument
            self.refuse_call(name, sys._getframe(1))
            return old(*arguments, **named)

        if isinstance(old, type):
            members = {"__new__": lambda cls, *arguments, **named: refused(*arguments, **named)}
            return type(old.__name__, (old,), members)
        return refused


_sum = sum


def _plain_sum(items: Any, /, start: Any = 0) -> Any:
    """sum() of settled numbers: from Python 3.12 on, it compensates the rounding of floats only."""
    return _sum([x.settle() if isinstance(x, LazyNumber) else x for x in items], start)


def _is_bound(value: Any) -> bool:
    return isinstance(getattr(value, "__self__", None), random.Random)
