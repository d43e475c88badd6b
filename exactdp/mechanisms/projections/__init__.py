"""Small private sketches of sparse vectors, which estimate any entry.

Source: Aumüller, Lebeda and Pagh, "Representing Sparse Vectors with Differential Privacy, Low
Error, Optimal Space, and Fast Access" (ALP).
"""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
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
    from exactdp.mechanisms.projections.parameter_choice import (
        PrivateSparsity,
        private_sparsity,
        threshold_alp_for,
        within_bits,
    )
    from exactdp.mechanisms.projections.sketch import Sketch
    from exactdp.mechanisms.projections.sketch_files import read_sketch
    from exactdp.mechanisms.projections.thresholds import ApproximateThreshold, Threshold

__all__ = [
    "ALP",
    "ApproximateThreshold",
    "DenseLaplace",
    "HistogramALP",
    "LogALP",
    "MaxProjection",
    "NoisyRows",
    "PrivateSparsity",
    "SignedALP",
    "Sketch",
    "Threshold",
    "ThresholdALP",
    "ThresholdSketch",
    "TotalALP",
    "UnitEpsilonALP",
    "private_sparsity",
    "read_sketch",
    "threshold_alp_for",
    "within_bits",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "alp": "ALP UnitEpsilonALP HistogramALP LogALP SignedALP TotalALP",
        "parameter_choice": "PrivateSparsity private_sparsity threshold_alp_for within_bits",
        "combined": "ThresholdALP ThresholdSketch",
        "noisy_rows": "DenseLaplace MaxProjection NoisyRows",
        "sketch_files": "read_sketch",
        "sketch": "Sketch",
        "thresholds": "Threshold ApproximateThreshold",
    },
)
