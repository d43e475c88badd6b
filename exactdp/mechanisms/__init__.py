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
        FixedTimeSparseHistogram,
        KeepHeavy,
        KeepHeavyResampled,
        KeepHeavySampled,
        PaddedSparseHistogram,
        PureSparseHistogram,
        Release,
        SparseHistogram,
        StabilityHistogram,
    )
    from exactdp.mechanisms.key_sets import MAD2R, SIPS, WeightedGaussian
    from exactdp.mechanisms.known_keys import CorrelatedGaussian, KnownKeys
    from exactdp.mechanisms.partition_selection import PartitionSelection
    from exactdp.mechanisms.projections.alp import (
        ALP,
        HistogramALP,
        LogALP,
        SignedALP,
        TotalALP,
        UnitEpsilonALP,
    )
    from exactdp.mechanisms.projections.combined import Combined
    from exactdp.mechanisms.projections.combined_sketch import CombinedSketch
    from exactdp.mechanisms.projections.noisy_rows import DenseLaplace, MaxProjection, NoisyRows
    from exactdp.mechanisms.projections.private_size import NoisySize, PrivateSize, SizedALP
    from exactdp.mechanisms.projections.reading import read_sketch
    from exactdp.mechanisms.projections.sketch import Sketch
    from exactdp.mechanisms.projections.thresholds import (
        ApproximateThreshold,
        LargeValues,
        Threshold,
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
        TopKWithSums,
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
    "Combined",
    "CombinedSketch",
    "CompactHistogram",
    "CompactRelease",
    "CorrelatedGaussian",
    "DenseLaplace",
    "ExponentialMechanism",
    "FixedTimeSparseHistogram",
    "GSHMWithSums",
    "HistogramALP",
    "KeepHeavy",
    "KeepHeavyResampled",
    "KeepHeavySampled",
    "KnownKeys",
    "LargeValues",
    "LogALP",
    "MaxProjection",
    "NoisyCounts",
    "NoisyRelease",
    "NoisyRows",
    "NoisySize",
    "PaddedSparseHistogram",
    "PartitionSelection",
    "PermuteAndFlip",
    "PrivateSize",
    "PureSparseHistogram",
    "Release",
    "SignedALP",
    "SizedALP",
    "Sketch",
    "SparseHistogram",
    "StabilityHistogram",
    "Threshold",
    "TopK",
    "TopKWithBase",
    "TopKWithSums",
    "TotalALP",
    "UnitEpsilonALP",
    "WeightedGaussian",
    "counts_of_rows",
    "decode_bytes",
    "encode_bytes",
    "read_sketch",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "accuracy": "Accuracy",
        "counts": "counts_of_rows",
        "encoding": "decode_bytes encode_bytes",
        "histograms": "BasicHistogram CompactHistogram CompactRelease FixedTimeSparseHistogram "
        "KeepHeavy KeepHeavyResampled KeepHeavySampled PaddedSparseHistogram PureSparseHistogram "
        "Release SparseHistogram StabilityHistogram",
        "key_sets": "MAD2R SIPS WeightedGaussian",
        "known_keys": "CorrelatedGaussian KnownKeys",
        "projections.alp": "ALP UnitEpsilonALP HistogramALP LogALP SignedALP TotalALP",
        "projections.combined": "Combined",
        "projections.combined_sketch": "CombinedSketch",
        "projections.noisy_rows": "DenseLaplace MaxProjection NoisyRows",
        "projections.private_size": "NoisySize PrivateSize SizedALP",
        "projections.reading": "read_sketch",
        "projections.sketch": "Sketch",
        "projections.thresholds": "Threshold ApproximateThreshold LargeValues",
        "partition_selection": "PartitionSelection",
        "selection": "ExponentialMechanism PermuteAndFlip",
        "thresholded": "CSH GSHM GSHMWithSums NoisyCounts NoisyRelease TopK TopKWithBase "
        "TopKWithSums",
    },
)
