"""From parameters to a certified delta, and back: one module per mechanism, loaded when used."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
