"""pytest plugin: reports which assertions were exact, and turns vectors into test parameters.

Installed with the package. It does nothing until a test uses assert_law or assert_private, or asks
for vectors with @pytest.mark.exactdp_vectors("gshm", question="delta") and an argument `vector`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

_PROPERTY = "exactdp"


def pytest_configure(config: pytest.Config) -> None:
    """Announce the marker."""
    config.addinivalue_line(
        "markers",
        "exactdp_vectors(group, question=None): run the test once for every conformance vector of "
        "a group (of one question), passed as the argument `vector`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per vector of the marked groups."""
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
    """Note the evidence of every assertion with the test that made it."""
    from exactdp.oracle.recording import recording

    with recording(lambda text: item.user_properties.append((_PROPERTY, text))):
        return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many assertions were exact, and every statistical one with its alpha."""
    found = [
        (report.nodeid, text)
        for report in terminalreporter.stats.get("passed", [])
        for name, text in report.user_properties
        if name == _PROPERTY
    ]
    if not found:
        return
    counts = Counter(text.split(":")[0] for _, text in found)
    terminalreporter.section("exactdp")
    numbers = ", ".join(f"{count} {method}" for method, count in sorted(counts.items()))
    terminalreporter.line(f"assertions of laws and privacy: {numbers}")
    for node, text in found:
        if text.startswith("statistical"):
            terminalreporter.line(f"  {node}: {text}")
