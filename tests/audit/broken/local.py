"""Local privacy: one user's report."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import against

E = math.e


def unary(data, n, rng, p):
    """One bit per possible value, each told truthfully with probability p."""
    truth = np.arange(4) == data
    return (truth ^ (rng.random((n, 4)) >= p)).astype(np.int64)


def asymmetric(data, n, rng, p, q):
    """A 1 stays with probability p, a 0 becomes 1 with probability q."""
    truth = np.arange(4) == data
    return (rng.random((n, 4)) < np.where(truth, p, q)).astype(np.int64)


def many_answers(data, n, rng, p):
    """The truth with probability p, otherwise one of the nine other values."""
    other = (data + rng.integers(1, 10, n)) % 10
    return np.where(rng.random(n) < p, data, other)


@against(unary, 0, 1, p=math.exp(0.5) / (1 + math.exp(0.5)))
def unary_whole_budget(data, n, rng):
    """Each bit of a unary encoding gets epsilon instead of epsilon/2."""
    return unary(data, n, rng, E / (1 + E))


def optimised(data, n, rng):
    return asymmetric(data, n, rng, 0.5, 1 / (1 + E))  # p (1 - q)/((1 - p) q) = e


@against(optimised, 0, 1)
def unary_pairing(data, n, rng):
    """Optimised unary encoding with p of the symmetric and q of the optimised form."""
    return asymmetric(data, n, rng, E / (1 + E), 1 / (1 + E))


# the twin: ratio p/((1 - p)/9) = e
@against(many_answers, 0, 1, p=E / (E + 9))
def response_ten_answers(data, n, rng):
    """The formula for two answers, e/(1 + e), with ten."""
    return many_answers(data, n, rng, E / (1 + E))


def always_reports(data, n, rng):
    return (rng.random(n) < (E if data else 1) / (1 + E)).astype(int).tolist()  # ratio e


@against(always_reports, 0, 1)
def early_return(data, n, rng):
    """No report at all when there is nothing to report.

    None where there is nothing to report.
    """
    if not data:
        return [None] * n
    return (rng.random(n) < E / (1 + E)).astype(int).tolist()
