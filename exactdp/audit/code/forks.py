"""Work done in a forked child: the state of this process stays as it was.

A child gets a copy of the whole process, and what it finds comes back as JSON over a pipe.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from exactdp.audit.code.runs import NotEnumerable
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration_branches import NotReproducible
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["AuditFailed", "ProgramRaised", "answer_of", "begun", "in_fork"]

_PR_SET_PDEATHSIG = 1  # of prctl(2)


class ProgramRaised(Exception):
    """The program itself raised an exception in a run that can be repeated.

    kind: the name of its class. path: the choices of that run, as data.
    """

    def __init__(self, kind: str, path: list[Any]) -> None:
        super().__init__(kind)
        self.kind, self.path = kind, path


class AuditFailed(RuntimeError):
    """A fault of exactdp in a forked child, with the traceback there; please report it."""


_ERRORS = {e.__name__: e for e in (NotEnumerable, NotReproducible, TooManyBranches, AuditFailed)}


def in_fork(work: Callable[..., Any], *arguments: Any) -> Any:
    """What work(*arguments) returns in a forked child, as JSON data; its errors are raised here.

    Raises NotEnumerable where a process cannot fork, and if the child dies.
    """
    return answer_of(*begun(work, *arguments))


def begun(work: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """Begin what :func:`in_fork` does: the pipe with the child's answer, and its process id."""
    if not hasattr(os, "fork"):
        raise NotEnumerable(
            "an exact law needs a system whose processes can fork, which Windows cannot; "
            "audit the outputs instead (exactdp.audit.audit), or use Linux or WSL"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    here, there = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns if there are other threads: the child runs none of their code
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(there)
        return here, pid
    try:
        _end_with_parent()
        gc.freeze()  # the collector need not touch, and thereby copy, what is the parent's
        gc.callbacks.clear()  # such as hypothesis': calls that begin at any moment of a run
        os.close(here)
        answer = memoryview(json.dumps(_answered(work, arguments)).encode())
        while answer:
            answer = answer[os.write(there, answer) :]
    finally:
        os._exit(0)


def _end_with_parent() -> None:
    """On Linux the kernel kills this child when its parent ends, whatever the program is doing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answered(work: Callable[..., Any], arguments: Any) -> tuple[str, Any]:
    try:
        return "found", work(*arguments)
    except ProgramRaised as error:
        return "ProgramRaised", [error.kind, error.path]
    except ExactDPError as error:
        name = next((k.__name__ for k in type(error).__mro__ if k.__name__ in _ERRORS), None)
        return name or "NotEnumerable", [str(error)]
    except Exception as error:  # a fault of the audit, not of the program
        return "AuditFailed", ["".join(traceback.format_exception(error))]


def answer_of(answer: int, pid: int) -> Any:
    """Wait for the answer of a child that :func:`begun` has started; its errors are raised here."""
    try:
        with os.fdopen(answer, "rb") as pipe:
            data = pipe.read()
    except BaseException:  # an interrupt, for one: nobody waits for the answer any more
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    _, status = os.waitpid(pid, 0)
    if not data:
        raise NotEnumerable(
            f"the program ended its process (status {status}); return or raise instead"
        )
    kind, found = json.loads(data)
    if kind == "found":
        return found
    raise ProgramRaised(*found) if kind == "ProgramRaised" else _ERRORS[kind](*found)
