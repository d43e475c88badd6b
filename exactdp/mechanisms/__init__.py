"""The papers' release algorithms, built from samplers and guaranteed by accounting."""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.basic import BasicHistogram, StabilityHistogram
    from exactdp.mechanisms.compact import CompactHistogram, CompactRelease
    from exactdp.mechanisms.csh import CSH, TopK
    from exactdp.mechanisms.gshm import GSHM
    from exactdp.mechanisms.histogram import (
        Accuracy,
        Release,
        counts_of_rows,
        decode_bytes,
        encode_bytes,
    )
    from exactdp.mechanisms.keep_heavy import (
        KeepHeavy,
        KeepHeavyResampled,
        KeepHeavySampled,
        PureSparseHistogram,
    )
    from exactdp.mechanisms.noisy import NoisyCounts, NoisyRelease
    from exactdp.mechanisms.projections import (
        ALP,
        ALP1,
        DenseLaplace,
        HistogramALP,
        LogALP,
        MaxProjection,
        NoisyRows,
        PrivateSparsity,
        SignedALP,
        Sketch,
        Threshold,
        Threshold2,
        ThresholdALP,
        ThresholdSketch,
        TotalALP,
        private_sparsity,
        read_sketch,
        threshold_alp_for,
        within_bits,
    )
    from exactdp.mechanisms.strict import SparseHistogram, StrictPureSparseHistogram
    from exactdp.mechanisms.sums import GSHMWithSums
    from exactdp.mechanisms.top_k_with_base import TopKWithBase

__all__ = [
    "ALP",
    "ALP1",
    "CSH",
    "GSHM",
    "Accuracy",
    "BasicHistogram",
    "CompactHistogram",
    "CompactRelease",
    "DenseLaplace",
    "GSHMWithSums",
    "HistogramALP",
    "KeepHeavy",
    "KeepHeavyResampled",
    "KeepHeavySampled",
    "LogALP",
    "MaxProjection",
    "NoisyCounts",
    "NoisyRelease",
    "NoisyRows",
    "PrivateSparsity",
    "PureSparseHistogram",
    "Release",
    "SignedALP",
    "Sketch",
    "SparseHistogram",
    "StabilityHistogram",
    "StrictPureSparseHistogram",
    "Threshold",
    "Threshold2",
    "ThresholdALP",
    "ThresholdSketch",
    "TopK",
    "TopKWithBase",
    "TotalALP",
    "counts_of_rows",
    "decode_bytes",
    "encode_bytes",
    "private_sparsity",
    "read_sketch",
    "threshold_alp_for",
    "within_bits",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "basic": "BasicHistogram StabilityHistogram",
        "compact": "CompactHistogram CompactRelease",
        "csh": "CSH TopK",
        "gshm": "GSHM",
        "histogram": "Accuracy Release counts_of_rows decode_bytes encode_bytes",
        "keep_heavy": "KeepHeavy KeepHeavyResampled KeepHeavySampled PureSparseHistogram",
        "noisy": "NoisyCounts NoisyRelease",
        "projections": "ALP ALP1 HistogramALP LogALP SignedALP Sketch "
        "DenseLaplace MaxProjection NoisyRows Threshold Threshold2 ThresholdALP ThresholdSketch "
        "TotalALP read_sketch PrivateSparsity private_sparsity threshold_alp_for within_bits",
        "strict": "SparseHistogram StrictPureSparseHistogram",
        "sums": "GSHMWithSums",
        "top_k_with_base": "TopKWithBase",
    },
)
