"""Exact-arithmetic verification and accounting for differential privacy."""

from exactdp.caches import clear_caches
from exactdp.enclosure import Enclosure
from exactdp.errors import ExactDPError, InvalidParameter, Undecided

__all__ = [
    "Enclosure",
    "ExactDPError",
    "InvalidParameter",
    "Undecided",
    "__version__",
    "clear_caches",
]

__version__ = "0.3.0"
