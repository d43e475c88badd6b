"""Child processes: shielded from Ctrl-C, and ended together."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def undisturbed() -> Iterator[None]:
    """Block SIGINT in processes and threads that start in this block.

    A terminal sends Ctrl-C to a command and to all its workers. The command ends its workers
    itself; each worker that received the signal would print a traceback.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # would unblock the signal if it started in the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_descendants() -> None:
    """Kill every descendant of this process.

    All descendants are stopped before the first is killed: a stopped process starts no new ones,
    and a process can be found only while its parent lives. The resource tracker of multiprocessing
    is spared: it removes files that the others leave behind, and then ends by itself.
    """
    module = sys.modules.get("multiprocessing.resource_tracker")
    tracker = getattr(getattr(module, "_resource_tracker", None), "_pid", None)
    stopped: set[int] = set()
    while new := _descendants(os.getpid()) - stopped - {tracker}:
        _send(signal.SIGSTOP, new)
        stopped |= new
    _send(signal.SIGKILL, stopped)


def _send(number: int, processes: set[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _descendants(ancestor: int) -> set[int]:
    parents = _parents()
    family = {ancestor}
    while new := {child for child, parent in parents.items() if parent in family} - family:
        family |= new
    return family - {ancestor}


def _parents() -> dict[int, int]:
    """Process id -> id of its parent, for all processes of this machine."""
    if not Path("/proc/self/stat").exists():
        return _parents_by_ps()
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has just ended
            # number (name) state parent ...: the name may hold spaces and parentheses
            after_name = (
                (folder / "stat")
                .read_text(errors="replace", encoding="utf-8")
                .rpartition(")")[2]
                .split()
            )
            if after_name[0] != "Z":
                parents[int(folder.name)] = int(after_name[1])
    return parents


def _parents_by_ps() -> dict[int, int]:
    """Process id -> id of its parent, on systems without /proc."""
    import subprocess

    with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE) as listing:  # noqa: S607
        lines = listing.communicate()[0].splitlines()
    pairs = (map(int, line.split()) for line in lines)
    return {child: parent for child, parent in pairs if child != listing.pid}
