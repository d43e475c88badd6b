"""CP, Lemma 3.3: from the error of the scaled vector to the error of the estimate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    MIXED,
    Columns,
    Vector,
    plus,
    projection,
    square,
    weights,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

#: Three values with the same set of size 3 of 4, and the matrices with unequal sizes.
_FAMILIES: tuple[Columns, ...] = (((1, 1, 1, -1),) * 3, *MIXED)


def _recovered(d: Vector, k: int) -> Iterator[Vector]:
    """Results f of a recovery: exact ones of other distributions, and arbitrary ones."""
    for other in distributions(k):
        yield tuple(a * b for a, b in zip(d, other, strict=True))
    yield (Fraction(0),) * k
    yield tuple(Fraction((-1) ** j * (j + 1), 4) for j in range(k))


def _error(half: Fraction, factors: Sequence[Fraction]) -> str:
    """|p - p_hat|^2 <= (1 + half beta)^2 |p' - f|^2 with n_i <= (1 + beta) m/2 for all i."""
    done = 0
    for columns, e in product(_FAMILIES, factors):
        k, d = len(columns), weights(columns, e)
        beta = max(Fraction(2 * plus(c), len(c)) - 1 for c in columns)
        beta = max(beta, Fraction(0))
        for p, f in product(distributions(k), _recovered(d, k)):
            estimate = projection([a / b for a, b in zip(f, d, strict=True)])
            left = square([a - b for a, b in zip(p, estimate, strict=True)])
            right = square([a * b - c for a, b, c in zip(d, p, f, strict=True)])
            case = f"beta={beta}, e^eps={e}: {float(left):.6g} against {float(right):.6g}"
            require(left <= (1 + half * beta) ** 2 * right, case)
            done += 1
    return f"{done} exact pairs of a distribution and a recovered vector"


def _largest_inverse(share: Fraction) -> str:
    """1/d' = 1 + b t for n = (1 + b) m/2, t = (e-1)/(e+1), for every size."""
    for m, e in product(range(2, 13), HIGH_PRIVACY + MEDIUM_PRIVACY):
        for n in range(m + 1):
            (d,) = weights(((1,) * n + (-1,) * (m - n),), e)
            b = Fraction(2 * n, m) - 1
            stated = 1 + share * b * (e - 1) / (e + 1)
            require(1 / d == stated, f"m={m}, n={n}, e^eps={e}: {1 / d} against {stated}")
    return "every size for m <= 12, nine values of eps"


CLAIMS = (
    CP.verified(
        "Lemma 3.3",
        "For n_i <= (1 + beta)m/2 and eps <= 1, the projected estimate satisfies "
        "|p - p_hat|_2 <= (1 + beta/2)|p' - f|_2.",
        "enumeration",
        **varied(_error, Fraction(1, 2), Fraction(45, 100), "1 + 0.45 beta", HIGH_PRIVACY),
        note="the statement has no bound on eps; its proof needs e^eps <= 3, which the paper's "
        "standing assumption eps <= 1 gives",
    ),
    CP.verified(
        "Lemma 3.3, every epsilon",
        "Without a bound on eps the factor is 1 + beta.",
        "enumeration",
        **varied(
            _error,
            Fraction(1),
            Fraction(95, 100),
            "1 + 0.95 beta",
            HIGH_PRIVACY + MEDIUM_PRIVACY,
        ),
        ours=True,
    ),
    CP.verified(
        "Lemma 3.3, proof",
        "1/d'_i = 1 + b (e^eps-1)/(e^eps+1) for n_i = (1 + b)m/2, so the largest is at "
        "most 1 + beta (e^eps-1)/(e^eps+1).",
        "enumeration",
        **varied(_largest_inverse, Fraction(1), Fraction(99, 100), "0.99 of the slope"),
    ),
)
