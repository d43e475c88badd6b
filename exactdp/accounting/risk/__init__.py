"""What an attacker can do: from a privacy loss to the risk of attacks, and back."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
