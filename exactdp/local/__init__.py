"""The local model: users randomize their own values; the law of every report is exact."""

from exactdp.local.compressive import CompressiveResponse, MatrixResponse
from exactdp.local.compressive_bounds import coherence, recovery_bound, unbalanced_loss
from exactdp.local.compressive_plan import CompressivePlan
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.hadamard_response import HadamardResponse
from exactdp.local.local_hashing import OptimizedLocalHashing
from exactdp.local.longitudinal import PermanentRappor
from exactdp.local.mechanism import LocalMechanism, State
from exactdp.local.randomized_response import RandomizedResponse
from exactdp.local.recovery_certificate import Certificate, CertifiedShares
from exactdp.local.shuffled import Shuffled
from exactdp.local.sparse import Entries, SparseVectorMean
from exactdp.local.subset_selection import SubsetSelection
from exactdp.local.unary_encoding import OptimizedUnaryEncoding, Rappor

__all__ = [
    "Certificate",
    "CertifiedShares",
    "CompressivePlan",
    "CompressiveResponse",
    "Entries",
    "FrequencyOracle",
    "HadamardResponse",
    "LocalMechanism",
    "MatrixResponse",
    "OptimizedLocalHashing",
    "OptimizedUnaryEncoding",
    "PermanentRappor",
    "RandomizedResponse",
    "Rappor",
    "Shuffled",
    "SparseVectorMean",
    "State",
    "SubsetSelection",
    "coherence",
    "recovery_bound",
    "unbalanced_loss",
]
