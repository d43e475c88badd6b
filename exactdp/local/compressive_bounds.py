"""What compressive privatization promises beforehand: what unequal sets lose, how near it comes.

Theorem 3.4 of the paper has its premise wrong (order s instead of 2s) and a term for sets that are
not balanced, as its linear system holds for balanced ones only. The system used here is exact for
sets of any sizes, those of the medium privacy regime among them: every law of an output sums to 1,
so q(y) - 1/m is the sum over x of p(x) (r - 1)(1[y in C_x] - |C_x|/m)/N_x. Two s-sparse vectors
differ in 2s places, so what recovery needs is that no 2s columns are nearly dependent.
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

#: Columns that are compared with as many others at once.
_AT_ONCE = 1024


def unbalanced_loss(epsilon: Real, beta: Real) -> Enclosure:
    """What r = e^epsilon loses where sets have sizes within (1 - beta) m/2 and (1 + beta) m/2.

    epsilon + 2 artanh(beta tanh(epsilon/2)), attained where both sizes occur; it is at most
    (1 + beta) epsilon. epsilon: > 0. beta: >= 0 and < 1.
    Source: CP, Lemma 2.1, whose epsilon + 2 beta is for epsilon <= 1.

    >>> round(unbalanced_loss("0.5", "0.1").float_upper(), 6)
    0.548994
    """
    loss, off = positive("epsilon", epsilon), non_negative("beta", beta)
    if off >= 1:
        raise InvalidParameter("beta", beta, "< 1")

    def found() -> arb:
        return ball(loss) + 2 * (ball(off) * (ball(loss) / 2).tanh()).atanh()

    return refine(found)


def coherence(mechanism: SetResponse) -> Enclosure:
    """The largest cosine of two columns of the system, less their means: exactly, but for a root.

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
    """The largest |m |C_x & C_z| - a b| for x and z from two groups, x and z not the same."""
    columns, m, most = mechanism.columns, mechanism.cells, 0
    for left, right in product(_parts(first), _parts(second)):
        marks = (columns.marks(part).astype(np.float32) for part in (left, right))
        one, other = marks  # counts are below 2^24, so that floats are exact
        distance = np.abs(m * (one @ other.T).astype(np.int64) - expected)
        distance[left[:, None] == right[None, :]] = 0
        most = max(most, int(distance.max(initial=0)))
    return most


def _parts(values: Integers) -> list[Integers]:
    return [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]


def recovery_bound(mechanism: SetResponse, *, sparsity: int, n: int) -> Enclosure:
    """The mean l2 error of n reports is at most this, for every law on `sparsity` values.

    For the sparse vector that fits the reports best, projected or not: 2 max(d_x)/sigma times
    sqrt((1 - 1/m)/n), where d_x scales column x and sigma^2 = 1 - (2s - 1) coherence is a bound
    below for the squares of the singular values of any 2s columns (Gershgorin). Greedy recoveries
    come as near where they find that vector. sparsity: s >= 1. n: >= 1.
    Raises InvalidParameter where 2s columns may be dependent for all that coherence says.
    Source: CP, Theorem 3.4, corrected: order 2s, and no term for unequal sets.
    """
    s, users = integer("sparsity", sparsity, least=1), integer("n", n, least=1)
    cosine, m, r = coherence(mechanism), mechanism.cells, mechanism.ratio
    if (2 * s - 1) * cosine.upper >= 1:
        most = float((1 / cosine.upper + 1) / 2)
        allowed = f"< {most:.4g}, by a coherence of {cosine.float_upper():.4g}"
        raise InvalidParameter("sparsity", sparsity, allowed)
    square = max(
        (size * (r - 1) + m) ** 2 * m / ((r - 1) ** 2 * size * (m - size))
        for size in {int(a) for a in mechanism.columns.sizes}
    )
    chance = Fraction(m - 1, m * users)

    def found() -> arb:
        sigma2 = 1 - (2 * s - 1) * ball(cosine.upper)
        return 2 * (ball(square * chance) / sigma2).sqrt()

    return refine(found)
