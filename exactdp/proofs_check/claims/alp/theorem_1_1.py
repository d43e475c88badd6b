"""ALP, Theorem 1.1: the informal main result."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.mechanisms.projections.thresholds import usual_threshold
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal, words
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _hash_cost(least: Fraction) -> str:
    """Bits of hash functions and array, s = 3k: at most 4 times the array for k >= least log2 d."""
    for log_d, eps, share in product((30, 64, 129, 300), (1, 5), (1, 2, 10)):
        k = ceil(share * least * log_d)
        t = usual_threshold(2**log_d, Fraction(eps), Fraction(1, 2**20))
        made = literal(t * eps, Fraction(3), k, 3 * k, 2**log_d)
        hashes, array = words(made.levels, 2**log_d), made.layout.size
        case = f"d=2^{log_d}, eps={eps}, k={k}: {hashes} bits beside {array}"
        require(hashes <= 4 * array, case)
    return "d = 2^30 to 2^300, k from log2 d to 10 log2 d, sizes as shipped"


CLAIMS = (
    ALP.not_checkable(
        "Theorem 1.1",
        "There is an (epsilon, delta)-private representation with the error of the Laplace "
        "mechanism up to constants, small space and fast access.",
        "informal and asymptotic; its parts are checked under Theorems 5.10 and 5.11, where the "
        "second needs epsilon = O(log(1/delta)) and delta = O(1/k)",
    ),
    ALP.verified(
        "Theorem 1.1, space of hash functions",
        "Only for k < log2 d does the space of the hash functions outgrow that of the array by "
        "more than a constant, as shipped 4 (s = 3k, d from 2^30 on).",
        "enumeration",
        **varied(_hash_cost, Fraction(1), Fraction(9, 10), "only for k < 0.9 log2 d"),
    ),
)
