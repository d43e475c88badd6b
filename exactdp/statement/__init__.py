"""Privacy statements: what was released and what is claimed, in a form that anybody can re-check.

A :class:`Statement` holds releases, claims with directions, and the choices of their derivation
(checker/SPECIFICATION.md). :func:`check` recomputes its claims with the stand-alone checker of the
folder checker/, which shares no code with the library.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
