"""Hadamard response followed by projection: a simple scheme with explicit error bounds.

Each report adds +-c/n, c = coth(eps/2), to every coordinate of the unbiased estimate z, so
w = z - p has E|w|_inf <= c sqrt(2 log(2k)/n). For the projection p_hat of z and h = p_hat - p:
|h|_2^2 <= <w, h> <= |w|_inf |h|_1, and |h|_1 <= 2 sqrt(s)|h|_2 for s-sparse p.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import factorial

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claims.cp._model import (
    Vector,
    counts,
    dot,
    hadamard_response,
    measured,
    projection,
    square,
)

__all__ = [
    "noise_factor",
    "outcomes",
    "samples_any",
    "samples_sparse",
    "worst_noise",
    "x_coth",
]


def outcomes(reports: int = 4) -> Iterator[tuple[int, Fraction, Fraction, Fraction]]:
    """Sparsity s, |w|_inf, |h|_1 and |h|_2^2 for every outcome of some reports.

    p runs through uniform laws on the first s of k values, and k through two sizes.
    """
    for k, e in product((3, 6), (Fraction(5, 2), Fraction(10))):
        columns = hadamard_response(k)
        m = len(columns[0])
        for found in counts(reports if m == 4 else 2, m):
            seen = [Fraction(c, sum(found)) for c in found]
            y = measured(seen, e)
            z = [dot(c, y) / m for c in columns]
            estimate = projection(z)
            for s in range(1, k + 1):
                p = [Fraction(int(j < s), s) for j in range(k)]
                w = max(abs(a - b) for a, b in zip(z, p, strict=True))
                h: Vector = tuple(a - b for a, b in zip(estimate, p, strict=True))
                yield s, w, sum(map(abs, h), Fraction(0)), square(h)


def worst_noise(k: int = 80) -> Iterator[tuple[int, Fraction, Fraction, Fraction]]:
    """The same four numbers where the support is pushed down and everything else up by r."""
    for s, j in product((1, 2, 3), range(1, 5)):
        r = Fraction(j, 10 * s)
        p = [Fraction(int(i < s), s) for i in range(k)]
        estimate = projection([a - r if i < s else r for i, a in enumerate(p)])
        h: Vector = tuple(a - b for a, b in zip(estimate, p, strict=True))
        yield s, r, sum(map(abs, h), Fraction(0)), square(h)


def noise_factor(eps: Fraction) -> arb:
    """c = (e^eps + 1)/(e^eps - 1)."""
    return 1 / ball(eps / 2).tanh()


def x_coth(x: arb) -> arb:
    """x cosh(x)/sinh(x) on balls within [0, 1], through the series of sinh(x)/x."""
    terms = sum((x ** (2 * j) / factorial(2 * j + 1) for j in range(15)), arb(0))
    return x.cosh() / (terms + arb(0, 1) * ball(Fraction(2, factorial(31))))


def samples_sparse(s: int, k: int, eps: Fraction, alpha: Fraction, norm: int) -> arb:
    """Enough reports for expected l_norm error alpha and s-sparse p."""
    log = arb(2 * k).log()
    rate = 32 * s * s if norm == 1 else 8 * s
    return rate * noise_factor(eps) ** 2 * log / ball(alpha) ** 2


def samples_any(k: int, eps: Fraction, alpha: Fraction) -> arb:
    """Enough reports for expected l2 error alpha and every p: |h|_2^2 <= 2|w|_inf."""
    return 8 * noise_factor(eps) ** 2 * arb(2 * k).log() / ball(alpha) ** 4
