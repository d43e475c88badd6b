"""CSH, Definition 2.3: sensitivity space and l2 sensitivity of a histogram."""

from __future__ import annotations

from itertools import combinations_with_replacement

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import binary
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Vector = tuple[int, ...]


def _differences(d: int) -> set[Vector]:
    """H(X) - H(X') over all datasets of up to 2 users and one user more or less."""
    found: set[Vector] = set()
    users = list(binary(d))
    for size in range(3):
        for data in combinations_with_replacement(users, size):
            before = [sum(column) for column in zip(*data, strict=True)] or [0] * d
            for new in users:
                after = [b + x for b, x in zip(before, new, strict=True)]
                change = tuple(x - b for x, b in zip(after, before, strict=True))
                found |= {change, tuple(-x for x in change)}
    return found


def _sensitivity(missing: int) -> str:
    """The space is {0,1}^d and {0,-1}^d; the largest squared l2 norm is d - missing."""
    for d in (1, 2, 3):
        space = _differences(d)
        ones = set(binary(d))
        stated = ones | {tuple(-x for x in v) for v in ones}
        require(space == stated, f"d={d}: the sensitivity space is {sorted(space)}")
        squared = max(sum(x * x for x in v) for v in space)
        require(squared == d - missing, f"d={d}: squared sensitivity {squared}, not {d - missing}")
    return "d = 1, 2, 3, all datasets of up to 2 users"


CLAIMS = (
    CSH.verified(
        "Definition 2.3",
        "The sensitivity space of the histogram of {0,1}^d users is {0,1}^d joined with "
        "{0,-1}^d, and its l2 sensitivity, the largest norm in that space, is sqrt(d).",
        "enumeration",
        **varied(_sensitivity, 0, 1, "the l2 sensitivity is sqrt(d - 1)"),
    ),
)
