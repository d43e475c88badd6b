"""Sparse vectors in the local model: means of up to k values per user, out of very many items."""

from exactdp.local.sparse.entries import Entries
from exactdp.local.sparse.estimates import Means
from exactdp.local.sparse.mean import SparseVectorMean
from exactdp.local.sparse.plan import Plan

__all__ = ["Entries", "Means", "Plan", "SparseVectorMean"]
