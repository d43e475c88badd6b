"""The audit of code: foreign programs run through all choices of the generator they are given."""

from exactdp.audit.whitebox.foreign import foreign_law, shortcut
from exactdp.audit.whitebox.verdicts import Comparison, Privacy, compare, private

__all__ = ["Comparison", "Privacy", "compare", "foreign_law", "private", "shortcut"]
