"""Shared test settings: hypothesis profiles, no deadlines, a terminal's signals.

The default run draws the same examples every time. The profile `thorough` (make test-slow) draws
fresh ones, and a failure prints the decorator that repeats it.
"""

from __future__ import annotations

import signal

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
