"""A mechanism behind any command, in any language: a data set goes in, outputs come out, as JSON.

The command is started once for every batch of outputs. On its standard input it finds one line,

    {"data": <the data set>, "count": n}

and on its standard output it writes n lines, each the JSON of one output, and exits with code 0.
It must draw its own randomness: with a fixed seed, every batch would be the same. An object is a
sparse histogram or a record, an array a tuple; whatever else happens is an error, never an output.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from tempfile import TemporaryFile
from threading import Event, Timer
from typing import IO, Any

import numpy as np

from exactdp.errors import CommandFailed, InvalidParameter, one_line
from exactdp.parameters import Real, positive

_LONGEST = 1 << 24  # bytes in a line


@dataclass(frozen=True)
class Command:
    """run(dataset, n) of a program: starts it, sends the data set, reads n outputs.

    command: program and arguments, split as a shell would; no shell is involved.
    seconds: time limit for each batch, > 0 (default 60).

    A call raises InvalidParameter for a data set that is no JSON or a program that cannot be
    started, CommandFailed for a time-out, another exit code than 0, a line that is no JSON, or too
    few or too many lines.

    >>> Command("python3 -c 'print(1); print(2)'")(0, 2)
    [1, 2]
    """

    command: str
    seconds: Fraction

    def __init__(self, command: str, seconds: Real = 60) -> None:
        if not _words(command):
            raise InvalidParameter("command", command, "a program and its arguments")
        object.__setattr__(self, "command", command)
        object.__setattr__(self, "seconds", positive("seconds", seconds))

    def __call__(self, dataset: Any, n: int) -> Any:
        """n outputs of the program for a data set."""
        try:
            request = json.dumps({"data": dataset, "count": n})
        except (TypeError, ValueError) as error:
            raise InvalidParameter("dataset", dataset, f"made of JSON types ({error})") from None
        with TemporaryFile() as errors:
            late = Event()
            with self._started(request, errors, late) as process:
                lines = _read(process.stdout, n)
                code = process.wait() if len(lines) <= n else 0
            self._check(lines, n, code, late.is_set(), _last_words(errors))
        return _as_rows([self._value(line, i) for i, line in enumerate(lines)])

    @contextmanager
    def _started(
        self, request: str, errors: IO[bytes], late: Event
    ) -> Iterator[subprocess.Popen[bytes]]:
        """The running program; whatever happens, it and its children end with the block."""
        with TemporaryFile() as request_file:
            request_file.write(request.encode() + b"\n")
            request_file.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - running this command is what is asked
                    _words(self.command), stdin=request_file, stdout=subprocess.PIPE, stderr=errors,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                allowed = f"a program that can be started ({error.strerror})"
                raise InvalidParameter("command", self.command, allowed) from None

        def give_up() -> None:
            late.set()
            _kill(process)

        timer = Timer(float(self.seconds), give_up)
        timer.start()
        try:
            with process:
                try:
                    yield process
                finally:
                    _kill(process)
        finally:
            timer.cancel()

    def _check(self, lines: list[bytes], n: int, code: int, late: bool, said: str) -> None:
        if late:
            waited = f"took longer than {float(self.seconds):g} s"
            raise self._failure(f"{waited} for {n} outputs ({len(lines)} came)", said)
        if code:
            ended = f"exited with code {code}" if code > 0 else f"was ended by signal {-code}"
            raise self._failure(f"{ended} after {len(lines)} of {n} outputs", said)
        if len(lines) != n:
            many = "more" if len(lines) > n else f"{len(lines)}"
            raise self._failure(f"wrote {many} outputs where {n} were asked for", said)

    def _value(self, line: bytes, i: int) -> Any:
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            raise self._failure(f"wrote a line {i + 1} that is no JSON: {one_line(line)}") from None

    def _failure(self, what: str, said: str = "") -> CommandFailed:
        return CommandFailed(
            f"command {one_line(self.command)} {what}" + (f": {said}" if said else "")
        )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        allowed = f"a program and its arguments ({error})"
        raise InvalidParameter("command", command, allowed) from None


def _read(stream: IO[bytes] | None, n: int) -> list[bytes]:
    """Up to n + 1 lines: one more than n is enough to know that there are too many."""
    lines: list[bytes] = []
    while stream is not None and len(lines) <= n and (line := stream.readline(_LONGEST)):
        lines.append(line)
    return lines


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and the processes it started."""
    if process.returncode is None:  # once it was waited for, its number may be another's
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _last_words(errors: IO[bytes]) -> str:
    """The last line written to standard error."""
    errors.seek(max(errors.seek(0, os.SEEK_END) - 2000, 0))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else ""


def _as_rows(values: list[Any]) -> Any:
    """Vectors of one length and one kind of number as an array; anything else as it is."""
    if not values or not all(isinstance(row, list) and row for row in values):
        return values
    kinds = {type(entry) for row in values for entry in row}
    if len({len(row) for row in values}) > 1 or kinds not in ({int}, {float}):
        return values
    try:
        return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
    except OverflowError:
        return values
