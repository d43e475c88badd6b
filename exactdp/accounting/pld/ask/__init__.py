"""Questions about a composition: delta, epsilon, mu, type II error, Renyi divergences."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
