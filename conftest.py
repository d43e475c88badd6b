"""Which files pytest collects: tests, and modules with examples in their docstrings; slow cases.

No other module is imported to look for examples, which would take seconds in every worker.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

_TESTS = Path(__file__).parent / "tests"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    path = collection_path
    if path.suffix != ".py" or path.name.startswith("test_") or path.name == "conftest.py":
        return None
    return path.is_relative_to(_TESTS) or ">>> " not in path.read_text(encoding="utf-8") or None


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
