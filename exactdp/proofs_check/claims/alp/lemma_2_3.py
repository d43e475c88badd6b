"""ALP, Lemma 2.3: epsilons and deltas of two independent mechanisms add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _pair(factor: Fraction, delta: Fraction) -> tuple[Law[int], Law[int]]:
    """The worst pair of laws for (ln factor, delta)."""
    high = factor * (1 - delta) / (1 + factor)
    p = Law({0: delta, 1: high, 2: 1 - delta - high})
    q = Law({1: 1 - delta - high, 2: high, 3: delta})
    return p, q


def _composed(share: Fraction) -> str:
    """The pair of releases is (ln f1 f2, delta1 + delta2)-private."""
    factors = (Fraction(3, 2), Fraction(2), Fraction(4))
    deltas = (Fraction(0), Fraction(1, 100), Fraction(1, 10))
    for f, g, d, e in product(factors, factors, deltas, deltas):
        (p, q), (r, s) = _pair(f, d), _pair(g, e)
        exact = hockey_stick(p.product(r), q.product(s), e_epsilon=f * g * share).lower
        require(exact <= d + e, f"e^epsilons {f}, {g}, deltas {d}, {e}: {exact}")
    return "81 pairs of worst-case mechanisms"


CLAIMS = (
    ALP.verified(
        "Lemma 2.3",
        "Two independent releases with (e1, d1) and (e2, d2) are together (e1 + e2, d1 + d2)-"
        "differentially private.",
        "enumeration",
        **varied(
            _composed, Fraction(1), Fraction(50, 51), "a factor of e^(e1 + e2)/1.02 is enough"
        ),
    ),
)
