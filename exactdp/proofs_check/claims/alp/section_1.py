"""ALP, Section 1: introduction."""

from __future__ import annotations

from fractions import Fraction
from ipaddress import ip_network

from exactdp.mechanisms.projections.alp import ALP, HistogramALP
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP as PAPER
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


_EPSILONS = (Fraction(1, 100), Fraction(1), Fraction(20))


def _constant_flip(histogram: bool) -> str:
    """The flip probability of shipped projections: one for all epsilon, away from 1/2."""
    for alpha in (Fraction(1), Fraction(3), Fraction(10)):
        found = {_flip(alpha, eps, histogram) for eps in _EPSILONS}
        require(max(found) <= Fraction(1, 3), f"alpha={alpha}: {max(found)}")
        require(len(found) == 1, f"alpha={alpha}: {sorted(found)}")
    return "alpha = 1, 3, 10, eps = 0.01, 1, 20: one p for each alpha, at most 1/3"


def _flip(alpha: Fraction, eps: Fraction, histogram: bool) -> Fraction:
    if histogram:
        return HistogramALP(d=1, k=1, s=3, beta=1, epsilon=eps).flip
    return ALP(d=1, k=1, s=3, beta=1, epsilon=eps, alpha=alpha, steps=1).flip


def _addresses(prefix: int) -> str:
    found = ip_network(f"0.0.0.0/{prefix}").num_addresses
    require(found > 4 * 10**9, f"{found} addresses")
    return f"{found} addresses"


CLAIMS = (
    PAPER.reproduced(
        "Section 1, number of IPv4 addresses",
        "There are over 4 billion IPv4 addresses.",
        "reproduction",
        **varied(_addresses, 0, 1, "the first bit is fixed"),
    ),
    PAPER.verified(
        "Section 1.2, constant flip probability",
        "Scaling makes the flip probability a constant bounded away from 1/2 that does not depend "
        "on epsilon (as shipped, at most 1/3 for alpha >= 1).",
        "enumeration",
        **varied(_constant_flip, False, True, "in Algorithm 10, too"),
    ),
    PAPER.not_checkable(
        "Section 1, cited error bounds",
        "O(1/epsilon) is optimal [HT10]; [KKMN09] has O(log(1/delta)/epsilon), [CPST12] O(log(d)/"
        "epsilon); [BV19] needs time about n/epsilon; over 10^12 URLs.",
        "cited; asymptotic",
    ),
)
