"""Shared test settings: reproducible hypothesis profiles, no deadlines, a terminal's signals."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

for _name, _examples in (("exactdp", 100), ("thorough", 1000)):
    settings.register_profile(
        _name,
        deadline=None,
        derandomize=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("exactdp")

# a shell leaves what it puts in the background, and all that starts, deaf to interruptions
signal.signal(signal.SIGINT, signal.default_int_handler)
