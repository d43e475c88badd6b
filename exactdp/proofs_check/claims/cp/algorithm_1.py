"""CP, Algorithm 1: the estimate, where recovery is exact linear algebra (Hadamard sets)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from exactdp.local import HadamardResponse
from exactdp.local.frequency_oracle import projected
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
    weights,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _before_projection(columns: Columns, e: Fraction, seen: Vector, shift: int) -> Vector:
    """D'^-1 B^T y: what recovery returns when B has orthonormal columns; shift 0 spoils y."""
    y = measured(seen, e) if shift else tuple(len(seen) * x * (e + 1) / (e - 1) for x in seen)
    d = weights(columns, e)
    return tuple(dot(c, y) / len(seen) / w for c, w in zip(columns, d, strict=True))


def _hadamard_estimate(share: Fraction) -> str:
    """The estimate is share (e+1)/(e-1)(2 q_hat(C_x) - 1), the shipped one, and its mean is p."""
    for k, eps in product((2, 3, 5), (Fraction(1, 2), Fraction(1))):
        columns, shipped = hadamard_response(k), HadamardResponse(k, eps, blocks=1)
        e, m = shipped.e_epsilon, len(columns[0])
        estimates = {}
        for reports in combinations_with_replacement(range(m), 2):
            seen = tuple(Fraction(reports.count(y), 2) for y in range(m))
            found = _before_projection(columns, e, seen, 1)
            theirs = shipped.fractions(shipped.aggregate().add(np.array(reports)))
            require(list(found) == theirs, f"k={k}, reports {reports}: {found}, shipped {theirs}")
            estimates[seen] = found
        for p in distributions(k):
            law = list(empirical_laws(output(columns, e, p), 2))
            mean = tuple(sum(w * estimates[seen][x] for w, seen in law) for x in range(k))
            require(mean == p, f"k={k}, e^eps={e}: mean {mean}, p {p}")
        for seen, found in estimates.items():
            inside = [dot(seen, [sign == 1 for sign in column]) for column in columns]
            stated = tuple(share * (e + 1) / (e - 1) * (2 * part - 1) for part in inside)
            require(found == stated, f"k={k}, q_hat={seen}: {found}, stated {stated}")
    return "k = 2, 3, 5, two values of eps, every outcome of two reports"


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


def _nearest(decode: Callable[[Vector], Vector]) -> str:
    """(z - p)(v - p) <= 0 for every corner v of the simplex: no distribution is nearer to z."""
    values = (Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(5, 4))
    points = [z for z in product(values, repeat=3) if max(z) > 0]
    for z in points:
        found = decode(z)
        require(min(found) >= 0 and sum(found) == 1, f"z={z}: {found} is no distribution")
        shipped = projected(np.array([float(v) for v in z]))
        near = all(abs(a - b) < 1e-12 for a, b in zip(found, shipped, strict=True))
        for j in range(3):
            toward = [int(x == j) - value for x, value in enumerate(found)]
            product_ = dot([a - b for a, b in zip(z, found, strict=True)], toward)
            require(product_ <= 0, f"z={z}, corner {j}: {found} is not the nearest")
        require(near, f"z={z}: {found}, shipped {shipped}")
    return f"{len(points)} points, all corners; the shipped projection agrees to 1e-12"


def _clipped(z: Vector) -> Vector:
    """The other decoder of Section 5: normalized."""
    kept = [max(value, Fraction(0)) for value in z]
    return tuple(value / sum(kept) for value in kept)


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
        "(e^eps+1)/(e^eps-1)(2 q_hat(C_x) - 1), that of Hadamard response as shipped; it is "
        "unbiased.",
        "enumeration",
        **varied(_hadamard_estimate, Fraction(1), Fraction(99, 100), "0.99 of the factor"),
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
        "max(z - t, 0) with total 1 is the nearest distribution, as the last step asks; the "
        "shipped decoder is this one.",
        "enumeration",
        **varied(_nearest, projection, _clipped, "max(z, 0) over its total is the nearest"),
    ),
    CP.verified(
        "Algorithm 1, limit of many samples",
        "With A fixed the estimate does not converge to p: for p = e_x and 1-sparse "
        "recovery its entry, fitted on the column of x, tends to 1 - b^2 before projection, "
        "n_x = (1 + b)m/2.",
        "enumeration",
        **varied(_limit, 2, 1, "to 1 - |b|"),
        note="this is why P1 asks for beta <= c alpha",
        ours=True,
    ),
)
