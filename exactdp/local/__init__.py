"""The local model: users randomize their own values; the law of every report is exact."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
