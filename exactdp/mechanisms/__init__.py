"""Release mechanisms for a trusted curator, with exact samplers and certified guarantees.

histograms: counts of n rows, pure differential privacy (Balcer and Vadhan). thresholded: counts of
users by key (Lebeda and Retschmeier). projections: sparse vectors (Aumüller, Lebeda and Pagh).
selection: private choice of one option. partition_selection, key_sets: the keys that occur.
"""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.accuracy import Accuracy
    from exactdp.mechanisms.counts import counts_of_rows
    from exactdp.mechanisms.encoding import decode_bytes, encode_bytes
    from exactdp.mechanisms.histograms import (
        BasicHistogram,
        CompactHistogram,
        CompactRelease,
        KeepHeavy,
        KeepHeavyResampled,
        KeepHeavySampled,
        PureSparseHistogram,
        Release,
        SparseHistogram,
        StabilityHistogram,
        StrictPureSparseHistogram,
    )
    from exactdp.mechanisms.key_sets import MAD2R, SIPS, WeightedGaussian
    from exactdp.mechanisms.known_keys import KnownKeys
    from exactdp.mechanisms.partition_selection import PartitionSelection
    from exactdp.mechanisms.projections import (
        ALP,
        ApproximateThreshold,
        DenseLaplace,
        HistogramALP,
        LogALP,
        MaxProjection,
        NoisyRows,
        PrivateSparsity,
        SignedALP,
        Sketch,
        Threshold,
        ThresholdALP,
        ThresholdSketch,
        TotalALP,
        UnitEpsilonALP,
        private_sparsity,
        read_sketch,
        threshold_alp_for,
        within_bits,
    )
    from exactdp.mechanisms.selection import ExponentialMechanism, PermuteAndFlip
    from exactdp.mechanisms.thresholded import (
        CSH,
        GSHM,
        GSHMWithSums,
        NoisyCounts,
        NoisyRelease,
        TopK,
        TopKWithBase,
    )

__all__ = [
    "ALP",
    "CSH",
    "GSHM",
    "MAD2R",
    "SIPS",
    "Accuracy",
    "ApproximateThreshold",
    "BasicHistogram",
    "CompactHistogram",
    "CompactRelease",
    "DenseLaplace",
    "ExponentialMechanism",
    "GSHMWithSums",
    "HistogramALP",
    "KeepHeavy",
    "KeepHeavyResampled",
    "KeepHeavySampled",
    "KnownKeys",
    "LogALP",
    "MaxProjection",
    "NoisyCounts",
    "NoisyRelease",
    "NoisyRows",
    "PartitionSelection",
    "PermuteAndFlip",
    "PrivateSparsity",
    "PureSparseHistogram",
    "Release",
    "SignedALP",
    "Sketch",
    "SparseHistogram",
    "StabilityHistogram",
    "StrictPureSparseHistogram",
    "Threshold",
    "ThresholdALP",
    "ThresholdSketch",
    "TopK",
    "TopKWithBase",
    "TotalALP",
    "UnitEpsilonALP",
    "WeightedGaussian",
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
        "accuracy": "Accuracy",
        "counts": "counts_of_rows",
        "encoding": "decode_bytes encode_bytes",
        "histograms": "BasicHistogram CompactHistogram CompactRelease KeepHeavy KeepHeavyResampled "
        "KeepHeavySampled PureSparseHistogram Release SparseHistogram StabilityHistogram "
        "StrictPureSparseHistogram",
        "projections": "ALP UnitEpsilonALP HistogramALP LogALP SignedALP Sketch "
        "ApproximateThreshold DenseLaplace MaxProjection NoisyRows Threshold ThresholdALP "
        "ThresholdSketch TotalALP read_sketch PrivateSparsity private_sparsity threshold_alp_for "
        "within_bits",
        "key_sets": "MAD2R SIPS WeightedGaussian",
        "known_keys": "KnownKeys",
        "partition_selection": "PartitionSelection",
        "selection": "ExponentialMechanism PermuteAndFlip",
        "thresholded": "CSH GSHM GSHMWithSums NoisyCounts NoisyRelease TopK TopKWithBase",
    },
)
