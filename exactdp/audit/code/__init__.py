"""The audit of code: the exact law of a program that is handed its random generator.

judge decides; explore follows the branches in a forked child, draw_forks by a fork at every draw,
fresh repeats them in new interpreters; draws and generators answer the program, with lazy numbers
where they can; watch notices randomness that is not theirs; outcomes tells results apart; verdicts
compares laws.
"""

from exactdp.audit.code.laws import Comparison, compare, foreign_law
from exactdp.audit.code.runs import NotEnumerable
from exactdp.audit.code.verdicts import Privacy, private

__all__ = [
    "Comparison",
    "NotEnumerable",
    "Privacy",
    "compare",
    "foreign_law",
    "private",
]
