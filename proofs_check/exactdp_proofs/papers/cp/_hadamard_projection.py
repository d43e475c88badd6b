"""Hadamard response followed by projection: a simple scheme with explicit error bounds.

Each report adds +-c/n, c = coth(epsilon/2), to every coordinate of the unbiased estimate z, so that
w = z - p has E|w|_inf <= c sqrt(2 log(2k)/n) (Hoeffding). For the projection p_hat of z and
h = p_hat - p: |h|_2^2 <= <w, h> <= |w|_inf |h|_1, and |h|_1 <= 2 sqrt(s)|h|_2 for s-sparse p.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from flint import arb

from exactdp.balls import ball
from exactdp_proofs.papers.cp._model import (
    Columns,
    Vector,
    counts,
    dot,
    hadamard_response,
    measured,
    minus,
    projection,
    square,
)
from exactdp_proofs.rationals import Fraction

Errors = tuple[int, Fraction, Fraction, Fraction]


def unprojected(columns: Columns, seen: Vector, e: Fraction) -> Vector:
    """z = B^T y, the estimate before projection."""
    y = measured(seen, e)
    return tuple(dot(column, y) / len(y) for column in columns)


@cache
def errors() -> list[Errors]:
    """Sparsity s, |w|_inf, |h|_1 and |h|_2^2 for uniform laws p on the first s of k values.

    All outcomes of a few reports; and z with the support pushed down and everything else up by r.
    """
    rows = []
    for k, e in product((3, 6), (Fraction(5, 2), Fraction(10))):
        columns = hadamard_response(k)
        m = len(columns[0])
        for reports in counts(4 if m == 4 else 2, m):
            z = unprojected(columns, tuple(Fraction(c, sum(reports)) for c in reports), e)
            estimate = projection(z)
            rows += [_errors(_uniform(s, k), z, estimate) for s in range(1, k + 1)]
    for s, j in product((1, 2, 3), range(1, 5)):
        p, r = _uniform(s, 80), Fraction(j, 10 * s)
        z = tuple(a - r if a else r for a in p)
        rows.append(_errors(p, z, projection(z)))
    return rows


def _uniform(s: int, k: int) -> Vector:
    return tuple(Fraction(int(j < s), s) for j in range(k))


def _errors(p: Vector, z: Vector, estimate: Vector) -> Errors:
    h = minus(estimate, p)
    return sum(map(bool, p)), max(map(abs, minus(z, p))), sum(map(abs, h), Fraction(0)), square(h)


def noise_factor(eps: Fraction) -> arb:
    """c = (e^eps + 1)/(e^eps - 1)."""
    return 1 / ball(eps / 2).tanh()


def samples_for_any(k: int, eps: Fraction, alpha: arb) -> arb:
    """Enough reports for expected l2 error alpha and every p, since |h|_2^2 <= 2|w|_inf."""
    return 8 * noise_factor(eps) ** 2 * arb(2 * k).log() / alpha**4
