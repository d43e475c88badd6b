"""Adapters in a separate process, where a library that hangs or aborts is reported as a crash.

``python -m exactdp.oracle.isolated <adapter>`` reads questions as lines of JSON from standard input
and prints answers.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import IO, Any

from exactdp.errors import InvalidParameter
from exactdp.oracle.adapter import make
from exactdp.oracle.child import Child
from exactdp.oracle.conformance import Report, Result, Unsupported, judge
from exactdp.oracle.vectors import Vector

#: Time limit for importing a library, in seconds.
_STARTING = 120


def run_isolated(
    where: str, vectors: Iterable[Vector], *, timeout: float = 20.0, memory: int | None = None
) -> Report:
    """Put every question to an adapter in a separate process; returns the report.

    where: "exactdp", or "package.module:function" for a function that returns the adapter.
    timeout: seconds per question. memory: memory limit of the process in bytes, on systems that
    support it. Raises InvalidParameter.
    """
    adapter = _Isolated(where, timeout, memory)
    try:
        name, version = adapter.greeting()
        return Report(name, version, tuple(adapter.ask(vector) for vector in vectors))
    finally:
        adapter.stop()


class _Isolated:
    def __init__(self, where: str, timeout: float, memory: int | None) -> None:
        self._where, self._timeout = where, timeout
        self._child = Child("-m", "exactdp.oracle.isolated", where, str(memory or 0))

    def greeting(self) -> tuple[str, str]:
        """The name and the version that the process states before any answer."""
        line = self._child.line(_STARTING)
        if not line:
            self.stop()
            raise InvalidParameter("adapter", self._where, "an adapter whose library is installed")
        greeting = json.loads(line)
        return str(greeting["name"]), str(greeting["version"])

    def ask(self, vector: Vector) -> Result:
        if not self._child.runs:
            self.greeting()
        line = self._child.ask(json.dumps(vector.as_question()), self._timeout)
        if line is None:
            self.stop()
            return Result(vector, "crash", detail=f"no answer within {self._timeout:g} s")
        if not line:
            code = self._child.wait()
            return Result(vector, "crash", detail=f"the process ended with code {code}")
        answer = json.loads(line)
        if "error" in answer:
            return Result(vector, "crash", detail=answer["error"])
        if answer.get("unsupported"):
            return judge(vector, Unsupported(answer["reason"]))
        return judge(vector, float.fromhex(value) if "x" in (value := answer["value"]) else value)

    def stop(self) -> None:
        self._child.stop()


def serve(where: str, questions: IO[str], answers: IO[str]) -> None:
    """Answer questions, one JSON object per line, until the end of the input."""
    adapter = make(where)
    _put(answers, {"name": adapter.name, "version": adapter.version})
    for line in questions:
        question = json.loads(line)
        try:
            answer = adapter.answer(question["question"], question["group"], question["parameters"])
            _put(answers, {"id": question["id"], **_encoded(answer)})
        except Exception as error:  # every exception of a library is its answer
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


def _limit_memory(most: int) -> None:
    if most:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _limit_memory(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    output = os.fdopen(
        os.dup(1), "w", encoding="utf-8"
    )  # libraries that print must not disturb the protocol
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, output)
