"""Conformance vectors, and assertions and strategies for tests of other code.

The assertions are imported on first use, so that the pytest plugin starts fast.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
