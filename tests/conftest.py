"""Shared test settings: hypothesis profiles, no deadlines, slow cases, a terminal's signals.

The default run draws the same examples every time. The profile `thorough` (make test-slow) draws
fresh ones, and a failure prints the decorator that repeats it.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for _name, _examples in (("exactdp", 50), ("thorough", 1000)):
    settings.register_profile(
        _name,
        deadline=None,
        derandomize=_name != "thorough",
        print_blob=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("exactdp")

# a shell makes its background processes ignore SIGINT, and their children inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_fresh_interpreters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of code start no fresh interpreters, each of which would import the test's module.

    Tests of what fresh interpreters see are marked `fresh`; slow tests start them, too.
    """
    if not any(request.node.get_closest_marker(name) for name in ("fresh", "slow")):
        monkeypatch.setenv("EXACTDP_FRESH_INTERPRETER", "1")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules without tests have no doctests either: they are not imported to look for any."""
    helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return (helper and collection_path.is_relative_to(Path(__file__).parent)) or None


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow the cases of a test that follow its first `few`, and examples that say so."""
    quick: Counter[str] = Counter()
    for item in items:
        few = item.get_closest_marker("few")
        if few and not item.get_closest_marker("slow"):
            test = item.nodeid.partition("[")[0]
            quick[test] += 1
            if quick[test] > few.args[0]:
                item.add_marker("slow")
        steps = item.dtest.examples if isinstance(item, pytest.DoctestItem) else ()
        if any(step.source.endswith("  # takes seconds\n") for step in steps):
            item.add_marker("slow")
