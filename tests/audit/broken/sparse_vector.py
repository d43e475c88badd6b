"""The sparse vector technique: the variants of Lyu, Su and Li 2017, and other known slips.

Thresholds are 0 and queries have sensitivity 1. An output row holds 1 (above), 0 (below) and -1
(not asked any more) per query.
"""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import against, laplace

HALVES = 8

FLAT = (0,) * (2 * HALVES)

STEP = (1,) * HALVES + (-1,) * HALVES


def technique(data, n, rng, rho, nu, stop=None):
    """Threshold noise of scale rho, query noise of scale nu, at most stop answers above."""
    queries = np.array(data) + (rng.laplace(0, nu, (n, len(data))) if nu else 0)
    threshold = rng.laplace(0, rho, (n, 1)) if rho else 0
    above = (queries >= threshold).astype(np.int64)
    return above if stop is None else stopped(above, stop)


def stopped(above, stop):
    before = np.cumsum(above, axis=1) - above
    return np.where(before < stop, above, -1)


def with_fresh_answer(data, n, rng):
    # epsilon/2 for Algorithm 1 with c = 1, epsilon/2 for the answer
    rows = technique(data, n, rng, 4, 8, 1)
    exceeded, first = (rows == 1).any(axis=1), np.argmax(rows == 1, axis=1)
    answer = np.array(data)[first] + laplace(rng, 2, n)
    return np.stack([np.where(exceeded, first, -1), np.where(exceeded, answer, 0)], axis=1)


@against(with_fresh_answer, (0,) * 7 + (1,), (1,) * 7 + (0,))
def sparse_vector_3(data, n, rng):
    """Roth's lecture notes: the noisy answer above the threshold is released.

    Roth's lecture notes: the noisy answer itself is released. Rows: first above, its answer.
    """
    queries = np.array(data) + laplace(rng, 2, (n, len(data)))
    above = queries >= laplace(rng, 2, (n, 1))
    first = np.argmax(above, axis=1)
    answer = queries[np.arange(n), first]
    exceeded = above.any(axis=1)
    return np.stack([np.where(exceeded, first, -1), np.where(exceeded, answer, 0)], axis=1)


# the twin: the same with c = 5
@against(technique, FLAT, STEP, rho=2, nu=20, stop=5)
def sparse_vector_4(data, n, rng):
    """Lee and Clifton: query noise does not grow with the number of answers above."""
    return technique(data, n, rng, 4, 4 / 3, 5)  # Lee and Clifton 2014


def algorithm_1(data, n, rng):
    # Lyu, Su, Li: Algorithm 1 with c = 1 and epsilon = 1, their Theorem 2: 2/epsilon and 4c/epsilon
    return technique(data, n, rng, 2, 4, 1)


@against(algorithm_1, (0, 1), (1, 0))
def sparse_vector_5(data, n, rng):
    """Stoddard et al.: no noise on the queries."""
    return technique(data, n, rng, 2, 0)  # Stoddard, Chen, Machanavajjhala 2014


@against(algorithm_1, FLAT, STEP)
def sparse_vector_6(data, n, rng):
    """Chen et al.: half the query noise, and no limit on answers above."""
    return technique(data, n, rng, 2, 2)  # Chen et al. 2015


def algorithm_2(data, n, rng):
    # Dwork and Roth 2014, c = 2: threshold noise 2c/epsilon, drawn anew after each answer above
    queries = np.array(data) + rng.laplace(0, 8, (n, len(data)))
    threshold = rng.laplace(0, 4, n)
    columns = []
    for column in queries.T:
        columns.append((column >= threshold).astype(np.int64))
        threshold = np.where(columns[-1] == 1, rng.laplace(0, 4, n), threshold)
    return stopped(np.stack(columns, axis=1), 2)


@against(algorithm_2, FLAT, STEP)
def sparse_vector_never_stops(data, n, rng):
    """Algorithm 1 with noise for one answer above, but no limit on them."""
    return technique(data, n, rng, 2, 4)


@against(algorithm_1, (0,) * HALVES, (1,) * HALVES)
def sparse_vector_bare_threshold(data, n, rng):
    """The threshold gets no noise."""
    return technique(data, n, rng, 0, 2, 1)
