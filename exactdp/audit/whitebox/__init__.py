"""The audit of code: foreign programs run through all choices of the generator they are given.

foreign follows the branches; draws and generators answer the program, with lazy numbers where its
code is plain; watch and memory see to it that it depends on nothing else; outcomes tells results
apart; verdicts compares laws.
"""

from exactdp.audit.whitebox.reach import foreign_law
from exactdp.audit.whitebox.shortcuts import shortcut
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.audit.whitebox.verdicts import Comparison, Privacy, compare, private

__all__ = [
    "Comparison",
    "NotEnumerable",
    "Privacy",
    "compare",
    "foreign_law",
    "private",
    "shortcut",
]
