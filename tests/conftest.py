"""Shared test settings: reproducible hypothesis profiles, no deadlines."""

from __future__ import annotations

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
