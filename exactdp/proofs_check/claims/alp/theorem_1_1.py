"""ALP, Theorem 1.1: the informal main result."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _hash_cost(condition: bool) -> str:
    """For k >= log d the hash functions' log^2 d and log d log(1/delta) are within the rest."""
    for log_d, k, log_u, log_delta in product((1, 8, 64), (1, 8, 64, 500), (0, 20), (1, 30)):
        if condition and k < log_d:
            continue
        main = k * max(log_d, log_u)
        require(log_d**2 <= main, f"log d={log_d}, k={k}: {log_d**2} > {main}")
        require(log_d * log_delta <= main + k * log_delta, f"log d={log_d}, k={k}, delta")
    return "log d, k, log u, log(1/delta) over 48 combinations"


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
        "The additional log^2 d or log(1/delta) log d bits matter only when k < log d.",
        "enumeration",
        **varied(_hash_cost, True, False, "they never matter"),
    ),
)
