"""Histograms over any domain: add noise to the non-zero counters, release those above a threshold.

Source: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism" (CSH).
"""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.mechanisms.thresholded.correlated_histogram import CSH, TopK
    from exactdp.mechanisms.thresholded.gaussian_histogram import GSHM
    from exactdp.mechanisms.thresholded.histogram_with_sums import GSHMWithSums, TopKWithSums
    from exactdp.mechanisms.thresholded.release import NoisyCounts, NoisyRelease
    from exactdp.mechanisms.thresholded.top_k_with_base import TopKWithBase

__all__ = [
    "CSH",
    "GSHM",
    "GSHMWithSums",
    "NoisyCounts",
    "NoisyRelease",
    "TopK",
    "TopKWithBase",
    "TopKWithSums",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "correlated_histogram": "CSH TopK",
        "gaussian_histogram": "GSHM",
        "histogram_with_sums": "GSHMWithSums TopKWithSums",
        "release": "NoisyCounts NoisyRelease",
        "top_k_with_base": "TopKWithBase",
    },
)
