"""Rational numbers of the checks: `fractions.Fraction` by its interface, gmpy2's by its speed.

The ledger spends most of its time in additions and products of rational numbers, which the GMP
library carries out ten times faster than Python's class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction
else:
    import gmpy2

    Fraction = gmpy2.mpq

__all__ = ["Fraction"]
