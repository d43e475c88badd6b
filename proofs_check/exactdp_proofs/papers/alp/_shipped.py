"""The library's own encoding, estimate and layout, in the terms of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from exactdp.law import Law
from exactdp.mechanisms.projections.alp import UnitEpsilonALP
from exactdp.mechanisms.projections.combined import Combined
from exactdp.mechanisms.projections.embedding import Layer, Layout, embed, peaks
from exactdp.mechanisms.projections.universal_hashing import HashFunctions, Tables, UniversalHashes
from exactdp.samplers import SeededSource
from exactdp_proofs.papers.alp._model import Bits, Hashes
from exactdp_proofs.rationals import Fraction


def literal(beta: Fraction, alpha: Fraction, k: int = 1, s: int = 3, d: int = 1) -> UnitEpsilonALP:
    """Algorithm 2 as the library ships it."""
    return UnitEpsilonALP(d=d, k=k, s=s, largest=beta, alpha=alpha)


def combined_laws(
    mechanism: Combined, values: Iterable[Fraction | int]
) -> dict[tuple[Fraction], Law[Any]]:
    """The laws of vectors with one entry; all entries share their cells of the sketch."""
    small: Any = mechanism.small
    hashes = Tables(((0,),) * small.levels)
    return {(Fraction(x),): mechanism.law({0: x}, hashes) for x in values}


def laid_out(y: Sequence[int], hashes: Hashes, rows: int) -> Bits:
    """The bits of entries with these levels before any noise, column after column."""
    layer = Layer(np.arange(len(y)), np.array(y), Tables(tuple(map(tuple, hashes))))
    layout = Layout(rows, len(hashes))
    packed = embed([layer], layout, len(hashes), Fraction(0), SeededSource(1))
    return tuple(np.unpackbits(packed, bitorder="little")[: layout.size].tolist())


def maximizers(
    bits: Sequence[int], hashes: HashFunctions | None = None, rows: int = 1
) -> tuple[int, int]:
    """Sum and number of the places where Algorithm 3 finds its maximum, for entry 0.

    bits: column after column, `rows` of them in each.
    """
    m, one = len(bits) // rows, hashes or Tables(((0,),) * len(bits))
    packed = np.packbits(np.array(bits, np.uint8), bitorder="little")
    walk = [(b, False) for b in range(m)]
    total, count = peaks(packed, one.keys([0]), one, Layout(rows, m), walk)
    return int(total[0]), int(count[0])


def read_off(bits: Sequence[int]) -> Fraction:
    """The estimate before the final factor alpha."""
    total, count = maximizers(bits)
    return Fraction(total, count)


#: Bits of one hash function for each bit of d >= 2^30 at most: 192 bits for 30, rounded up.
HASH = Fraction(13, 2)


def words(levels: int, d: int) -> int:
    """Bits of `levels` hash functions."""
    return 8 * UniversalHashes.size(levels, d)
