"""pytest plugin: reports which assertions were exact, and makes test parameters of vectors.

The package installs the plugin, which affects only tests that use assert_law or assert_private, or
the mark @pytest.mark.exactdp_vectors("gshm", question="delta") with an argument `vector`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

_PROPERTY = "exactdp"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "exactdp_vectors(group, question=None): run the test once for every conformance vector of "
        "a group (of one question), passed as the argument `vector`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each vector of the marked groups."""
    if "vector" not in metafunc.fixturenames:
        return
    chosen: list[Any] = []
    for mark in metafunc.definition.iter_markers("exactdp_vectors"):
        chosen += _vectors(*mark.args, **mark.kwargs)
    if chosen:
        metafunc.parametrize("vector", chosen, ids=[vector.id for vector in chosen])


def _vectors(group: str, question: str | None = None) -> list[Any]:
    from exactdp.oracle.vectors import load

    return [v for v in load(group).tests if question in (None, v.question)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record the evidence of every assertion of a test."""
    from exactdp.oracle.recording import recording

    with recording(lambda text: item.user_properties.append((_PROPERTY, text))):
        return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the number of exact assertions, and each statistical assertion with its alpha."""
    evidence = [
        (report.nodeid, text)
        for report in terminalreporter.stats.get("passed", [])
        for name, text in report.user_properties
        if name == _PROPERTY
    ]
    if not evidence:
        return
    counts = Counter(text.split(":")[0] for _, text in evidence)
    terminalreporter.section("exactdp")
    numbers = ", ".join(f"{count} {method}" for method, count in sorted(counts.items()))
    terminalreporter.line(f"assertions of laws and privacy: {numbers}")
    for node, text in evidence:
        if text.startswith("statistical"):
            terminalreporter.line(f"  {node}: {text}")
