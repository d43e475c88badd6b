"""CP, Algorithm 1: the estimate, where recovery is exact linear algebra (Hadamard sets)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    Columns,
    Vector,
    dot,
    empirical_laws,
    hadamard_response,
    measured,
    output,
    plus,
    projection,
    square,
    weights,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _before_projection(columns: Columns, e: Fraction, seen: Vector, shift: int) -> Vector:
    """D'^-1 B^T y: what recovery returns when B has orthonormal columns; shift 0 spoils y."""
    y = measured(seen, e) if shift else tuple(len(seen) * x * (e + 1) / (e - 1) for x in seen)
    d = weights(columns, e)
    return tuple(dot(c, y) / len(seen) / w for c, w in zip(columns, d, strict=True))


def _hadamard_estimate(power: int) -> str:
    """The estimate is ((e+1)/(e-1))^power (2 q_hat(C_x) - 1), and its mean is p."""
    done = 0
    for k, e in product((2, 3, 5), HIGH_PRIVACY[1:4]):
        columns = hadamard_response(k)
        for p in distributions(k):
            q, mean = output(columns, e, p), [Fraction(0)] * k
            pairs = []
            for weight, seen in empirical_laws(q, 2):
                estimate = _before_projection(columns, e, seen, 1)
                for x, column in enumerate(columns):
                    inside = sum((s for s, a in zip(seen, column, strict=True) if a == 1), start=0)
                    stated = ((e + 1) / (e - 1)) ** power * (2 * inside - 1)
                    pairs.append((estimate[x], stated))
                    mean[x] += weight * estimate[x]
            require(tuple(mean) == p, f"k={k}, e^eps={e}: mean {mean}, p {p}")
            wrong = [pair for pair in pairs if pair[0] != pair[1]]
            require(wrong == [], f"k={k}, e^eps={e}: found and stated {wrong[:1]}")
            done += 1
    return f"{done} laws of two reports summed out"


def _recovers(shift: int) -> str:
    """With the exact law of a report in place of q_hat the estimate is p."""
    for k, e in product((2, 3, 5, 7), HIGH_PRIVACY):
        columns = hadamard_response(k)
        for p in distributions(k):
            half = [Fraction(2 * plus(c), len(c)) for c in columns]
            require(half == [Fraction(1)] * k, "sets of unequal size")
            raw = _before_projection(columns, e, output(columns, e, p), shift)
            # columns orthogonal to the all-one vector do not see a constant: compare y itself too
            y = measured(output(columns, e, p), e)
            total = sum(y) if shift else sum(y) + len(y) * (e + 1) / (e - 1)
            require(raw == p and total == 0, f"k={k}, e^eps={e}: sum of y is {total}")
    return "k in 2, 3, 5, 7, five values of eps"


def _nearest(total: Fraction) -> str:
    """No distribution on a grid is nearer than the projection, which is a distribution."""
    grid = [
        (Fraction(a, 12), Fraction(b, 12), Fraction(12 - a - b, 12))
        for a in range(13) for b in range(13 - a)
    ]  # fmt: skip
    values = (Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(5, 4))
    for z in product(values, repeat=3):
        found = projection(z)
        gap = square([a - b for a, b in zip(z, found, strict=True)])
        best = min(square([a - b for a, b in zip(z, g, strict=True)]) for g in grid)
        require(gap <= best, f"z={z}: {gap} > {best}")
        require(min(found) >= 0 and sum(found) == total, f"z={z}: total {sum(found)}")
    return f"{len(values) ** 3} points against {len(grid)} distributions"


def _limit(power: int) -> str:
    """p = (1), one set with n = (1 + b) m/2, q known: f/d' = 1 - |b|^power, not 1."""
    for m, e in product(range(2, 13), HIGH_PRIVACY + MEDIUM_PRIVACY):
        for n in range(1, m):
            column = (1,) * n + (-1,) * (m - n)
            y = measured(output((column,), e, (Fraction(1),)), e)
            (d,) = weights((column,), e)
            found = dot(column, y) / m / d
            b = abs(Fraction(2 * n, m) - 1)
            stated = 1 - b**power
            require(found == stated, f"m={m}, n={n}, e^eps={e}: {found} against {stated}")
    return "every size for m <= 12, nine values of eps; the error floor does not depend on eps"


CLAIMS = (
    CP.verified(
        "Algorithm 1",
        "With Hadamard sets recovery is B^T y, and the estimate before projection is "
        "(e^eps+1)/(e^eps-1)(2 q_hat(C_x) - 1), that of Hadamard response; it is unbiased.",
        "enumeration",
        **varied(_hadamard_estimate, 1, 2, "the factor is squared"),
    ),
    CP.verified(
        "Algorithm 1, input of the recovery",
        "y = (e^eps+1)/(e^eps-1)(sqrt(m) q_hat - 1/sqrt(m)) has total 0, and B^T y is p "
        "for Hadamard sets when q_hat = q.",
        "enumeration",
        **varied(_recovers, 1, 0, "the total is 0 without subtracting 1/sqrt(m)"),
    ),
    CP.verified(
        "Algorithm 1, projection",
        "The last step is the nearest distribution, max(z - t, 0) with total 1.",
        "enumeration",
        **varied(_nearest, Fraction(1), Fraction(99, 100), "with total 0.99"),
    ),
    CP.verified(
        "Algorithm 1, limit of many samples",
        "With A fixed the estimate does not converge to p: for p = e_x and 1-sparse "
        "recovery its entry tends to 1 - b^2 before projection, n_x = (1 + b)m/2; this is why "
        "beta must be of the order alpha, and m of the order log(k)/alpha^2.",
        "enumeration",
        **varied(_limit, 2, 1, "to 1 - |b|"),
        ours=True,
    ),
)
