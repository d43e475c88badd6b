"""Small mechanisms whose every report can be listed."""

from __future__ import annotations

from exactdp.local import RandomizedResponse
from exactdp.local.frequency import FrequencyOracle

ORACLES: list[FrequencyOracle] = [
    RandomizedResponse(k=2, epsilon="0.1"),
    RandomizedResponse(k=5, epsilon="1.5"),
]
NAMES = [f"{type(m).__name__}-{m.k}" for m in ORACLES]
