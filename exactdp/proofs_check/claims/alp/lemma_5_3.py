"""ALP, Lemma 5.3: epsilons of threshold and projection add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import exp_lower, projection_law
from exactdp.proofs_check.claims.alp._threshold import distance, power, threshold_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _private(share: Fraction) -> str:
    """The joint output: ratios at most e^(distance (eps1 + share * eps2))."""
    grid = list(product((Fraction(n, 2) for n in range(5)), repeat=2))
    for base, eps in ((Fraction(4), Fraction(1, 2)), (Fraction(9, 4), Fraction(1))):  # e^eps1, eps2
        laws = {
            x: threshold_law(x, Fraction(2), base).product(
                projection_law([eps * v for v in x], ((0, 1), (0, 0)), 2, Fraction(1))
            )
            for x in grid
        }
        for x, other in product(grid, repeat=2):
            gap = distance(x, other)
            if 0 < gap <= 1:
                ratio = max_loss(laws[x], laws[other])
                limit = power(base, gap) * exp_lower(share * eps * gap)
                require(ratio <= limit, f"e^eps1={base}, {x} against {other}: ratio {ratio}")
    return "25 vectors up to t = 2, joint law of both parts; e^eps1 = 4, 9/4, eps2 = 1/2, 1"


CLAIMS = (
    ALP.verified(
        "Lemma 5.3",
        "Algorithm 7 is (epsilon1 + epsilon2)-differentially private.",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(22, 25), "(epsilon1 + 0.88 epsilon2)-private"),
    ),
)
