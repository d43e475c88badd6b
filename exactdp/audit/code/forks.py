"""Work done in a forked child: the state of this process stays as it was."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

from exactdp.errors import (
    AuditFailed,
    ExactDPError,
    NotEnumerable,
    NotReproducible,
    Signal,
    TooManyBranches,
)
from exactdp.samplers.enumeration_branches import Path

_PR_SET_PDEATHSIG = 1  # of prctl(2)


class ProgramRaised(Signal, Exception):
    """The program itself raised an exception, its cause, in a run that can be repeated.

    kind: the name of its class. path: the choices of that run.
    """

    def __init__(self, kind: str, path: Path) -> None:
        super().__init__(kind, path)
        self.kind, self.path = kind, path


_SENT_BACK = (NotEnumerable, NotReproducible, TooManyBranches)


def in_fork(work: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """What work(*arguments) returns in a forked child; its errors are raised here.

    seconds: time after which the child is ended. Raises NotEnumerable where a process cannot fork,
    if the child dies, and if it is ended.
    """
    if not hasattr(os, "fork"):
        raise NotEnumerable(
            "an exact law needs a system whose processes can fork, which Windows cannot; "
            "audit the outputs instead (exactdp.audit.audit), or use Linux or WSL"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    here, there = Pipe(duplex=False)
    with warnings.catch_warnings():
        # Python 3.12 warns if there are other threads: the child runs none of their code
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        try:
            end_with_parent()
            gc.freeze()  # the collector need not touch, and thereby copy, what is the parent's
            gc.callbacks.clear()  # such as hypothesis': calls that begin at any moment of a run
            here.close()
            _answer(there, work, arguments)
        finally:
            os._exit(0)
    there.close()
    answer = None
    try:
        with here, suppress(EOFError):
            if not here.poll(seconds):
                os.kill(pid, signal.SIGKILL)
                raise NotEnumerable(
                    f"a run of the program has not ended within {seconds:.0f} seconds; a loop may "
                    "have no end (seconds= allows more time)"
                )
            answer = here.recv()
    except BaseException:  # an interrupt, for one: nobody waits for the answer any more
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
    if answer is None:
        raise NotEnumerable(
            f"the program ended its process (status {status}); return or raise instead"
        )
    result, error = answer
    if error is not None:
        raise error
    return result


def end_with_parent() -> None:
    """On Linux the kernel kills this process when its parent ends, whatever it is doing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(pipe: Any, work: Callable[..., Any], arguments: Any) -> None:
    result: Any = None
    error: Exception | None = None
    try:
        result = work(*arguments)
    except ProgramRaised as raised:
        error = raised
    except ExactDPError as raised:
        error = raised if isinstance(raised, _SENT_BACK) else NotEnumerable(str(raised))
    except Exception as raised:  # a fault of the audit, not of the program
        error = AuditFailed("".join(traceback.format_exception(raised)))
    try:
        pipe.send((result, error))
    except Exception as raised:  # what pickle refuses raises errors of many classes
        reason = f"an outcome cannot be passed to another process ({raised}); return numbers, text"
        pipe.send((None, NotEnumerable(f"{reason}, or tuples, lists and dictionaries of them")))
