"""Histograms of a data set of n rows, by integer arithmetic.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV).
"""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.histograms.basic import BasicHistogram, StabilityHistogram
    from exactdp.mechanisms.histograms.compact import CompactHistogram, CompactRelease
    from exactdp.mechanisms.histograms.fixed_bits import SparseHistogram, StrictPureSparseHistogram
    from exactdp.mechanisms.histograms.keep_heavy import (
        KeepHeavy,
        KeepHeavyResampled,
        KeepHeavySampled,
        PureSparseHistogram,
    )
    from exactdp.mechanisms.histograms.mechanism import Release

__all__ = [
    "BasicHistogram",
    "CompactHistogram",
    "CompactRelease",
    "KeepHeavy",
    "KeepHeavyResampled",
    "KeepHeavySampled",
    "PureSparseHistogram",
    "Release",
    "SparseHistogram",
    "StabilityHistogram",
    "StrictPureSparseHistogram",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "basic": "BasicHistogram StabilityHistogram",
        "compact": "CompactHistogram CompactRelease",
        "fixed_bits": "SparseHistogram StrictPureSparseHistogram",
        "keep_heavy": "KeepHeavy KeepHeavyResampled KeepHeavySampled PureSparseHistogram",
        "mechanism": "Release",
    },
)
