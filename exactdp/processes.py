"""Processes that this one starts: left alone by Ctrl-C, ended all together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["end_descendants", "undisturbed"]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Processes and threads that start in this block never receive SIGINT.

    A terminal sends Ctrl-C to a command and to all its workers. The command ends its workers by
    itself; workers that received the signal as well would print a traceback each.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it would unblock the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_descendants() -> None:
    """Kill every process that this one started, and those that they started.

    All are stopped before one is killed: a stopped process starts no other, and while its parent
    lives a process can be found. The resource tracker of multiprocessing is spared; it removes
    what the others leave in the file system, and ends by itself after them.
    """
    module = sys.modules.get("multiprocessing.resource_tracker")
    tracker = getattr(getattr(module, "_resource_tracker", None), "_pid", None)
    found: set[int] = set()
    while new := _descendants(os.getpid()) - found - {tracker}:
        _send(signal.SIGSTOP, new)
        found |= new
    _send(signal.SIGKILL, found)


def _send(number: int, processes: set[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _descendants(ancestor: int) -> set[int]:
    parents = _parents()
    found = {ancestor}
    while new := {child for child, parent in parents.items() if parent in found} - found:
        found |= new
    return found - {ancestor}


def _parents() -> dict[int, int]:
    """Every process of this machine with its parent."""
    if not Path("/proc/self/stat").exists():
        return _parents_by_ps()
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has just ended
            # number (name) state parent ...: the name may hold spaces and parentheses
            after_name = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if after_name[0] != "Z":
                parents[int(folder.name)] = int(after_name[1])
    return parents


def _parents_by_ps() -> dict[int, int]:
    """The same where there is no /proc."""
    with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE) as listing:  # noqa: S607
        lines = listing.communicate()[0].splitlines()
    pairs = (map(int, line.split()) for line in lines)
    return {child: parent for child, parent in pairs if child != listing.pid}
