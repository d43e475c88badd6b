"""Where runs meet: loops that start over, and functions that return what another run returned.

A rejected round that leaves nothing behind is followed by the law that the loop had before it; of
runs that leave a function with the same result, one stands for all. Both hold where nothing else
could tell the runs apart: the variables that may still be read are equal, the function's stack is
empty, and no code that ran in between could change anything but its own variables.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from exactdp.audit.code import loops
from exactdp.audit.code.keys import Age, is_plain, key_here, key_of_content, lasts
from exactdp.audit.code.outcomes import written
from exactdp.audit.code.runs import Run
from exactdp.audit.code.uniform import Uniform
from exactdp.samplers.enumeration_branches import Again

__all__ = ["Activation", "Places"]


class Moment(NamedTuple):
    """When something began in a run: the numbers of changes, lazy numbers, and looks at these."""

    changed: int
    uniforms: int
    narrowed: int


class Activation(NamedTuple):
    """A call of one of the program's functions that is under way.

    step: the choices made before it. number: that among the calls of the run. begun: when it
    began. mergeable: whether its code changes nothing but its own variables. early: whether the key
    of its arguments was made when it began, as it gives them other values.
    """

    frame: types.FrameType
    step: int
    number: int
    begun: Moment
    mergeable: bool
    early: bool
    key: Hashable


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
        self._ever_changed = False
        self._age = Age()
        self.run: Run | None = None
        self._calls = self._changed = 0
        self._marks: dict[tuple[int, int], tuple[types.FrameType, Moment, set[Hashable]]] = {}

    def begin(self, run: Run) -> None:
        """A run begins."""
        self.run, self._calls, self._changed = run, 0, 0
        self.stack.clear()
        self._marks.clear()

    def end(self) -> None:
        """It ends."""
        self.run = None
        self._marks.clear()

    def changed(self, thing: Any = None) -> None:
        """Something may have been changed that outlives the function at work.

        thing: what was changed, if it can be nothing else.
        """
        self._changed += 1
        if not self._ever_changed and self.returned is not None:
            self._ever_changed = thing is None or not self._age.is_new(thing)

    def call(self, frame: types.FrameType, mergeable: bool) -> None:
        """A function of the program begins. mergeable: whether it changes nothing itself."""
        if self.returned is not None and self.run is not None:
            self._calls += 1
            early = mergeable and not self._ever_changed and loops.reassigns(frame.f_code)
            key = self._key(frame) if early else None
            step, begun = self.run.step, self._now(self.run)
            self.stack.append(Activation(frame, step, self._calls, begun, mergeable, early, key))

    def _key(self, frame: types.FrameType) -> Hashable:
        values = frame.f_locals
        names = (*loops.arguments(frame.f_code), *frame.f_code.co_freevars)
        content = key_of_content([values[name] for name in names if name in values], self._age)
        return None if content is None else (id(frame.f_code), content)

    def place(self, frame: types.FrameType, caller: types.FrameType) -> None:
        """The program's code calls a function: perhaps where a loop starts over."""
        run = self.run
        if run is None:
            return
        place = id(caller), caller.f_lasti
        if run.step == self.depth:
            self._mark(place, frame, caller, run)
        elif place in self._marks:
            self._compare(place, frame, caller, run)

    def leave(self, frame: types.FrameType, result: Any) -> None:
        """A function ends."""
        if self.returned is None or not self.stack or self.stack[-1].frame is not frame:
            return
        call, run = self.stack.pop(), self.run
        same = call.begun.changed == self._changed and call.mergeable
        same = same and result is not None and is_plain(result)
        if run is None or not same or not all(map(lasts, frame.f_locals.values())):
            self.returned(call, None)
        else:
            # what the call has found out about numbers that its caller may hold is a result, too
            known = sorted({each.known for each in self._looked_at(run, call.begun)})
            self.returned(call, json.dumps([written(result), known]))

    def _now(self, run: Run) -> Moment:
        return Moment(self._changed, run.uniforms, len(run.narrowed))

    def _looked_at(self, run: Run, begun: Moment) -> list[Uniform]:
        """The lazy numbers from before a moment of which more has become known since then."""
        return [each for each in run.narrowed[begun.narrowed :] if each.number < begun.uniforms]

    def law_key(self, call: Activation, run: Run) -> Hashable:
        """Equal for calls that have one law and have drawn nothing yet; None where unknown."""
        if self._ever_changed or call.early:
            return None if self._ever_changed else call.key
        still = call.begun.changed == self._changed and not self._looked_at(run, call.begun)
        return self._key(call.frame) if still else None

    def _mark(self, place: tuple[int, int], frame: Any, caller: types.FrameType, run: Run) -> None:
        state = _state(frame, caller)
        if state is not None:
            known = self._marks.get(place)
            if known is None or known[1].changed != self._changed:
                known = self._marks[place] = caller, self._now(run), set()
            if state in known[2]:
                run.stop(Again())  # a draw that nobody looked at
            known[2].add(state)

    def _compare(self, place: tuple[int, int], frame: Any, caller: Any, run: Run) -> None:
        _, begun, states = self._marks[place]
        still = begun.changed == self._changed and not self._looked_at(run, begun)
        if still and _state(frame, caller) in states:
            run.stop(Again())


def _state(frame: types.FrameType, caller: types.FrameType) -> Hashable:
    """All that the future of a call may depend on while nothing changes; None if unknown."""
    call = loops.calls(caller.f_code).get(caller.f_lasti)
    if call is None or call.changes or not _is_called(call.path, frame, caller):
        return None
    variables, arguments = dict(caller.f_locals), frame.f_locals
    if not all(map(lasts, variables.values())):
        return None
    keys = [key_here(variables[name]) for name in sorted(call.live & variables.keys())]
    keys += [key_here(arguments[name]) for name in loops.arguments(frame.f_code)]
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
