"""The exact delta of the correlated sparse histogram (exactdp/pages/exact-csh.md)."""

from exactdp.accounting.sparse_histograms.csh_exact.estimates import Estimates
from exactdp.accounting.sparse_histograms.csh_exact.maximum import (
    evaluate,
    noise_distance,
    noise_only,
    pair,
    threshold_only,
)
from exactdp.accounting.sparse_histograms.csh_exact.terms import MOST_BITS, Family, Worst

__all__ = [
    "MOST_BITS",
    "Estimates",
    "Family",
    "Worst",
    "evaluate",
    "noise_distance",
    "noise_only",
    "pair",
    "threshold_only",
]
