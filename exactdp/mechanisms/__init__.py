"""Release mechanisms for a trusted curator, with exact samplers and certified guarantees.

histograms: counts of n rows, pure differential privacy (Balcer and Vadhan). thresholded: counts of
users by key (Lebeda and Retschmeier). projections: sparse vectors (Aumüller, Lebeda and Pagh).
selection: private choice of one option. partition_selection, key_sets: the keys that occur.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
