"""Examples of a hypothesis strategy, such as pairs of neighbouring data sets."""

from __future__ import annotations

from typing import Any

from exactdp.extras import optional


def examples(strategy: Any, most: int, seed: int = 0) -> list[Any]:
    """Distinct values of a strategy, at most this number; equal seeds give equal values."""
    hypothesis: Any = optional("hypothesis")
    values: dict[str, Any] = {}

    settings = hypothesis.settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    def collect(value: Any) -> None:
        values.setdefault(repr(value), value)

    hypothesis.seed(seed)(settings(hypothesis.given(strategy)(collect)))()
    return list(values.values())
