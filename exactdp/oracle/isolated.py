"""Adapters in a process of their own: what hangs or aborts there is a crash here, and no more.

The process speaks the JSON-lines protocol: ``python -m exactdp.oracle.isolated <adapter>`` reads
questions from its input and prints answers.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import IO, Any

from exactdp.errors import InvalidParameter
from exactdp.oracle.adapters import make
from exactdp.oracle.conformance import Report, Result, Unsupported, judge
from exactdp.oracle.vectors import Vector

__all__ = ["run_isolated", "serve"]


def run_isolated(
    name: str, vectors: Iterable[Vector], *, timeout: float = 20.0, memory: int | None = None
) -> Report:
    """Put every question to an adapter that runs in a process of its own.

    name: of the adapter. timeout: seconds per question. memory: most bytes the process may take,
    where the system can limit that.
    """
    child = _Child(name, timeout, memory)
    try:
        return Report(name, child.version(), tuple(child.ask(vector) for vector in vectors))
    finally:
        child.stop()


@dataclass
class _Child:
    name: str
    timeout: float
    memory: int | None
    process: subprocess.Popen[str] | None = None
    greeting: dict[str, Any] = field(default_factory=dict)

    def version(self) -> str:
        self._start()
        return str(self.greeting["version"])

    def ask(self, vector: Vector) -> Result:
        process = self._start()
        try:
            _stream(process.stdin).write(json.dumps(vector.as_question()) + "\n")
            _stream(process.stdin).flush()
            line = self._line(self.timeout)
        except BrokenPipeError:
            line = ""
        if line is None:
            self.stop()
            return Result(vector, "crash", detail=f"no answer within {self.timeout:g} s")
        if not line:
            code = process.wait()
            self.process = None
            return Result(vector, "crash", detail=f"the process ended with code {code}")
        answer = json.loads(line)
        if "error" in answer:
            return Result(vector, "crash", detail=answer["error"])
        if answer.get("unsupported"):
            return judge(vector, Unsupported(answer["reason"]))
        return judge(vector, float.fromhex(value) if "x" in (value := answer["value"]) else value)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
            self.process = None

    def _start(self) -> subprocess.Popen[str]:
        if self.process is not None:
            return self.process
        command = [sys.executable, "-m", "exactdp.oracle.isolated", self.name]
        self.process = subprocess.Popen(  # noqa: S603 (this interpreter, this module)
            [*command, str(self.memory or 0)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self._line(120)
        if not line:
            self.stop()
            raise InvalidParameter("adapter", self.name, "one whose library is installed")
        self.greeting = json.loads(line)
        return self.process

    def _line(self, timeout: float) -> str | None:
        """A line of output; "" at its end, None when none comes in time."""
        output = _stream(None if self.process is None else self.process.stdout)
        with selectors.DefaultSelector() as waiting:
            waiting.register(output, selectors.EVENT_READ)
            return output.readline() if waiting.select(timeout) else None


def serve(name: str, questions: IO[str], answers: IO[str]) -> None:
    """Answer questions, one JSON object per line, until they end."""
    adapter = make(name)
    _put(answers, {"name": adapter.name, "version": adapter.version})
    for line in questions:
        question = json.loads(line)
        try:
            answer = adapter.answer(question["question"], question["group"], question["parameters"])
            _put(answers, {"id": question["id"], **_encoded(answer)})
        except Exception as error:  # whatever a library raises is its answer
            text = " ".join(f"{type(error).__name__}: {error}".split())
            _put(answers, {"id": question["id"], "error": text[:200]})


def _encoded(answer: Any) -> dict[str, Any]:
    if isinstance(answer, Unsupported):
        return {"unsupported": True, "reason": answer.reason}
    if isinstance(answer, (int, str, Decimal, Fraction)):
        return {"value": str(answer)}
    number = float(answer)
    return {"value": number.hex()} if number - number == 0 else {"error": f"answered {number}"}


def _put(answers: IO[str], content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def _stream(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise BrokenPipeError
    return stream


def _limit_memory(most: int) -> None:
    if most:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _limit_memory(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    output = os.fdopen(os.dup(1), "w")  # libraries that print must not disturb the protocol
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, output)
