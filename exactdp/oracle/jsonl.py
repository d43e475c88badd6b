"""Vectors for any language: questions out and answers in, as lines of JSON.

Out (``vectors.vectors_as_jsonl``)::

    {"id": "gshm-001", "group": "gshm", "question": "delta", "parameters": {"k": "1", ...}}

In, one line per question, in any order::

    {"id": "gshm-001", "value": "3.1671241839788e-05"}
    {"id": "gshm-002", "unsupported": true}
    {"id": "gshm-003", "error": "overflow"}

A value is a decimal string, a hexadecimal float string ("0x1.09d3p-15", exact), or a JSON number,
which is read as the decimal it is written as: print doubles with 17 digits, or as hexadecimal. A
question without an answer counts as a crash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.oracle.conformance import Report, Result, Unsupported, judge
from exactdp.oracle.vectors import Vector
from exactdp.parameters import json_value

__all__ = ["check_jsonl"]


def check_jsonl(
    lines: Iterable[str], vectors: Sequence[Vector], *, name: str = "stdin", version: str = ""
) -> Report:
    """Verdicts on answers that arrive as lines of JSON, such as sys.stdin.

    vectors: the questions that were put. Raises InvalidParameter for a line that is not understood,
    an id that was not asked, or one that is answered twice.
    """
    asked = {vector.id: vector for vector in vectors}
    answers: dict[str, Result] = {}
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        answer = _parsed(line, count)
        identifier = answer["id"]
        if identifier not in asked:
            raise InvalidParameter(f"line {count} id", identifier, "the id of a vector in this run")
        if identifier in answers:
            raise InvalidParameter(f"line {count} id", identifier, "answered once")
        answers[identifier] = _result(asked[identifier], answer, count)
    missing = {v.id: Result(v, "crash", detail="no answer") for v in vectors}
    return Report(name, version, tuple(answers.get(v.id, missing[v.id]) for v in vectors))


def _parsed(line: str, count: int) -> Mapping[str, Any]:
    answer = json_value(f"line {count}", line, "a JSON object", Decimal)
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        raise InvalidParameter(f"line {count}", line, "a JSON object with an id")
    return answer


def _result(vector: Vector, answer: Mapping[str, Any], count: int) -> Result:
    if answer.get("unsupported"):
        return judge(vector, Unsupported(str(answer.get("reason", ""))))
    if "error" in answer:
        return Result(vector, "crash", detail=str(answer["error"])[:200])
    if "value" not in answer:
        allowed = "an object with value, unsupported or error"
        raise InvalidParameter(f"line {count}", dict(answer), allowed)
    return judge(vector, answer["value"])
