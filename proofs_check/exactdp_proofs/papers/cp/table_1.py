"""CP, Table 1: samples and communication of Hadamard response and of the method."""

from __future__ import annotations

from itertools import product
from math import ceil, floor, log2

import numpy as np

from exactdp.balls import ball
from exactdp.local import CompressiveResponse, HadamardResponse
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import at_most, below, equal
from exactdp_proofs.papers.cp._hadamard_projection import unprojected
from exactdp_proofs.papers.cp._model import (
    HIGH_PRIVACY,
    distributions,
    empirical_laws,
    hadamard_response,
    minus,
    output,
    square,
    x_coth,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, mutant

CP.not_checkable(
    "Table 1",
    "l1 samples k^2/(epsilon alpha)^2 against s m/(epsilon alpha)^2 for epsilon in (0, 1), and "
    "k^2/(e^epsilon alpha^2) against s m/(e^epsilon alpha^2) for epsilon in (1, log m).",
    "orders without constants. The first is a part of its own; those of the method are under "
    "Corollary 3.4.1 and Theorem 4.3; Hadamard response for large epsilon is cited",
)


@CP.holds("Table 1", "Hadamard response, high privacy")
@mutant("at most 0.98 k c^2", share=Fraction(98, 100))
def hadamard_response_high_privacy(share: Fraction = Fraction(1)) -> None:
    """n E|z - p|_2^2 = k c^2 - |p|_2^2 <= k c^2 before projection, with
    c = (e^epsilon + 1)/(e^epsilon - 1), so that k^2 c^2/alpha^2 samples give l1 error alpha.
    """
    for k, e in product((2, 3, 6), HIGH_PRIVACY[1:4]):
        columns, c = hadamard_response(k), (e + 1) / (e - 1)
        for p in distributions(k):
            laws = empirical_laws(output(columns, e, p), 2)
            errors = ((w, square(minus(unprojected(columns, seen, e), p))) for w, seen in laws)
            exact = 2 * sum((w * error for w, error in errors), Fraction(0))
            equal(exact, k * c * c - square(p), k=k, e=e, p=p)
            at_most(exact, share * k * c * c, k=k, e=e, p=p)


@CP.holds("Table 1", "Hadamard response, rate in epsilon")
@mutant("at most 4.6 k^2/(epsilon alpha)^2", constant=Fraction(46, 10))
def hadamard_response_rate_in_epsilon(constant: Fraction = Fraction(469, 100)) -> None:
    """k^2 c^2/alpha^2 <= 4.69 k^2/(epsilon alpha)^2 for 0 < epsilon <= 1."""
    always_positive(lambda eps: ball(constant) - (2 * x_coth(eps / 2)) ** 2, [(0, 1)])


@CP.holds("Table 1", "communication of Hadamard response")
@mutant("2^j <= 1.9 k", most=Fraction(19, 10))
def communication_of_hadamard_response(most: Fraction = Fraction(2)) -> None:
    """A report of Hadamard response as shipped is one of 2^j <= 2k that all occur, and is sent in j
    bits: at most 1 + log2(k).
    """
    for k in (*range(2, 66), 127, 128, 10_000):
        shipped = HadamardResponse(k, Fraction(1, 2), blocks=1)
        reports = np.array(sorted(shipped.law(k - 1).support))
        sent = {tuple(row) for row in shipped.form.to_bits(reports).tolist()}
        (bits,) = {len(row) for row in sent}
        equal(len(sent), 2**bits, k=k)
        below(k, 2**bits, k=k)
        at_most(2**bits, most * k, k=k)


@CP.holds("Table 1", "communication of the method")
@mutant("floor(log2 m) bits", down=True)
def communication_of_the_method(down: bool = False) -> None:
    """A report of the method as shipped, one of m that all occur, is sent in ceil(log2 m) bits; the
    matrix A is public randomness and not counted.
    """
    for m in (2, 3, 7, 8, 9, 64, 65, 500, 1024):
        method = CompressiveResponse(k=3, m=m, epsilon=1, seed=7)
        reports = sorted(set().union(*(method.law(x).support for x in range(3))))
        sent = {tuple(row) for row in method.form.to_bits(np.array(reports)).tolist()}
        equal((len(sent), len(reports)), (m, m), m=m)
        equal({len(row) for row in sent}, {floor(log2(m)) if down else ceil(log2(m))}, m=m)
