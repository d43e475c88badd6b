"""Sparse vectors as small private sketches from which any entry can be asked (ALP)."""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.projections.alp import ALP, ALP1, HistogramALP, LogALP, SignedALP
    from exactdp.mechanisms.projections.sketch import Sketch

__all__ = ["ALP", "ALP1", "HistogramALP", "LogALP", "SignedALP", "Sketch"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "alp": "ALP ALP1 HistogramALP LogALP SignedALP",
        "sketch": "Sketch",
    },
)
