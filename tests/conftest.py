"""Shared test settings: hypothesis profiles, no deadlines, a terminal's signals.

The default run draws the same examples every time. The profile `thorough` (make test-slow) draws
fresh ones, and a failure prints the decorator that repeats it.
"""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

for _name, _examples in (("exactdp", 100), ("thorough", 1000)):
    settings.register_profile(
        _name,
        deadline=None,
        derandomize=_name != "thorough",
        print_blob=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("exactdp")

# a shell leaves what it puts in the background, and all that starts, deaf to interruptions
signal.signal(signal.SIGINT, signal.default_int_handler)
