"""Reading files of sketches of any class."""

from __future__ import annotations

from typing import Any

from exactdp.container import kind_of
from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.projections.alp import (
    ALP,
    HistogramALP,
    LogALP,
    SignedALP,
    TotalALP,
    UnitEpsilonALP,
)
from exactdp.mechanisms.projections.combined import ThresholdALP, ThresholdSketch
from exactdp.mechanisms.projections.noisy_rows import DenseLaplace, MaxProjection, NoisyRows
from exactdp.mechanisms.projections.sketch import Sketch

_SKETCHES: tuple[Any, ...] = (ALP, UnitEpsilonALP, HistogramALP, LogALP, SignedALP, TotalALP)
_ROWS: tuple[Any, ...] = (DenseLaplace, MaxProjection)


def read_sketch(data: bytes) -> Sketch | ThresholdSketch | NoisyRows:
    """The sketch from a file written by to_bytes of any sketch class; raises InvalidParameter."""
    name = kind_of(data)
    if name == f"{ThresholdALP.__name__} sketch":
        return ThresholdSketch.from_bytes(data)
    for of in _SKETCHES:
        if name == f"{of.__name__} sketch":
            return Sketch.from_bytes(data, of)
    for of in _ROWS:
        if name == f"{of.__name__} rows":
            return NoisyRows.from_bytes(data, of)
    raise InvalidParameter("data", Described(f"a file of kind {name!r}"), "a sketch")
