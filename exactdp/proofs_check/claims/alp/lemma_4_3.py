"""ALP, Lemma 4.3: one pass over the m bits suffices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.universal_hashing import Keys, Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.claims.alp._shipped import literal, maximizers
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


class _Noted:
    """Hash functions that give one entry row 1, and note which of them were evaluated."""

    def __init__(self, levels: int) -> None:
        self._tables = Tables(((1,),) * levels)
        self.evaluated: list[int] = []

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        return self._tables.keys(ids)

    def rows(self, keys: Keys, level: int) -> NDArray[np.uint64]:
        self.evaluated.append(level)
        return self._tables.rows(keys, level)


def _passes(fewer: int) -> str:
    """The shipped estimate: right, after one evaluation per column, whatever the other rows hold.

    Three rows: a bit from another place than where the hash function leads would be seen.
    """
    for beta, alpha in product(
        (Fraction(1, 2), Fraction(3), Fraction(7)), (Fraction(1), Fraction(3, 2))
    ):
        m = literal(beta, alpha).levels
        for bits, around in product(product((0, 1), repeat=m), (0, 1)):
            noted = _Noted(m)
            array = [x for bit in bits for x in (around, bit, around)]
            found = Fraction(*maximizers(array, noted, rows=3))
            require(found == estimate(bits), f"bits {bits} among {around}: {found}")
            columns = list(range(-(-beta // alpha) - fewer))
            require(noted.evaluated == columns, f"m={m}: evaluated {noted.evaluated}")
    return (
        "m = 1 to 7, all strings of bits among zeros or ones, hash evaluations counted, as shipped"
    )


CLAIMS = (
    ALP.verified(
        "Lemma 4.3",
        "The estimate evaluates the hash functions of the m = ceil(beta/alpha) columns once each, "
        "and is decided by the one bit of each column to which they lead.",
        "enumeration",
        **varied(_passes, 0, 1, "of m - 1 columns"),
    ),
)
