"""A command that receives SIGINT or SIGTERM ends within two seconds and leaves nothing behind.

The first signal kills the processes that the command started and raises an exception in the main
thread, so that every ``finally`` runs. Python raises it only between two of its own instructions,
and cleaning up may have to wait; therefore a thread receives the signal as well, waits for a
second, and ends the process if it still runs. It removes unfinished files, and never cuts in two
the naming of several (:func:`exactdp.cli.output.discard`). The thread cannot act while code in C
keeps Python's lock: such code must return within a second, or release the lock.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from exactdp.cli import output
from exactdp.processes import end_descendants

__all__ = ["Terminated", "ending", "signals_heard"]

#: Seconds for cleaning up; with the search for processes, a command ends in less than two.
_PATIENCE = 1.0

#: Exit code, as shells have it (128 + the signal), and the word for it.
_ENDINGS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


class Terminated(BaseException):
    """SIGTERM, as KeyboardInterrupt is SIGINT."""


def ending(error: BaseException | None) -> int:
    """Say that a signal ends the command, if it caused this exception; the exit code, else 0.

    Code in C that was interrupted may raise an exception of its own, caused by the signal's.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return _say(signal.SIGINT)
        if isinstance(error, Terminated):
            return _say(signal.SIGTERM)
        error = error.__cause__ or error.__context__
    return 0


def _say(number: int) -> int:
    code, word = _ENDINGS[signal.Signals(number)]
    kept = ", ".join(map(str, output.kept()))
    output.last_words(f"{word}; unfinished work is lost{kept and f', kept: {kept}'}")
    return code


@contextmanager
def signals_heard(*, alone: bool) -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt in this block, SIGTERM Terminated; only the first of them.

    alone: whether the process has nothing but this command to do. Then its child processes are
    killed, and the process ends after a second even if the exception does not end the block.
    """
    told = False
    output.forget()

    def hear(number: int, _: object) -> None:
        nonlocal told
        if told:  # cleaning up is not interrupted
            return
        told = True
        if alone:
            threading.excepthook = lambda _: None  # threads that miss their processes
            end_descendants()
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before = {number: signal.signal(number, hear) for number in _ENDINGS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    if alone:
        _watch(restore)
    try:
        yield
    finally:
        restore()


def _watch(restore: Callable[[], None]) -> None:
    """Start the thread that ends this process a second after a signal."""
    # what killed workers leave in the file system is removed; nobody need be warned of that
    warnings = (os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, warnings))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def in_child() -> None:  # a signal to a forked child is not meant for this process
        signal.set_wakeup_fd(-1)
        restore()

    os.register_at_fork(after_in_child=in_child)
    threading.Thread(target=_end_late, args=(reading,), daemon=True).start()


def _end_late(reading: int) -> NoReturn:
    number = 0
    while number not in _ENDINGS:
        number = os.read(reading, 1)[0]
    time.sleep(_PATIENCE)
    end_descendants()
    output.discard()
    os._exit(_say(number))
