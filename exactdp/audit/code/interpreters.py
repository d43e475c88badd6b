"""Four fresh interpreters with other hash seeds, which answer requests of this process.

They are started by the first request and serve all later ones. A request that is not answered ends
them, so that no later request reads an answer to this one.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any

from exactdp.audit.code.runs import NotEnumerable

__all__ = ["ask", "is_fresh"]

_SEEDS = ("1", "2", "3", "4")
_INSIDE = "EXACTDP_FRESH_INTERPRETER"
_LOCK = threading.Lock()
_started: list[Any] = []
_owner: int | None = None  # the process that has started them: a fork of it starts its own


def is_fresh() -> bool:
    """Whether this process is a fresh interpreter itself."""
    return _INSIDE in os.environ


def ask(request: dict[str, Any], seconds: float) -> list[Any]:
    """The answers of all interpreters, which work at the same time.

    Raises NotEnumerable if one of them ends, or has not answered after this many seconds.
    """
    data = json.dumps({"path": sys.path, **request}).encode() + b"\n"
    until = time.monotonic() + seconds
    with _LOCK:
        try:
            interpreters = _interpreters()
            for process in interpreters:
                process.stdin.write(data)
                process.stdin.flush()
            return [_answer(process, until) for process in interpreters]
        except BrokenPipeError:
            _end()
            raise NotEnumerable(
                "a fresh interpreter ended before it had read the program"
            ) from None
        except BaseException:  # an interrupt, for one
            _end()
            raise


def _answer(process: Any, until: float) -> Any:
    if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
        raise NotEnumerable(
            "the program has ended here, but not in a fresh interpreter, which took more than ten "
            "times as long"
        )
    line = process.stdout.readline()
    if not line.endswith(b"\n"):
        raise NotEnumerable(f"the program ended a fresh interpreter (status {process.wait()})")
    return json.loads(line)


def _interpreters() -> list[Any]:
    global _owner
    if any(process.poll() is not None for process in _started):
        _end()  # something else has ended one, such as a command that was told to stop
    if _owner != os.getpid():
        _owner = os.getpid()
        _started[:] = [_start(seed) for seed in _SEEDS]
    return _started


def _start(seed: str) -> Any:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from exactdp.audit.code.serving import serve; serve()"
    )
    return subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed, _INSIDE: "1"},
        start_new_session=True,  # Ctrl-C is for this process, which then ends the interpreters
    )


@atexit.register
def _end() -> None:
    global _owner
    if _owner != os.getpid():
        return
    _owner = None
    for process in _started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
