"""Fresh processes: a mechanism started anew, which remembers nothing of what it drew before.

It is sent as it was before its first call, the way worker processes are sent their tasks: functions
by their names, so that their modules are imported anew; objects by what they hold. Generators are
sent as new ones of their kind with seeds that follow from theirs, for copies would all draw the
same.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, get_all_start_methods, get_context
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.blackbox.independence import OneByOne
from exactdp.audit.events.codes import same_text
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import as_outputs
from exactdp.processes import undisturbed

__all__ = ["Piece", "counted", "drawn_anew", "sent"]

#: A side, and how many outputs of it are drawn by one call.
Piece = tuple[str, int]
#: Of every piece, in the order they were drawn: the hits of an event, and a hash of its outputs.
Drawn = list[tuple[NDArray[np.bool_], str]]

_MARKED = 1 << 10  # outputs of a call
_HERE = b"__main__"  # what a program defines at its top can only be had by running it again


def sent(value: Any) -> bytes:
    """What another process makes the same value of; nothing where it cannot."""
    buffer = io.BytesIO()
    try:
        _Sender(buffer).dump(value)
    except Exception:  # whatever the value's own methods raise, it cannot be sent
        return b""
    return b"" if _HERE in buffer.getvalue() else buffer.getvalue()


class _Sender(ForkingPickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            return _generator, (type(value.bit_generator), _seed(value.bit_generator.state))
        if isinstance(value, np.random.RandomState):
            return _legacy, (_seed(value.get_state()),)
        if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
            return _python, (type(value), _seed(value.getstate()))
        return NotImplemented


_process = 0  # its number among those that are started together


def _seed(state: Any) -> int:
    """Of a generator that follows from this one, another one in every process."""
    return int.from_bytes(hashlib.sha256(repr(state).encode()).digest(), "big")


def _generator(kind: Any, seed: int) -> np.random.Generator:
    return np.random.Generator(kind([seed, _process]))


def _legacy(seed: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937([seed, _process]))


def _python(kind: Any, seed: int) -> random.Random:
    made: random.Random = kind()
    made.seed(f"{seed} {_process}")
    return made


def drawn_anew(
    run: bytes | None,
    data: dict[str, Any],
    event: Event,
    singly: bool,
    plans: Sequence[list[Piece]],
) -> list[Drawn] | None:
    """What fresh processes draw, one a plan; None where they cannot start, or all draw alike.

    run: as sent() before its first call. singly: whether it is called once for every output.
    plans: two and two the same, by which is seen what draws alike.
    """
    task = sent((data, event, singly))
    if not run or not task or current_process().daemon:
        return None
    context: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([__name__])
    at_once, found = os.cpu_count() or 1, list[Drawn | None]()
    with _no_program():
        for start in range(0, len(plans), at_once):
            units = [*enumerate(plans)][start : start + at_once]
            found += _in_processes(context, run, task, units)
    marks = [[mark for _, mark in drawn] for drawn in found if drawn is not None]
    if len(marks) < len(plans) or marks[::2] == marks[1::2]:
        return None
    return [drawn for drawn in found if drawn is not None]


def _in_processes(
    context: Any, run: bytes, task: bytes, units: Sequence[tuple[int, list[Piece]]]
) -> list[Drawn | None]:
    """What one process a plan answers, all at the same time; plans come with their numbers."""
    started = []
    try:
        for unit in units:
            answer, told = context.Pipe(duplex=False)
            process = context.Process(target=_in_a_process, args=(told, run, task, *unit))
            with undisturbed():
                process.start()
            told.close()  # here: then its end is heard
            started.append((process, answer))
        return [_answer(answer) for _, answer in started]
    finally:
        for process, answer in started:
            process.terminate()
            process.join()
            answer.close()


def _answer(pipe: Any) -> Drawn | None:
    try:
        found, error = pipe.recv()
    except EOFError:
        raise ChildProcessError(
            "a fresh process of the mechanism ended without an answer"
        ) from None
    if error is not None:
        raise error
    drawn: Drawn | None = found
    return drawn


def _in_a_process(told: Any, run: bytes, task: bytes, number: int, plan: list[Piece]) -> None:
    global _process
    _process = number
    try:
        told.send((_drawn(run, task, plan), None))
    except Exception as error:  # whatever the mechanism raises is raised where it was called
        told.send((None, error if sent(error) else ChildProcessError(repr(error))))


def _drawn(run: bytes, task: bytes, plan: list[Piece]) -> Drawn | None:
    try:
        (data, event, singly), mechanism = map(ForkingPickler.loads, (task, run))
    except (ImportError, AttributeError):  # a module that was made while the program ran
        return None
    np.random.seed()  # a server of processes has seeded it before
    return counted(OneByOne(mechanism) if singly else mechanism, data, event, plan)


def counted(run: Any, data: dict[str, Any], event: Event, plan: list[Piece]) -> Drawn:
    """The pieces of a plan, drawn here, one after the other."""
    found = []
    for side, size in plan:
        outputs = as_outputs(run(data[side], size), size)
        text = "\n".join(map(same_text, outputs.take(0, _MARKED).items))
        found.append((event.hits(outputs), hashlib.sha256(text.encode()).hexdigest()))
    return found


@contextmanager
def _no_program() -> Iterator[None]:
    """Processes started in this block do not run the program that this one is running."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program
