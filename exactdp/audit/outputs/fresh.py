"""Fresh processes: a mechanism started anew, which remembers nothing of what it drew before.

It is sent as it was before its first call (:mod:`exactdp.audit.sending`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, get_all_start_methods, get_context
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.copies import fingerprint
from exactdp.audit.outputs.counting import OneByOne
from exactdp.audit.outputs.event import Event
from exactdp.audit.sending import MAIN, number, received, sent
from exactdp.processes import undisturbed

#: A side, and how many outputs one call draws for it.
Request = tuple[str, int]
#: Of every call, in order: the hits of an event, and the call's fingerprint.
Drawn = list[tuple[NDArray[np.bool_], str]]


def drawn_anew(
    run: bytes | None,
    data: dict[str, Any],
    event: Event,
    plans: Sequence[list[Request]],
    single: bool,
) -> list[Drawn] | None:
    """What fresh processes draw, one for each plan; None where none can start, or all draw alike.

    run: as sent() before its first call. plans: the calls of each process; processes 0 and 1, 2
    and 3, ... have equal plans, which shows whether they draw alike. single: whether run is called
    once for every output.
    """
    task = sent((data, event, single))
    if not run or not task or current_process().daemon:
        return None
    context: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([__name__])
    at_once, answers = os.cpu_count() or 1, list[Drawn | None]()
    with _no_program():
        for start in range(0, len(plans), at_once):
            numbered = [*enumerate(plans)][start : start + at_once]
            answers += _in_processes(context, run, task, numbered)
    complete = [one for one in answers if one is not None]
    marks = [[(mark, hits.tobytes()) for hits, mark in one] for one in complete]
    varied = any(mark or 0 < hits.sum() < len(hits) for one in complete for hits, mark in one)
    alike = varied and marks[::2] == marks[1::2]
    return complete if len(complete) == len(plans) and not alike else None


def _in_processes(
    context: Any, run: bytes, task: bytes, plans: Sequence[tuple[int, list[Request]]]
) -> list[Drawn | None]:
    """What one process for each plan answers, all at the same time; plans come with numbers."""
    started = []
    try:
        for number, plan in plans:
            answer, writer = context.Pipe(duplex=False)
            process = context.Process(target=_in_a_process, args=(writer, run, task, number, plan))
            with undisturbed():
                process.start()
            writer.close()  # here, so that the end of the other side is noticed
            started.append((process, answer))
        return [_answer(answer) for _, answer in started]
    finally:
        for process, answer in started:
            process.terminate()
            process.join()
            answer.close()


def _answer(pipe: Any) -> Drawn | None:
    try:
        result, error = pipe.recv()
    except EOFError:
        raise ChildProcessError(
            "a fresh process of the mechanism ended without an answer"
        ) from None
    if error is not None:
        raise error
    counts: Drawn | None = result
    return counts


def _in_a_process(writer: Any, run: bytes, task: bytes, process: int, plan: list[Request]) -> None:
    number(process)
    try:
        writer.send((_draw_plan(run, task, plan), None))
    except Exception as error:  # whatever the mechanism raises is raised where it was called
        writer.send((None, error if sent(error) else ChildProcessError(repr(error))))


def _draw_plan(run: bytes, task: bytes, plan: list[Request]) -> Drawn | None:
    try:
        (data, event, single), mechanism = map(received, (task, run))
    except (ImportError, AttributeError):  # a module that was made while the program ran
        return None
    np.random.seed()  # the server that started this process has seeded the legacy generator
    return counted(OneByOne(mechanism) if single else mechanism, data, event, plan)


def counted(run: Any, data: dict[str, Any], event: Event, plan: list[Request]) -> Drawn:
    """The calls of a plan, drawn here, one after the other."""
    batches = (as_outputs(run(data[side], size), size) for side, size in plan)
    return [(event.hits(outputs), fingerprint(outputs)) for outputs in batches]


@contextmanager
def _no_program() -> Iterator[None]:
    """Processes started in this block do not run the program that this process is running."""
    program = sys.modules[MAIN]
    sys.modules[MAIN] = ModuleType(MAIN)
    try:
        yield
    finally:
        sys.modules[MAIN] = program
