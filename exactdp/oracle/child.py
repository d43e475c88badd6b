"""A child process of this interpreter that answers questions, one line each."""

from __future__ import annotations

import selectors
import subprocess
import sys
from typing import IO


class Child:
    """A child process, which starts at the first question. Callers must call :meth:`stop`.

    arguments: of the interpreter.
    """

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[str] | None = None

    @property
    def runs(self) -> bool:
        """Whether the process was started and not stopped."""
        return self._process is not None

    def ask(self, question: str, seconds: float) -> str | None:
        """The answer to a line; "" if the process has ended, None after the time limit."""
        questions, _ = self._streams()
        try:
            questions.write(question + "\n")
            questions.flush()
        except BrokenPipeError:
            return ""
        return self.line(seconds)

    def line(self, seconds: float) -> str | None:
        """The next line of the process's output; "" and None as for :meth:`ask`."""
        _, said = self._streams()
        with selectors.DefaultSelector() as waiting:
            waiting.register(said, selectors.EVENT_READ)
            return said.readline() if waiting.select(seconds) else None

    def wait(self) -> int:
        """Wait for the process to end; return its exit code."""
        code = 0 if self._process is None else self._process.wait()
        self.stop()
        return code

    def stop(self) -> None:
        """End the process; the next question starts a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _streams(self) -> tuple[IO[str], IO[str]]:
        if self._process is None:
            self._process = _started(*self._arguments)
        if self._process.stdin is None or self._process.stdout is None:
            raise BrokenPipeError
        return self._process.stdin, self._process.stdout


def output_of(*arguments: str, seconds: float) -> str:
    """The standard output of the interpreter, or the last line of its error output."""
    with _started(*arguments, errors=subprocess.PIPE) as process:
        try:
            printed, complained = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return printed.strip() or complained.strip()


def _started(*arguments: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this interpreter, which is running already
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
