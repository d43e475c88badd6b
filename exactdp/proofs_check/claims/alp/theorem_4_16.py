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


def _bounds(least: Fraction) -> str:
    """alpha = 1, s = 4k, u eps from `least` on."""
    for eps, step, k, log_d in product(
        (Fraction(1, 10), Fraction(3)), range(32), (1, 10**4), (30, 129)
    ):
        u = (least + Fraction(step, 8)) / eps
        made = literal(u * eps, Fraction(1), k, 4 * k, 2**log_d)
        bits = made.layout.size + words(made.levels, 2**log_d)
        case = f"u eps={u * eps}, k={k}, d=2^{log_d}: {made.levels} columns, {bits} bits"
        require(bits <= (8 * k + 24 * log_d) * u * eps, case)
        require(made.levels <= 2 * u * eps, case)
    return "256 instances, sizes as shipped, d = 2^30, 2^129, u epsilon from 1 to 4.9"


CLAIMS = (
    ALP.verified(
        "Theorem 4.16",
        "With beta = u and u epsilon >= 1 at most 2 u epsilon columns are read, and the space is "
        "at most (8 k + 24 log2 d) u epsilon bits as shipped (alpha = 1, s = 4k).",
        "enumeration",
        **varied(_bounds, Fraction(1), Fraction(49, 100), "from u epsilon = 0.49 on"),
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
