"""A second thread for as long as a call takes."""

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
    """Do every job: here(job) in this thread or there(job) in a second one, whichever is free.

    Where no thread can be started all is done here. What goes wrong in either thread ends both
    after the jobs that they are at, and is raised here. The second thread ends before this returns.
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
    """Start a thread, if it could run: an interpreter that shuts down has no more of them."""
    if sys.is_finalizing() or precision_held():  # the second thread may need the precision, too
        return
    if _cores() < 2:  # they would take turns
        return
    try:
        helper.start()
    except RuntimeError:  # "can't start new thread": there are limits
        return


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _work_off(left: deque[Job], do: Callable[[Job], object]) -> None:
    for job in _taken(left):
        do(job)


def _taken(left: deque[Job]) -> Iterator[Job]:
    """Jobs off the list, which another thread may empty at any time."""
    while True:
        try:
            job = left.popleft()
        except IndexError:
            return
        yield job


class _Helper(threading.Thread):
    """Works off the list; what goes wrong is kept for the thread that waits."""

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
