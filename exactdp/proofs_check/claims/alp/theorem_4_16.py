"""ALP, Theorem 4.16: the mechanism with beta = u."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import gamma, spread
from exactdp.proofs_check.claims.alp._shipped import literal, words
from exactdp.proofs_check.claims.alp.lemma_4_8 import entry_error
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _error(share: Fraction) -> str:
    """alpha = 20, s = 100 k: C is 19.4, below u epsilon = 160, so that the bound can be missed."""
    alpha, collision = Fraction(20), Fraction(1, 100)
    constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha
    for n in range(33):
        error = entry_error(n * alpha / 4, alpha, 8 * alpha, collision)
        require(error <= share * constant, f"u = 160, x = {n * alpha / 4}: {float(error):.4g}")
    return "alpha = 20, s = 100k, u epsilon = 160, 33 entries"


def _bounds(trivial: bool) -> str:
    """alpha = 1, s = 4k; for u eps < 1 nothing is stored."""
    for eps, scaled, k, log_d in product(
        (Fraction(1, 10), Fraction(3)), (1, 7, *range(8, 40)), (1, 10**4), (30, 129)
    ):
        u, stored = Fraction(scaled, 8) / eps, (0, 0)
        if u * eps >= 1 or not trivial:
            made = literal(u * eps, Fraction(1), k, 4 * k, 2**log_d)
            stored = made.levels, made.layout.size + words(made.levels, 2**log_d)
        case = f"u eps={u * eps}, k={k}, d=2^{log_d}: {stored[0]} columns, {stored[1]} bits"
        require(stored[1] <= (8 * k + 24 * log_d) * u * eps, case)
        require(stored[0] <= 2 * u * eps, case)
    return "272 instances, sizes as shipped, d = 2^30, 2^129"


CLAIMS = (
    ALP.verified(
        "Theorem 4.16",
        "With beta = u at most 2 u epsilon columns are read, and the space is at most (8 k + 24 "
        "log2 d) u epsilon bits as shipped (alpha = 1, s = 4k), where nothing is stored for "
        "u epsilon < 1.",
        "enumeration",
        **varied(_bounds, True, False, "also when one column is kept for u epsilon < 1"),
        note="The error is under the next entry. For u epsilon < 1 the algorithm that answers 0, "
        "off by at most u < 1/epsilon, must be taken; Algorithm 4 itself keeps one column.",
    ),
    ALP.verified(
        "Theorem 4.16, error",
        "The expected error of an entry up to beta = u is at most C/epsilon, here with alpha = 20, "
        "s = 100k and u epsilon = 160; at most 0.64 of it is reached.",
        "enumeration",
        **varied(_error, Fraction(64, 100), Fraction(63, 100), "at most 0.63 of it"),
    ),
)
