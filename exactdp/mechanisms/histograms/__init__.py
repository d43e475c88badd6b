"""Histograms of a data set of n rows, by integer arithmetic.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV).
"""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.histograms.basic import BasicHistogram, StabilityHistogram
    from exactdp.mechanisms.histograms.compact import CompactHistogram
    from exactdp.mechanisms.histograms.compact_release import CompactRelease
    from exactdp.mechanisms.histograms.fixed_bits import FixedTimeSparseHistogram, SparseHistogram
    from exactdp.mechanisms.histograms.keep_heavy import (
        KeepHeavy,
        KeepHeavyResampled,
        KeepHeavySampled,
        PureSparseHistogram,
    )
    from exactdp.mechanisms.histograms.mechanism import Release
    from exactdp.mechanisms.histograms.padded import PaddedSparseHistogram

__all__ = [
    "BasicHistogram",
    "CompactHistogram",
    "CompactRelease",
    "FixedTimeSparseHistogram",
    "KeepHeavy",
    "KeepHeavyResampled",
    "KeepHeavySampled",
    "PaddedSparseHistogram",
    "PureSparseHistogram",
    "Release",
    "SparseHistogram",
    "StabilityHistogram",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "basic": "BasicHistogram StabilityHistogram",
        "compact": "CompactHistogram",
        "compact_release": "CompactRelease",
        "fixed_bits": "SparseHistogram FixedTimeSparseHistogram",
        "keep_heavy": "KeepHeavy KeepHeavyResampled KeepHeavySampled PureSparseHistogram",
        "mechanism": "Release",
        "padded": "PaddedSparseHistogram",
    },
)
