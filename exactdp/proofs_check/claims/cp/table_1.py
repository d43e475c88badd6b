"""CP, Table 1: samples and communication of Hadamard response and of the method."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor, log2

import numpy as np
from flint import arb

from exactdp.balls import ball
from exactdp.local import CompressiveResponse, HadamardResponse
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._hadamard_projection import x_coth
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    dot,
    empirical_laws,
    hadamard_response,
    measured,
    output,
    square,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _hadamard_variance(share: Fraction) -> str:
    """n E|z - p|^2 = sum_x (c^2 - p_x^2) <= share k c^2, c = (e+1)/(e-1), z before projection."""
    done = 0
    for k, e in product((2, 3, 6), HIGH_PRIVACY[1:4]):
        columns, c = hadamard_response(k), (e + 1) / (e - 1)
        for p in distributions(k):
            q, exact = output(columns, e, p), Fraction(0)
            for weight, seen in empirical_laws(q, 2):
                y = measured(seen, e)
                z = [dot(column, y) / len(q) for column in columns]
                exact += weight * square([a - b for a, b in zip(z, p, strict=True)])
            require(2 * exact == k * c * c - square(p), f"k={k}, e^eps={e}: {exact}")
            require(2 * exact <= share * k * c * c, f"k={k}, e^eps={e}: {float(2 * exact):.6g}")
            done += 1
    return f"{done} exact laws of two reports; so E|z - p|_1 <= sqrt(k) sqrt(k c^2/n)"


def _hadamard_rate(constant: Fraction) -> str:
    """n = k^2 c^2/alpha^2 <= constant k^2/(eps alpha)^2 for eps in (0, 1]: eps c <= 2.164."""

    def room(eps: arb) -> arb:
        return ball(constant) - (2 * x_coth(eps / 2)) ** 2

    return f"eps in [0, 1] in {always_positive(room, [(0, 1)])} parts"


def _hadamard_bits(most: Fraction) -> str:
    """The shipped report of Hadamard response takes j bits, k < 2^j <= most k."""
    for k in (*range(2, 66), 127, 128, 10_000):
        shipped = HadamardResponse(k, Fraction(1, 2), blocks=1)
        occur = np.array(sorted(shipped.law(k - 1).support))
        sent = {tuple(row) for row in shipped.form.to_bits(occur).tolist()}
        (bits,) = {len(row) for row in sent}
        require(len(sent) == 2**bits, f"k={k}: {len(sent)} messages of {bits} bits")
        require(k < 2**bits <= most * k, f"k={k}: {bits} bits")
    return "every report for k up to 65, 127, 128 and 10000, which takes 14 bits"


def _our_bits(below: bool) -> str:
    """Every report that occurs, as it is sent: all of the stated length, and no two alike."""
    for m in (2, 3, 7, 8, 9, 64, 65, 500, 1024):
        method = CompressiveResponse(k=3, m=m, epsilon=1, seed=7)
        occur = sorted(set().union(*(method.law(x).support for x in range(3))))
        sent = {tuple(row) for row in method.form.to_bits(np.array(occur)).tolist()}
        require(len(sent) == len(occur) == m, f"m={m}: {len(sent)} messages, {len(occur)} reports")
        bits = floor(log2(m)) if below else ceil(log2(m))
        lengths = {len(row) for row in sent}
        require(lengths == {bits}, f"m={m}: {lengths} bits are sent, stated {bits}")
    return "the shipped reports, nine m up to 1024; m = 500 takes 9 bits (log2(500) = 8.97)"


CLAIMS = (
    CP.verified(
        "Table 1, Hadamard response, high privacy",
        "n E|z - p|_2^2 = k c^2 - |p|_2^2 with c = (e^eps+1)/(e^eps-1), so that k^2 c^2/"
        "alpha^2 samples give l1 error alpha.",
        "enumeration",
        **varied(_hadamard_variance, Fraction(1), Fraction(98, 100), "at most 0.98 k c^2"),
        note="the entries of the table are orders in the l1 norm",
    ),
    CP.proved(
        "Table 1, Hadamard response, rate in epsilon",
        "k^2 c^2/alpha^2 <= 4.69 k^2/(eps alpha)^2 for 0 < eps <= 1.",
        "interval search",
        **varied(_hadamard_rate, Fraction(469, 100), Fraction(46, 10), "<= 4.6 k^2/(eps alpha)^2"),
    ),
    CP.verified(
        "Table 1, communication of Hadamard response",
        "A report of Hadamard response is one of 2^j <= 2k that all occur, and is sent in j bits: "
        "at most 1 + log2(k).",
        "exact law",
        **varied(_hadamard_bits, Fraction(2), Fraction(19, 10), "2^j <= 1.9k"),
    ),
    CP.verified(
        "Table 1, communication of the method",
        "A report of the method, one of m that all occur, is sent in ceil(log2 m) bits.",
        "enumeration",
        **varied(_our_bits, False, True, "floor(log2 m) bits"),
        note="Corollary 3.4.1, Theorems 3.6 and 4.3 and the table say log m, Section 2 O(log m); "
        "the matrix A itself is taken from public randomness and not counted",
    ),
    CP.not_checkable(
        "Table 1",
        "Samples k^2/(eps alpha)^2 against s m/(eps alpha)^2 for eps in (0, 1), and "
        "k^2/(e^eps alpha^2) against s m/(e^eps alpha^2) for eps in (1, log m).",
        "orders without constants. The first entry is checked above; the method's follow "
        "from Corollary 3.4.1 and, for large eps, from Theorem 4.3 with what is said there; "
        "Hadamard response for large eps is cited",
    ),
)
