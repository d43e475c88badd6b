"""A second thread that helps during a call."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from exactdp.balls import precision_held

Job = TypeVar("Job")


def by_two(
    jobs: Iterable[Job], here: Callable[[Job], object], there: Callable[[Job], object]
) -> None:
    """Do every job: here(job) in this thread or there(job) in a second thread, whichever is free.

    If no thread can be started, this thread does all jobs. An exception in either thread ends both
    after their current jobs and is raised here. The second thread ends before this returns.
    """
    left = deque(jobs)
    helper = _Helper(left, there)
    try:
        _start(helper)
        _work_off(left, here)
    finally:
        left.clear()
        if helper.is_alive():
            helper.join()
    if helper.error is not None:
        raise helper.error


def _start(helper: threading.Thread) -> None:
    """Start a thread, if it can run: not during the interpreter's shutdown, nor on one core."""
    if sys.is_finalizing() or precision_held():  # the second thread may need the precision's lock
        return
    if _cores() < 2:  # the threads would only take turns
        return
    try:
        helper.start()
    except RuntimeError:  # "can't start new thread": a limit of the system
        return


def _cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _work_off(left: deque[Job], do: Callable[[Job], object]) -> None:
    for job in _taken(left):
        do(job)


def _taken(left: deque[Job]) -> Iterator[Job]:
    """Jobs from the shared list, until it is empty."""
    while True:
        try:
            job = left.popleft()
        except IndexError:
            return
        yield job


class _Helper(threading.Thread):
    """Does jobs from the shared list; keeps an exception for the waiting thread."""

    def __init__(self, left: deque[Job], do: Callable[[Job], object]) -> None:
        super().__init__(name="exactdp helper")
        self._left, self._do = left, do
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            _work_off(self._left, self._do)
        except BaseException as error:
            self.error = error
            self._left.clear()
