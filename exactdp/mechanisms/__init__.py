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
    from exactdp.mechanisms.thresholded.correlated_histogram import CSH, TopK, TopKWithBase
    from exactdp.mechanisms.thresholded.gaussian_histogram import GSHM
    from exactdp.mechanisms.thresholded.histogram_with_sums import GSHMWithSums, TopKWithSums
    from exactdp.mechanisms.thresholded.release import NoisyCounts, NoisyRelease

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
        "histograms.basic": "BasicHistogram StabilityHistogram",
        "histograms.compact": "CompactHistogram",
        "histograms.compact_release": "CompactRelease",
        "histograms.fixed_bits": "FixedTimeSparseHistogram SparseHistogram",
        "histograms.keep_heavy": "KeepHeavy KeepHeavyResampled KeepHeavySampled "
        "PureSparseHistogram",
        "histograms.mechanism": "Release",
        "histograms.padded": "PaddedSparseHistogram",
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
        "thresholded.correlated_histogram": "CSH TopK TopKWithBase",
        "thresholded.gaussian_histogram": "GSHM",
        "thresholded.histogram_with_sums": "GSHMWithSums TopKWithSums",
        "thresholded.release": "NoisyCounts NoisyRelease",
    },
)
