"""Exact instances for the claims about the estimator: matrices, distributions, error terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MIXED,
    Columns,
    Vector,
    dot,
    measured,
    output,
    plus,
    weights,
)

__all__ = ["beta_of", "distributions", "first_error", "image", "instances", "second_error"]


def distributions(k: int) -> list[Vector]:
    """Uniform, sparse and skewed ones, each of length k."""
    skewed = [Fraction(1, 3**j) for j in range(k)]
    ramp = [Fraction(j) for j in range(k)]
    plain = ([Fraction(1)] * k, [Fraction(0)] * (k - 1) + [Fraction(1)], skewed, ramp)
    return [tuple(x / sum(v) for x in v) for v in plain]


def instances(
    factors: Sequence[Fraction] = HIGH_PRIVACY,
) -> Iterator[tuple[Columns, Fraction, Vector]]:
    """Matrix, e^epsilon and distribution."""
    for columns, e in product(MIXED, factors):
        for p in distributions(len(columns)):
            yield columns, e, p


def beta_of(columns: Columns, share: Fraction = Fraction(1, 2)) -> Fraction:
    """The least beta with every n_x within (1 +- beta) m share."""
    middle = len(columns[0]) * share
    return max(abs(plus(c) - middle) for c in columns) / middle


def image(columns: Columns, x: Sequence[Fraction]) -> Vector:
    """A x."""
    return tuple(dot(row, x) for row in zip(*columns, strict=True))


def first_error(columns: Columns, e: Fraction, p: Sequence[Fraction]) -> Vector:
    """sqrt(m) e_1 as what the exact channel leaves: sqrt(m) y - A D'p with q known exactly."""
    y = measured(output(columns, e, p), e)
    x = [d * chance for d, chance in zip(weights(columns, e), p, strict=True)]
    return tuple(a - b for a, b in zip(y, image(columns, x), strict=True))


def second_error(q: Sequence[Fraction], seen: Sequence[Fraction], e: Fraction) -> Vector:
    """sqrt(m) e_2 = m (e + 1)/(e - 1) (q_hat - q)."""
    factor = len(q) * (e + 1) / (e - 1)
    return tuple(factor * (a - b) for a, b in zip(seen, q, strict=True))
