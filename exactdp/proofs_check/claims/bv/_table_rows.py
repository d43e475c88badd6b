"""What the error columns of Figures 1 and 2 need: arguments of the logarithm, against beta."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.proofs_check.claim import require

__all__ = ["Column", "require_column"]


@dataclass(frozen=True)
class Column:
    """An error ceil(9/(2 epsilon) ln(argument/beta)), argument = plain (or plain |X|).

    share: the failure probability it must achieve per bin is share beta (divided by |X|).
    per_bin: whether both carry the |X|. gamma: FastSample mixes with gamma beta/|X|.
    """

    share: Fraction
    plain: Fraction
    per_bin: bool
    gamma: Fraction = Fraction(0)


def require_column(column: Column, most: int = 2000) -> str:
    """Require (share/|X| - gamma/|X|) * argument >= 1: the error by Theorems 4.5 and 4.6 suffices.

    Theorem 4.6 gives ceil((2/eps~) ln(1/(beta' - gamma))) for beta' > gamma and 2/eps~ < 9/(2 eps).
    """
    for size in (*range(2, 200), most, most**3):
        spread = size if column.per_bin else 1
        left = column.share / spread - column.gamma / size
        case = f"|X|={size}: {column.share / spread} beta - gamma = {left} beta"
        require(left > 0, f"{case} is not > 0")
        require(left * column.plain * spread >= 1, f"{case} < beta/{column.plain * spread}")
    return "|X| = 2 .. 199 and two larger ones; both sides are linear in 1/|X|"
