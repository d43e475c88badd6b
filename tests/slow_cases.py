"""Measures the seconds of the processor that every case of a test takes, and lists the slow cases.

`make slow-cases` runs all cases that are not marked slow in the code, and writes the list
`slow_cases.txt`: cases over the limit, but not the fastest case of a test function, unless even
that one takes long. `conftest.py` marks the listed cases slow: the default run has nearly all
functions, with their fast cases, and `make test-slow` has the rest.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")

#: Seconds of the processor, of the process and all that it started.
_LIMIT = 0.05

#: The same for the fastest case of a function.
_LONG = 0.75

_taken: dict[str, float] = {}


def listed() -> frozenset[str]:
    """The cases that are slow, as pytest names them."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line.split(maxsplit=1)[1] for line in lines)


def slow(taken: dict[str, float]) -> dict[str, float]:
    """The cases over the limit, which is larger for the fastest case of each test function."""
    functions: defaultdict[str, list[str]] = defaultdict(list)
    for case in taken:
        functions[case.partition("[")[0]].append(case)
    fastest = {min(cases, key=lambda case: (taken[case], case)) for cases in functions.values()}
    return {
        case: s for case, s in sorted(taken.items()) if s > (_LONG if case in fastest else _LIMIT)
    }


def _seconds() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Notes the seconds with the test; a worker sends this to the process that lists."""
    began = _seconds()
    try:
        yield
    finally:
        item.user_properties.append(("seconds", _seconds() - began))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collects the seconds in the process that lists."""
    if report.when == "call":
        _taken[report.nodeid] = dict(report.user_properties)["seconds"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the list."""
    if not hasattr(session.config, "workerinput"):
        lines = [f"{seconds:.1f} {case}\n" for case, seconds in slow(_taken).items()]
        LIST.write_text("".join(lines), encoding="utf-8")
