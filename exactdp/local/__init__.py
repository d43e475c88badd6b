"""The local model: users randomize their own values, and the law of what they send is exact."""

from exactdp.local.frame import LocalMechanism, State
from exactdp.local.randomized_response import RandomizedResponse

__all__ = ["LocalMechanism", "RandomizedResponse", "State"]
