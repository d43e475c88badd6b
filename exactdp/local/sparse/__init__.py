"""Sparse vectors in the local model: means of up to k values per user, out of very many items."""

from exactdp.local.sparse.coordinates import Harmony, Pckv
from exactdp.local.sparse.dense import DenseGaussian, DenseLaplace
from exactdp.local.sparse.entries import Entries
from exactdp.local.sparse.estimates import Means
from exactdp.local.sparse.hashed_signs import KFold, Sampled
from exactdp.local.sparse.mean import SparseVectorMean
from exactdp.local.sparse.one_bit import OneBit
from exactdp.local.sparse.plan import Plan

__all__ = [
    "DenseGaussian",
    "DenseLaplace",
    "Entries",
    "Harmony",
    "KFold",
    "Means",
    "OneBit",
    "Pckv",
    "Plan",
    "Sampled",
    "SparseVectorMean",
]
