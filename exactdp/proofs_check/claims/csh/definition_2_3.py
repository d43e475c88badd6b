"""CSH, Definition 2.3: sensitivity space and l2 sensitivity of a histogram."""

from __future__ import annotations

from itertools import combinations_with_replacement

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import binary
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Vector = tuple[int, ...]


def _differences(d: int) -> set[Vector]:
    """H(X) - H(X') over all datasets of up to 3 users and one user less."""
    found: set[Vector] = set()
    users = list(binary(d))
    for size in range(1, 4):
        for data in combinations_with_replacement(users, size):
            for i in range(size):
                more, less = (_histogram(users, d) for users in (data, data[:i] + data[i + 1 :]))
                change = tuple(a - b for a, b in zip(more, less, strict=True))
                found |= {change, tuple(-x for x in change)}
    return found


def _histogram(data: tuple[Vector, ...], d: int) -> Vector:
    return tuple(sum(user[i] for user in data) for i in range(d))


def _sensitivity(signs: tuple[int, ...]) -> str:
    """The space is {0,1}^d times these signs; the largest squared l2 norm is d."""
    for d in (1, 2, 3):
        space = _differences(d)
        stated = {tuple(sign * x for x in v) for v in binary(d) for sign in signs}
        squared = max(sum(x * x for x in v) for v in space)
        require(squared == d, f"d={d}: squared sensitivity {squared}, not {d}")
        require(space == stated, f"d={d}: the sensitivity space is {sorted(space)}")
    return "d = 1, 2, 3, all datasets of up to 3 users"


CLAIMS = (
    CSH.verified(
        "Definition 2.3",
        "The sensitivity space of the histogram of {0,1}^d users is {0,1}^d joined with "
        "{0,-1}^d, and its l2 sensitivity, the largest norm in that space, is sqrt(d).",
        "enumeration",
        **varied(_sensitivity, (1, -1), (1,), "{0,1}^d alone"),
    ),
)
