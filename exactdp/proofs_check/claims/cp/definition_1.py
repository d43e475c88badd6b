"""CP, Definition 1: the restricted isometry property, and what its constant means when squared."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._model import (
    MIXED,
    Columns,
    dot,
    gram,
    hadamard,
    isometric,
    square,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_VALUES = (-1, 0, 1, 2)


def _sparse(k: int, order: int) -> Iterator[tuple[int, ...]]:
    for x in product(_VALUES, repeat=k):
        if 0 < sum(map(bool, x)) <= order:
            yield x


def _directly(columns: Columns, low: Fraction, high: Fraction) -> bool:
    """The definition on a grid of 2-sparse vectors.

    All columns of A/sqrt(m) have norm 1, so each pair has its extreme vectors at (1, 1), (1, -1):
    the grid decides.
    """
    m = len(columns[0])
    rows = list(zip(*columns, strict=True))
    for x in _sparse(len(columns), 2):
        image = square([dot(row, x) for row in rows]) / m
        if not low * square(x) <= image <= high * square(x):
            return False
    return True


def _definition(power: int) -> str:
    """Norms within 1 -+ delta against eigenvalues of B_S^T B_S within (1 -+ delta)^power."""
    cases = 0
    for columns, step in product((*MIXED[:2], hadamard(4)), range(1, 20)):
        delta = Fraction(step, 20)
        direct = _directly(columns, (1 - delta) ** 2, (1 + delta) ** 2)
        found = isometric(gram(columns), 2, (1 - delta) ** power, (1 + delta) ** power)
        case = f"delta={delta}, {len(columns)} columns of {len(columns[0])} signs"
        require(direct == found, f"{case}: vectors say {direct}, eigenvalues {found}")
        cases += 1
    return f"{cases} pairs of a matrix and a delta, every 2-sparse vector of a grid"


def _columns_are_units(order: int) -> str:
    """Every sign matrix over sqrt(m) is (order, 0)-RIP."""
    for columns in (*MIXED, ((1, -1), (1, -1))):
        holds = isometric(gram(columns), order, Fraction(1), Fraction(1))
        require(holds, f"columns {columns[:2]} ... of length {len(columns[0])}")
    return f"{len(MIXED) + 1} sign matrices"


CLAIMS = (
    CP.verified(
        "Definition 1",
        "B is (s, delta)-RIP when |Bx|_2 lies within (1 +- delta)|x|_2 for s-sparse x: "
        "the eigenvalues of every B_S^T B_S with |S| = s lie in [(1-delta)^2, (1+delta)^2].",
        "enumeration",
        **varied(_definition, 2, 1, "the eigenvalues lie in [1-delta, 1+delta]"),
        note="the norms are not squared, unlike in the source of Lemma 1.2",
    ),
    CP.verified(
        "Definition 1, order one",
        "Any sign matrix over sqrt(m) is (1, 0)-RIP: order 1 says nothing about it.",
        "enumeration",
        **varied(_columns_are_units, 1, 2, "it is (2, 0)-RIP"),
        slack="a property that holds or does not, without a number",
        ours=True,
    ),
)
