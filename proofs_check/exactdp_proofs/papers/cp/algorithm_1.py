"""CP, Algorithm 1: the estimate, where recovery is exact linear algebra (Hadamard sets)."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np

from exactdp.local import HadamardResponse
from exactdp.local.frequency_oracle import projected
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.cp._hadamard_projection import unprojected
from exactdp_proofs.papers.cp._model import (
    ALL_PRIVACY,
    deviation,
    distributions,
    dot,
    empirical_laws,
    first,
    hadamard_response,
    measured,
    minus,
    output,
    projection,
    weights,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, mutant

CP.not_checkable(
    "Figure 1",
    "Users privatize; the server estimates q, recovers and projects.",
    "a diagram without numbers; its steps are under Algorithm 1",
)


@CP.holds("Algorithm 1")
@mutant("0.99 of the factor", share=Fraction(99, 100))
def algorithm_1(share: Fraction = Fraction(1)) -> None:
    """With the sets of Hadamard response recovery is B^T y, and the estimate before projection is
    (e^epsilon + 1)/(e^epsilon - 1) (2 q_hat(C_x) - 1), as shipped; it is unbiased.
    """
    for k, eps in product((2, 3, 5), (Fraction(1, 2), Fraction(1))):
        columns, shipped = hadamard_response(k), HadamardResponse(k, eps, blocks=1)
        e, m = shipped.e_epsilon, len(columns[0])
        estimates = {}
        for reports in combinations_with_replacement(range(m), 2):
            seen = tuple(Fraction(reports.count(y), 2) for y in range(m))
            estimates[seen] = unprojected(columns, seen, e)
            theirs = shipped.fractions(shipped.aggregate().add(np.array(reports)))
            equal(list(estimates[seen]), theirs, k=k, reports=reports)
        for p in distributions(k):
            law = list(empirical_laws(output(columns, e, p), 2))
            mean = tuple(sum(w * estimates[seen][x] for w, seen in law) for x in range(k))
            equal(mean, p, k=k, e=e)
        for seen, estimate in estimates.items():
            inside = [dot(seen, [sign == 1 for sign in column]) for column in columns]
            stated = tuple(share * (e + 1) / (e - 1) * (2 * part - 1) for part in inside)
            equal(estimate, stated, k=k, seen=seen)


@CP.holds("Algorithm 1", "projection")
@mutant("max(z, 0) over its total, the other decoder of Section 5", normalized=True)
def nearest_distribution(normalized: bool = False) -> None:
    """max(z - t, 0) with total 1 is the distribution next to z, as the last step asks; the shipped
    decoder is this one (to 1e-12).
    """
    values = (Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(5, 4))
    for z in (z for z in product(values, repeat=3) if max(z) > 0):
        kept = [max(value, Fraction(0)) for value in z]
        nearest = tuple(v / sum(kept) for v in kept) if normalized else projection(z)
        shipped = [Fraction(v) for v in projected(np.array([float(v) for v in z]))]
        equal(sum(nearest), 1, z=z)
        at_most(0, min(nearest), z=z)
        for j in range(3):  # nearest if no corner lies on the side of z
            corner = [int(x == j) for x in range(3)]
            at_most(dot(minus(z, nearest), minus(corner, nearest)), 0, z=z, corner=j)
        at_most(max(map(abs, minus(nearest, shipped))), Fraction(1, 10**12), z=z)


@CP.holds("Algorithm 1", "limit of many samples", ours=True)
@mutant("to 1 - |b|", power=1)
def limit_of_many_samples(power: int = 2) -> None:
    """With A fixed the estimate does not converge to p: for p = e_x and 1-sparse recovery its entry
    tends to 1 - b^2 before projection, n_x = (1 + b) m/2. So P1 asks for beta <= c alpha.
    """
    for m, e in product(range(2, 13), ALL_PRIVACY):
        for n in range(1, m):
            columns = (first(n, m),)
            y = measured(output(columns, e, (Fraction(1),)), e)
            entry = dot(columns[0], y) / m / weights(columns, e)[0]
            equal(entry, 1 - deviation(columns) ** power, m=m, n=n, e=e)
