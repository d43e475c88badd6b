"""Conformance vectors for any language: questions and answers as lines of JSON.

A question (``vectors.vectors_as_jsonl``)::

    {"id": "gshm-001", "group": "gshm", "question": "delta", "parameters": {"k": "1", ...}}

Answers, one line per question, in any order::

    {"id": "gshm-001", "value": "3.1671241839788e-05"}
    {"id": "gshm-002", "unsupported": true}
    {"id": "gshm-003", "error": "overflow"}

A value is a decimal string, a hexadecimal float string ("0x1.09d3p-15", exact), or a JSON number,
which is read as an exact decimal. Print doubles with 17 digits, or as hexadecimal floats. A
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
    """The report on answers in lines of JSON.

    lines: for example sys.stdin. vectors: the questions. Raises InvalidParameter for an invalid
    line, an id that was not asked, or a second answer to a question.
    """
    questions = {vector.id: vector for vector in vectors}
    answers: dict[str, Result] = {}
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        answer = _parsed(line, count)
        identifier = answer["id"]
        if identifier not in questions:
            raise InvalidParameter(f"line {count} id", identifier, "the id of a vector in this run")
        if identifier in answers:
            raise InvalidParameter(f"line {count} id", identifier, "an id that is answered once")
        answers[identifier] = _result(questions[identifier], answer, count)
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
