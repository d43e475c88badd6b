"""Sparse vectors in the local model: means of vectors with up to k of very many items per user.

Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation" (SVA).
"""

from exactdp.local.sparse.clipping import Stated
from exactdp.local.sparse.entries import Entries
from exactdp.local.sparse.estimates import Means
from exactdp.local.sparse.hashed_signs import KFold, Sampled
from exactdp.local.sparse.lower_bound import lower_bound
from exactdp.local.sparse.mean import SparseVectorMean
from exactdp.local.sparse.naive_noise import NaiveGaussian, NaiveLaplace
from exactdp.local.sparse.one_bit import OneBit
from exactdp.local.sparse.report_plan import ReportPlan
from exactdp.local.sparse.sampled_coordinates import Harmony, Pckv, PckvUnary

__all__ = [
    "Entries",
    "Harmony",
    "KFold",
    "Means",
    "NaiveGaussian",
    "NaiveLaplace",
    "OneBit",
    "Pckv",
    "PckvUnary",
    "ReportPlan",
    "Sampled",
    "SparseVectorMean",
    "Stated",
    "lower_bound",
]
