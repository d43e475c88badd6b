"""ALP, Algorithm 2: the projection, against a direct simulation of its steps."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import (
    all_hashes,
    columns,
    embedding,
    projection_law,
)
from exactdp.proofs_check.entries import ALP, varied
from exactdp.samplers import Bernoulli, exact_law, random_rounding
from exactdp.samplers.source import Source

__all__ = ["CLAIMS"]


def _program(
    x: tuple[Fraction, ...],
    hashes: tuple[tuple[int, ...], ...],
    rows: int,
    alpha: Fraction,
    p: Fraction,
) -> Law[tuple[int, ...]]:
    """Algorithm 2 as a program that draws its coins from the shipped samplers."""

    def run(source: Source) -> tuple[int, ...]:
        y = [random_rounding(value / alpha, source) if value else 0 for value in x]
        z = [[0] * rows for _ in hashes]
        for i, value in enumerate(y):
            for b in range(min(value, len(hashes))):
                z[b][hashes[b][i]] = 1
        return tuple(bit ^ Bernoulli(p).sample(source) for column in z for bit in column)

    return exact_law(run, residual=0, progress=False)


def _steps(shift: int) -> str:
    """The law of the model equals that of the program with flip probability 1/(alpha + shift)."""
    cases = 0
    vectors = (
        (Fraction(0), Fraction(1)),
        (Fraction(1, 2), Fraction(2)),
        (Fraction(1), Fraction(1)),
    )
    for alpha, vector in product((Fraction(1), Fraction(2)), vectors):
        for hashes in product(all_hashes(2, 2), repeat=columns(Fraction(1), alpha)):
            model = projection_law(vector, hashes, 2, alpha)
            program = _program(vector, hashes, 2, alpha, 1 / (alpha + shift))
            require(model == program, f"alpha={alpha}, x={vector}, h={hashes}")
            cases += 1
    return f"{cases} cases: two entries, two rows, every sequence of hash functions"


def _array_size(extra: int) -> str:
    """ceil(beta/alpha) + extra columns hold every y_i of an entry <= beta, and no fewer."""
    for beta, alpha in product(
        (Fraction(n, 3) for n in range(1, 30)), (Fraction(1), Fraction(7, 4))
    ):
        m = columns(beta, alpha) + extra
        largest = max(y for y in range(200) if y - 1 < beta / alpha)
        require(m == largest, f"beta={beta}, alpha={alpha}: m={m}, y up to {largest}")
    return "58 pairs of beta and alpha"


def _unary(least: int) -> str:
    """z[a,b] = 1 iff an entry i with y_i >= b + least hashes to a in column b (from 1)."""
    for y in product(range(4), repeat=2):
        for hashes in product(all_hashes(2, 2), repeat=3):
            bits = embedding(y, hashes, 2)
            for b, a in product(range(3), range(2)):
                stated = any(b + 1 + least <= y[i] and hashes[b][i] == a for i in range(2))
                require(bits[2 * b + a] == stated, f"y={y}, h={hashes}, a={a}, b={b}")
    return "16 vectors, 64 sequences of hash functions"


CLAIMS = (
    ALP.verified(
        "Algorithm 2",
        "Scaling, random rounding, unary encoding and randomized response with probability "
        "1/(alpha + 2) give the law that the exact model of this ledger uses.",
        "exact law",
        **varied(_steps, 2, 3, "the flip probability is 1/(alpha + 3)"),
        note="The requirement s > 2k matters for accuracy only; the model drops it.",
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
