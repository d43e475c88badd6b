"""A-priori bounds of compressive privatization: privacy loss of unequal sets, error of recovery.

Source: Xiong et al., "Compressive Privatization" (CP). Theorem 3.4 there has a wrong premise (order
s instead of 2s), and an extra term for unbalanced sets, because its linear system holds for
balanced sets only. The system used here is exact for sets of any size, including those of the
medium privacy regime: as Q(.|x) sums to 1, q(y) - 1/m is the sum over x of
p(x) (r - 1)(1[y in C_x] - |C_x|/m)/N_x. Two s-sparse vectors differ in at most 2s entries, so
recovery requires that no 2s columns are nearly dependent.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from flint import arb

from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.local.bulk_choices import Integers
from exactdp.local.compressive import SetResponse
from exactdp.parameters import Real, integer, non_negative, positive

#: Number of columns per block: blocks are compared in pairs.
_AT_ONCE = 1024


def unbalanced_loss(epsilon: Real, beta: Real) -> Enclosure:
    """The privacy loss for r = e^epsilon if all set sizes are within (1 -+ beta) m/2.

    Returns epsilon + 2 artanh(beta tanh(epsilon/2)) <= (1 + beta) epsilon, which is attained if
    both sizes occur. epsilon: > 0. beta: >= 0 and < 1. Raises InvalidParameter.
    Source: CP, Lemma 2.1, which has epsilon + 2 beta for epsilon <= 1.

    >>> round(unbalanced_loss("0.5", "0.1").float_upper(), 6)
    0.548994
    """
    loss, off = positive("epsilon", epsilon), non_negative("beta", beta)
    if off >= 1:
        raise InvalidParameter("beta", beta, "< 1")

    def larger_loss() -> arb:
        return ball(loss) + 2 * (ball(off) * (ball(loss) / 2).tanh()).atanh()

    return refine(larger_loss)


def coherence(mechanism: SetResponse) -> Enclosure:
    """The coherence: the largest |cosine| of the angle of two centred columns of the system.

    |m |C_x & C_z| - a b| / sqrt(a (m - a) b (m - b)) for sets of sizes a and b.
    """
    columns, m = mechanism.columns, mechanism.cells
    groups = {int(a): np.flatnonzero(columns.sizes == a) for a in np.unique(columns.sizes)}
    largest = Fraction(0)
    for a, b in combinations_with_replacement(groups, 2):
        apart = _furthest(mechanism, groups[a], groups[b], a * b)
        largest = max(largest, Fraction(apart**2, a * (m - a) * b * (m - b)))
    return refine(lambda: ball(largest).sqrt()) if largest else Enclosure.exact(0)


def _furthest(mechanism: SetResponse, first: Integers, second: Integers, expected: int) -> int:
    """The largest |m |C_x & C_z| - a b| for x from `first`, z from `second`, x != z."""
    columns, m, most = mechanism.columns, mechanism.cells, 0
    for left, right in product(_parts(first), _parts(second)):
        marks = (columns.marks(part).astype(np.float32) for part in (left, right))
        one, other = marks  # counts are below 2^24, so float32 is exact
        distance = np.abs(m * (one @ other.T).astype(np.int64) - expected)
        distance[left[:, None] == right[None, :]] = 0
        most = max(most, int(distance.max(initial=0)))
    return most


def _parts(values: Integers) -> list[Integers]:
    return [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]


def recovery_bound(mechanism: SetResponse, *, sparsity: int, n: int) -> Enclosure:
    """Upper bound of the mean l2 error of sparse recovery, for every distribution on s values.

    The bound is 2 max(d_x)/sigma * sqrt((1 - 1/m)/n) for the s-sparse vector that fits the reports
    best, projected or not: d_x is the scale of column x, and sigma^2 = 1 - (2s - 1) coherence a
    lower bound of the squared singular values of any 2s columns (Gershgorin). A greedy recovery
    that finds that vector has the same bound. sparsity: s >= 1. n: number of reports, >= 1.
    Raises InvalidParameter if the coherence does not exclude that 2s columns are dependent.
    Source: CP, Theorem 3.4, corrected: order 2s, and no term for unequal sets.
    """
    s, users = integer("sparsity", sparsity, least=1), integer("n", n, least=1)
    cosine, m, r = coherence(mechanism), mechanism.cells, mechanism.ratio
    if (2 * s - 1) * cosine.upper >= 1:
        most = float((1 / cosine.upper + 1) / 2)
        allowed = f"< {most:.4g}, because the coherence is {cosine.float_upper():.4g}"
        raise InvalidParameter("sparsity", sparsity, allowed)
    square = max(
        (size * (r - 1) + m) ** 2 * m / ((r - 1) ** 2 * size * (m - size))
        for size in {int(a) for a in mechanism.columns.sizes}
    )
    chance = Fraction(m - 1, m * users)

    def error_bound() -> arb:
        sigma2 = 1 - (2 * s - 1) * ball(cosine.upper)
        return 2 * (ball(square * chance) / sigma2).sqrt()

    return refine(error_bound)
