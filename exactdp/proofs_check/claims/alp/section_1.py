"""ALP, Section 1: introduction."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import flip
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _constant_flip(alpha_most: Fraction) -> str:
    """For alpha in [1, alpha_most] the flip probability is constant, away from 0 and 1/2."""
    for n in range(100):
        alpha = 1 + (alpha_most - 1) * Fraction(n, 99)
        require(Fraction(1, 12) <= flip(alpha) <= Fraction(1, 3), f"alpha={alpha}: {flip(alpha)}")
    return "alpha in [1, 10]: p between 1/12 and 1/3, whatever epsilon"


def _addresses(bits: int) -> str:
    require(2**bits > 4 * 10**9, f"2^{bits} = {2**bits}")
    return "2^32 = 4294967296"


CLAIMS = (
    ALP.reproduced(
        "Section 1, number of IPv4 addresses",
        "There are over 4 billion IPv4 addresses.",
        "reproduction",
        **varied(_addresses, 32, 31, "31 bits"),
    ),
    ALP.verified(
        "Section 1.2, constant flip probability",
        "Scaling makes the flip probability a constant bounded away from 1/2 that does not depend "
        "on epsilon.",
        "enumeration",
        **varied(_constant_flip, Fraction(10), Fraction(103, 10), "for alpha up to 10.3"),
    ),
    ALP.not_checkable(
        "Section 1, cited error bounds",
        "O(1/epsilon) is optimal [HT10]; [KKMN09] has O(log(1/delta)/epsilon), [CPST12] O(log(d)/"
        "epsilon); [BV19] needs time about n/epsilon; over 10^12 URLs.",
        "cited; asymptotic",
    ),
)
