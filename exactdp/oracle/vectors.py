"""Conformance vectors: questions with certified answers, as JSON files.

The files are in exactdp/oracle/vectors/, one per group; schema.json describes their format. The
scripts in vectors/generate/, which share no code with the calculators, generate them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.parameters import choice

__all__ = [
    "GROUPS",
    "Group",
    "Vector",
    "all_tests",
    "find",
    "group_named",
    "load",
    "load_all",
    "schema",
    "select",
    "show",
    "validate",
    "vectors_as_jsonl",
]

#: Names of the groups, in the order of lists.
GROUPS = (
    "analytic_gaussian",
    "gshm",
    "csh",
    "thresholds",
    "discrete_gaussian",
    "discrete_laplace",
    "zcdp",
    "composition",
    "sampling",
    "sampled_gaussian",
    "events",
    "allocation",
    "noisy_max",
    "matrix",
    "sampled_matrix",
    "local_responses",
    "shuffled",
    "power",
    "repeated",
)


def group_named(name: str) -> str:
    """The group of a mechanism, from the mechanism's name in commands such as ``exactdp check``.

    >>> group_named("gaussian"), group_named("discrete-laplace"), group_named("gshm")
    ('analytic_gaussian', 'discrete_laplace', 'gshm')
    """
    return "analytic_gaussian" if name == "gaussian" else name.replace("-", "_")


@dataclass(frozen=True)
class Vector:
    """A question with certified bounds of its true answer.

    parameters: decimal strings, to be read exactly, and words. lower, upper: decimal strings.
    flags: the mistakes that the vector detects. unsafe_below: if given, only smaller answers are
    certainly unsafe.
    """

    id: str
    group: str
    question: str
    parameters: Mapping[str, str]
    lower: str
    upper: str
    flags: tuple[str, ...]
    comment: str
    unsafe_below: str | None = None

    @property
    def least(self) -> Fraction:
        """The certified lower bound of the true value."""
        return Fraction(self.lower)

    @property
    def most(self) -> Fraction:
        """The certified upper bound of the true value."""
        return Fraction(self.upper)

    @property
    def safe_from(self) -> Fraction:
        """Answers below this are unsafe."""
        return self.least if self.unsafe_below is None else Fraction(self.unsafe_below)

    def as_question(self) -> dict[str, Any]:
        """The question for an implementation, without the expected value."""
        return {
            "id": self.id,
            "group": self.group,
            "question": self.question,
            "parameters": dict(self.parameters),
        }


@dataclass(frozen=True)
class Group:
    """All vectors of one file, with explanations of the questions and flags."""

    name: str
    description: str
    questions: Mapping[str, str]
    notes: Mapping[str, str]
    source: str
    methods: tuple[str, ...]
    tests: tuple[Vector, ...]

    def __len__(self) -> int:
        return len(self.tests)

    def __iter__(self) -> Iterator[Vector]:
        return iter(self.tests)


@cache
def load(name: str) -> Group:
    """The vectors of a group.

    >>> from exactdp.oracle import vectors
    >>> group = vectors.load("analytic_gaussian")
    >>> group.tests[0].question, group.tests[0].upper[:20]
    ('delta', '0.126936737506643945')
    """
    content = document(name)
    return Group(
        name=content["group"],
        description=content["description"],
        questions=MappingProxyType(content["questions"]),
        notes=MappingProxyType({f: n["description"] for f, n in content["notes"].items()}),
        source=content["source"],
        methods=tuple(content["generator"]["methods"]),
        tests=tuple(_vector(name, test) for test in all_tests(content)),
    )


def load_all() -> tuple[Group, ...]:
    """All groups, in the order of GROUPS."""
    return tuple(load(name) for name in GROUPS)


def select(
    *, group: str | None = None, flag: str | None = None, question: str | None = None
) -> list[Vector]:
    """The vectors of a group (None: all), with this flag, and with this question."""
    groups = load_all() if group is None else (load(group),)
    return [
        vector
        for each in groups
        for vector in each
        if (flag is None or flag in vector.flags)
        and (question is None or question == vector.question)
    ]


def find(identifier: str) -> Vector:
    """The vector with this id, such as "gshm-015"."""
    name = identifier.rpartition("-")[0]
    for vector in load(name) if name in GROUPS else ():
        if vector.id == identifier:
            return vector
    raise InvalidParameter("id", identifier, "the id of a vector, such as gshm-001")


def show(identifier: str) -> str:
    """A vector with all explanations, as text; raises InvalidParameter for unknown ids."""
    vector = find(identifier)
    group = load(vector.group)
    lines = [
        f"{vector.id}: {vector.comment}",
        f"  question    {vector.question}: {group.questions[vector.question]}",
        *(f"  {name:<12}{value}" for name, value in vector.parameters.items()),
        f"  at least    {vector.lower}",
        f"  at most     {vector.upper}",
    ]
    if vector.unsafe_below is not None:
        lines.append(f"  unsafe      below {vector.unsafe_below}")
    lines += [f"  {flag}: {group.notes[flag]}" for flag in vector.flags]
    return "\n".join([*lines, f"  {group.description}", f"  Source: {group.source}"])


def vectors_as_jsonl(
    *, group: str | None = None, flag: str | None = None, question: str | None = None
) -> Iterator[str]:
    """The questions as lines of JSON, for an implementation in any language.

    Each line has id, group, question and parameters. :func:`exactdp.oracle.jsonl.check_jsonl` reads
    the answers.
    """
    for vector in select(group=group, flag=flag, question=question):
        yield json.dumps(vector.as_question())


def schema() -> dict[str, Any]:
    """The JSON Schema of a group's file."""
    content: dict[str, Any] = json.loads(_text("schema.json"))
    return content


def document(name: str) -> dict[str, Any]:
    """The unchanged content of a group's file."""
    content: dict[str, Any] = json.loads(_text(f"{choice('group', name, GROUPS)}.json"))
    return content


def all_tests(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tests of a group's file, in the order of their numbers."""
    tests = [test for group in content["testGroups"] for test in group["tests"]]
    return sorted(tests, key=lambda test: int(test["tcId"]))


def validate(content: Mapping[str, Any]) -> None:
    """Check the conditions that a JSON schema cannot express; raises InvalidParameter.

    The number and the ids of tests are right, tests are in the group of their question, lower <=
    upper, and all questions and flags are explained.
    """
    tests = all_tests(content)
    if content["numberOfTests"] != len(tests):
        count = content["numberOfTests"]
        raise InvalidParameter("numberOfTests", count, f"the number of tests, {len(tests)}")
    for place, test in enumerate(tests, 1):
        if (test["tcId"], test["id"]) != (place, f"{content['group']}-{place:03d}"):
            raise InvalidParameter("id", test["id"], f"that of test {place}, tcId {place}")
    for group in content["testGroups"]:
        for test in group["tests"]:
            if test["question"] != group["type"]:
                raise InvalidParameter(f"{test['id']} question", test["question"], group["type"])
    for test in tests:
        name, expected = test["id"], test["expected"]
        if Fraction(expected["lower"]) > Fraction(expected["upper"]):
            raise InvalidParameter(f"{name} lower", expected["lower"], "<= upper")
        if "unsafe_below" in test and Fraction(test["unsafe_below"]) > Fraction(expected["upper"]):
            raise InvalidParameter(f"{name} unsafe_below", test["unsafe_below"], "<= upper")
        if test["question"] not in content["questions"]:
            raise InvalidParameter(f"{name} question", test["question"], "explained in questions")
        for flag in test["flags"]:
            if flag not in content["notes"]:
                raise InvalidParameter(f"{name} flag", flag, "explained in notes")


def _vector(group: str, test: Mapping[str, Any]) -> Vector:
    return Vector(
        id=test["id"],
        group=group,
        question=test["question"],
        parameters=MappingProxyType(test["parameters"]),
        lower=test["expected"]["lower"],
        upper=test["expected"]["upper"],
        flags=tuple(test["flags"]),
        comment=test["comment"],
        unsafe_below=test.get("unsafe_below"),
    )


def _text(name: str) -> str:
    return (files("exactdp.oracle") / "vectors" / name).read_text(encoding="utf-8")
