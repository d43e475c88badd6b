"""ALP, Lemma 4.3: one pass over the m bits suffices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.hashing import Keys, Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.claims.alp._shipped import literal, maximizers
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


class _Noted:
    """Hash functions of one entry that note which of them were evaluated."""

    def __init__(self, levels: int) -> None:
        self._tables = Tables(((0,),) * levels)
        self.evaluated: list[int] = []

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        return self._tables.keys(ids)

    def rows(self, keys: Keys, level: int) -> NDArray[np.uint64]:
        self.evaluated.append(level)
        return self._tables.rows(keys, level)


def _passes(fewer: int) -> str:
    """The shipped estimate: right, after one evaluation per column and no other."""
    for beta, alpha in product(
        (Fraction(1, 2), Fraction(3), Fraction(7)), (Fraction(1), Fraction(3, 2))
    ):
        m = literal(beta, alpha).levels
        for bits in product((0, 1), repeat=m):
            noted = _Noted(m)
            found = Fraction(*maximizers(bits, noted))
            require(found == estimate(bits), f"bits {bits}: {found}")
            columns = list(range(-(-beta // alpha) - fewer))
            require(noted.evaluated == columns, f"m={m}: evaluated {noted.evaluated}")
    return "m = 1 to 7, all strings of bits, hash evaluations of the shipped estimate counted"


CLAIMS = (
    ALP.verified(
        "Lemma 4.3",
        "The estimate evaluates the hash functions of the m = ceil(beta/alpha) columns once each, "
        "and reads one bit for each.",
        "enumeration",
        **varied(_passes, 0, 1, "of m - 1 columns"),
    ),
)
