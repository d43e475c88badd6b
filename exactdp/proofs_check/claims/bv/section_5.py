"""BV, Section 5, running text: the Truncated Geometric Mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import clamped_geometric
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_RATIOS = (Fraction(1, 2), Fraction(2, 3), Fraction(16, 17), Fraction(1, 50))


def _explicit(q: Fraction, n: int, c: int, ends: Fraction) -> list[Fraction]:
    """The law in terms of c, n and q = e^(-epsilon/2); ends: 1 in the denominator at 0 and n."""
    inner = [(1 - q) / (1 + q) * q ** abs(z - c) for z in range(1, n)]
    return [q**c / (ends + q), *inner, q ** (n - c) / (ends + q)]


def _truncated(ends: Fraction) -> str:
    for q, n in product(_RATIOS, (1, 2, 5, 12)):
        for c in range(n + 1):
            exact, stated = clamped_geometric(n, q, c), _explicit(q, n, c, ends)
            require(exact == stated, f"q={q}, n={n}, c={c}: {exact}, not {stated}")
    return f"{len(_RATIOS)} ratios, n up to 12, every count; clamped by summing the mass function"


CLAIMS = (
    BV.verified(
        "Section 5, Truncated Geometric Mechanism",
        "Each bin of BasicHistogram with GeometricMechanism has the explicit law of Ghosh et al.: "
        "q^c/(1 + q) at 0, q^(n-c)/(1 + q) at n, (1 - q)/(1 + q) q^|z-c| between, "
        "q = e^(-epsilon/2).",
        "enumeration",
        **varied(
            _truncated, Fraction(1), Fraction(101, 100), "1.01 + q in the denominators at the ends"
        ),
        note="the same law is announced in Section 1; that bins are independent is the entry of "
        "Algorithm 3, that the errors match known lower bounds is cited",
    ),
)
