"""Sparse vectors in the local model: means of vectors with up to k of very many items per user.

Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation" (SVA).
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
