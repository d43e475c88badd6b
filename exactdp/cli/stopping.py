"""A command that receives SIGINT or SIGTERM ends within two seconds and leaves nothing behind.

The first signal kills the processes that the command started and raises an exception in the main
thread, so that every ``finally`` runs. Python raises the exception only between two bytecode
instructions, and cleaning up may take long. Therefore a thread also receives the signal, waits for
a second, and then ends the process if it still runs. Before that, the thread removes unfinished
files, without interrupting the renaming of a group (:func:`exactdp.cli.output.discard`). The thread
cannot run while C code holds the interpreter lock, so such code must return within a second or
release the lock.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from exactdp.cli import output
from exactdp.errors import Signal
from exactdp.processes import end_descendants

#: Seconds for cleaning up; including the search for child processes, a command ends within two.
_PATIENCE = 1.0

#: Signal -> (exit code as in shells, 128 + signal; message).
_ENDINGS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


class Terminated(Signal):
    """Raised for SIGTERM, as KeyboardInterrupt is for SIGINT."""


def ending(heard: Sequence[int]) -> int:
    """If a signal was heard, print that it ended the command; return the exit code or 0.

    The exception that ended the command says less: C code that a signal interrupts may raise one
    of its own, without a trace of the signal.
    """
    return _say(heard[0]) if heard else 0


def _say(number: int) -> int:
    code, word = _ENDINGS[signal.Signals(number)]
    kept = ", ".join(map(str, output.kept()))
    output.last_words(f"{word}; unfinished work is lost{kept and f', kept: {kept}'}")
    return code


@contextmanager
def signals_heard(*, alone: bool) -> Iterator[Sequence[int]]:
    """In this block, the first SIGINT raises KeyboardInterrupt, or the first SIGTERM Terminated.

    Yields the numbers of the signals that arrived, at most one.

    alone: whether the process runs nothing but this command. If so, a signal also kills the child
    processes, and the process ends after a second even if the exception does not end the block.
    """
    heard: list[int] = []
    output.forget()

    def hear(number: int, _: object) -> None:
        if heard:  # a second signal does not interrupt the cleaning up
            return
        heard.append(number)
        if alone:
            threading.excepthook = lambda _: None  # silence threads whose processes were killed
            end_descendants()
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before = {number: signal.signal(number, hear) for number in _ENDINGS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    if alone:
        _watch(restore)
    try:
        yield heard
    finally:
        restore()


def _watch(restore: Callable[[], None]) -> None:
    """Start the thread that ends this process a second after a signal."""
    # the resource tracker removes files of killed workers; its warning is not for users
    warnings = (os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, warnings))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def in_child() -> None:  # a forked child must not signal this process
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
