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
    least: |X| is at least that.
    """

    share: Fraction
    plain: Fraction
    per_bin: bool
    gamma: Fraction = Fraction(0)
    least: int = 2


def require_column(column: Column) -> str:
    """Require (share - gamma) argument >= 1 for every |X|: the error by Theorems 4.5 and 4.6.

    Theorem 4.6 gives ceil((2/eps~) ln(1/(beta' - gamma))) for beta' > gamma and 2/eps~ < 9/(2 eps).
    With u = 1/|X| the product is affine in u, or free of it where both sides carry the |X|.
    """
    for u in (Fraction(1),) if column.per_bin else (Fraction(0), Fraction(1, column.least)):
        product = (column.share - column.gamma * u) * column.plain
        require(product >= 1, f"1/|X| = {u}: ln({column.plain}/beta) is short, {product} < 1")
    return f"affine in 1/|X|, at both ends of |X| >= {column.least}"
