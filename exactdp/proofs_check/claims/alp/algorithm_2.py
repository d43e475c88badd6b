"""ALP, Algorithm 2: ALP1-Projection."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import (
    all_hashes,
    embedding,
    projection_law,
    round_law,
)
from exactdp.proofs_check.claims.alp._shipped import laid_out, literal
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_ONE, _TWO = Fraction(1), Fraction(2)

#: alpha, k, rows, hash functions of two entries; s > 2k as the algorithm asks.
_LAYOUTS = (
    (_TWO, 2, 5, ((0, 3),)),
    (_TWO, 2, 5, ((4, 4),)),
    (_ONE, 1, 3, ((0, 2), (1, 1))),
    (_ONE, 1, 4, ((2, 0), (3, 2))),
)
_VECTORS = ((Fraction(0), Fraction(1)), (Fraction(3, 2), Fraction(0)), (_TWO, Fraction(1, 2)))


def _steps(shift: int) -> str:
    """The law of all bits as shipped is the model's with flip probability 1/(alpha + shift)."""
    cases = 0
    for (alpha, k, rows, hashes), x in product(_LAYOUTS, _VECTORS):
        if sum(value != 0 for value in x) <= k:
            made = literal(_TWO, alpha, k, rows, 2)
            shipped = made.law(dict(enumerate(x)), Tables(hashes))
            model = projection_law(x, hashes, rows, alpha, 1 / (alpha + shift))
            require(shipped == model, f"alpha={alpha}, x={x}, h={hashes}")
            cases += 1
    return f"{cases} cases: the shipped projection by enumeration of its coins, s > 2k"


def _array_size(extra: int) -> str:
    """ceil(beta/alpha) + extra columns hold every y_i of an entry <= beta, and no fewer."""
    for beta, alpha in product((Fraction(n, 3) for n in range(1, 30)), (_ONE, Fraction(7, 4))):
        m = literal(beta, alpha).levels + extra
        entries = [beta * n / 12 for n in range(13)]
        largest = max(y for x in entries for y in round_law(x / alpha).support)
        require(m == largest, f"beta={beta}, alpha={alpha}: m={m}, y up to {largest}")
    return "58 pairs of beta and alpha, columns of the shipped projection"


def _unary(least: int) -> str:
    """z[a,b] = 1 iff an entry i with y_i >= b + least hashes to a in column b (from 1)."""
    for y in product(range(4), repeat=2):
        for hashes in product(all_hashes(2, 2), repeat=3):
            bits = laid_out(y, hashes, 2)
            require(bits == embedding(y, hashes, 2), f"y={y}, h={hashes}: the model of this ledger")
            for b, a in product(range(3), range(2)):
                stated = any(b + 1 + least <= y[i] and hashes[b][i] == a for i in range(2))
                require(bits[2 * b + a] == stated, f"y={y}, h={hashes}, a={a}, b={b}")
    return "16 vectors, 64 sequences of hash functions, the shipped array without noise"


CLAIMS = (
    ALP.verified(
        "Algorithm 2",
        "Scaling, random rounding, unary encoding and randomized response with probability "
        "1/(alpha + 2), as shipped, give the law that the exact model of this ledger uses.",
        "exact law",
        **varied(_steps, 2, 3, "the flip probability is 1/(alpha + 3)"),
        note="The requirement s > 2k matters for accuracy only; other entries drop it.",
    ),
    ALP.verified(
        "Algorithm 2, number of columns",
        "m = ceil(beta/alpha) is exactly the largest rounded value of an entry at most beta.",
        "enumeration",
        **varied(_array_size, 0, 1, "one column more is needed"),
    ),
    ALP.verified(
        "Algorithm 2, Step (2)",
        "Bit (a, b) is one iff some entry with y_i >= b is hashed to a by h_b.",
        "enumeration",
        **varied(_unary, 0, 1, "the condition is b < y_i"),
    ),
)
