"""Certified privacy loss distributions: bounds of delta and epsilon from both sides."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)

# these functions have the names of submodules, which importing a submodule would put in their place
from exactdp.accounting.pld.mechanisms import laws as laws  # noqa: E402
from exactdp.accounting.pld.sgd import sgd as sgd  # noqa: E402
