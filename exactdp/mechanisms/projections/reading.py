"""Reading files of releases of any class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactdp.container import kind_of
from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.projections import alp, noisy_rows, private_size, thresholds
from exactdp.mechanisms.projections.combined_sketch import KIND, CombinedSketch
from exactdp.mechanisms.projections.files import kind
from exactdp.mechanisms.projections.noisy_rows import NoisyRows
from exactdp.mechanisms.projections.private_size import NoisySize
from exactdp.mechanisms.projections.thresholds import LargeValues
from exactdp.mechanisms.projections.unary_projection import Sketch

_READERS: dict[Any, Callable[[bytes, Any], Any]] = {
    **dict.fromkeys(
        (alp.ALP, alp.SignedALP, alp.LogALP, alp.HistogramALP, alp.TotalALP, alp.UnitEpsilonALP),
        Sketch.from_bytes,
    ),
    **dict.fromkeys((noisy_rows.DenseLaplace, noisy_rows.MaxProjection), NoisyRows.from_bytes),
    **dict.fromkeys(
        (thresholds.Threshold, thresholds.ApproximateThreshold), LargeValues.from_bytes
    ),
    private_size.PrivateSize: NoisySize.from_bytes,
}


def read_sketch(data: bytes) -> Any:
    """The release from a file written by its to_bytes; raises InvalidParameter."""
    if kind_of(data) != KIND.name:
        return _read(data)
    header, payload = KIND.unpack(data)
    first = header["first"]
    if not isinstance(first, int) or not 0 <= first <= len(payload):
        raise InvalidParameter("first", first, "the length of the first part")
    return CombinedSketch.checked(*(_read(bytes(x)) for x in (payload[:first], payload[first:])))


def _read(data: bytes) -> Any:
    name = kind_of(data)
    for of, read in _READERS.items():
        if name == kind(of).name:
            return read(data, of)
    raise InvalidParameter("data", Described(f"a file of kind {name!r}"), "a sketch")
