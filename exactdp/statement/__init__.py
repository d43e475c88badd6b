"""Privacy statements: what was released and what is claimed, in a form that anybody can re-check.

A :class:`Statement` holds releases, claims with directions, and the choices of their derivation
(checker/SPECIFICATION.md). :func:`check` recomputes its claims with the stand-alone checker of the
folder checker/, which shares no code with the library.
"""

from exactdp.statement.checker import Verdict, check
from exactdp.statement.document import Statement
from exactdp.statement.making import calculated, imported, of, released

__all__ = ["Statement", "Verdict", "calculated", "check", "imported", "of", "released"]
