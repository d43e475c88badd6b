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


def _private(second: Fraction) -> str:
    """The joint output: ratios at most e^(distance (eps1 + second)), e^eps1 = 4, eps2 = 1/2."""
    base, t, eps = Fraction(4), Fraction(2), Fraction(1, 2)
    grid = list(product((Fraction(n, 2) for n in range(5)), repeat=2))
    laws = {
        x: threshold_law(x, t, base).product(
            projection_law([eps * v for v in x], ((0, 1), (0, 0)), 2, Fraction(1))
        )
        for x in grid
    }
    for x, other in product(grid, repeat=2):
        gap = distance(x, other)
        if 0 < gap <= 1:
            ratio = max_loss(laws[x], laws[other])
            limit = power(base, gap) * exp_lower(second * gap)
            require(ratio <= limit, f"{x} against {other}: ratio {ratio}")
    return "all pairs at distance <= 1 of 25 vectors, joint law of both parts"


CLAIMS = (
    ALP.verified(
        "Lemma 5.3",
        "Algorithm 7 is (epsilon1 + epsilon2)-differentially private.",
        "enumeration",
        **varied(_private, Fraction(1, 2), Fraction(44, 100), "(epsilon1 + 0.88 epsilon2)-private"),
    ),
)
