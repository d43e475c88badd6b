"""The audit of code: the exact law of a program that is handed its random generator.

verdicts compares laws, which judge finds. search runs a program in forked children, fresh in new
interpreters. functions explores calls by themselves, where pure
finds that they only compute and draw. generators and draws answer the program, with lazy numbers
where they can. guard and watch notice other randomness. outcomes tells results apart.
"""

from exactdp.audit.code.laws import foreign_law
from exactdp.audit.code.runs import NotEnumerable
from exactdp.audit.code.verdicts import Privacy, private

__all__ = [
    "NotEnumerable",
    "Privacy",
    "foreign_law",
    "private",
]
