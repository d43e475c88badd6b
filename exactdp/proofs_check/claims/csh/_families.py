"""Families and pairs of neighbours at which the exact analysis is checked."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting.sparse_histograms.csh_exact import Family
from exactdp.proofs_check.claims.csh._model import point

__all__ = ["FAMILIES", "PAIRS", "SETTINGS", "TOLERANCE", "settled"]

#: (sigma, tau, epsilon, kappa)
SETTINGS = (("2", "5", "0.5", "2"), ("0.7", "1", "0.3", "0.5"))

PAIRS = ((1, 0, 1), (1, 1, 1), (1, 1, 2), (2, 1, 1), (2, 2, 1), (2, 1, 2))

TOLERANCE = 3e-5

FAMILIES = (
    (point(4, "2", "4", "0.25"), None, 4),
    (point(4, "1", "1.3", "0"), Fraction(3, 10), 3),
    (point(3, "3.1", "7", "0.75"), Fraction(30), 3),
    (point(3, "0.8", "8", "0.5"), None, 2),
)


def settled(setting: tuple[str, str, str, str], k: int = 4) -> Family:
    sigma, tau, epsilon, kappa = (Fraction(x) for x in setting)
    return Family(k, sigma, tau, epsilon, sigma, kappa, k)
