"""Small mechanisms whose every report can be listed."""

from __future__ import annotations

from exactdp.local import (
    FrequencyOracle,
    HadamardResponse,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    PermanentRappor,
    RandomizedResponse,
    Rappor,
    SubsetSelection,
)

ORACLES: list[FrequencyOracle] = [
    RandomizedResponse(k=2, epsilon="0.1"),
    RandomizedResponse(k=5, epsilon="1.5"),
    OptimizedUnaryEncoding(k=3, epsilon=1),
    Rappor(k=3, epsilon=2),
    HadamardResponse(k=3, epsilon="0.5"),
    HadamardResponse(k=5, epsilon=1, blocks=2),
    HadamardResponse(k=4, epsilon=3, blocks=4),
    OptimizedLocalHashing(k=5, epsilon="0.5"),
    OptimizedLocalHashing(k=3, epsilon=2, buckets=5),
    PermanentRappor(k=3, epsilon="0.4", limit=1),
    SubsetSelection(k=4, epsilon="0.5", size=2),
    SubsetSelection(k=4, epsilon=2, size=1),
]
NAMES = [f"{type(m).__name__}-{m.k}" for m in ORACLES]
