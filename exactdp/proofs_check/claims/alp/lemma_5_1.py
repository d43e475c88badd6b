"""ALP, Lemma 5.1: the thresholded Laplace mechanism is epsilon-differentially private."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._threshold import distance, power, threshold_law
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


def _private(on_noisy_value: bool) -> str:
    """Ratios at most e^(eps * distance), e^eps = 4, t = 3, two entries on a grid of 1/2."""
    base, t = Fraction(4), Fraction(3)
    grid = list(product((Fraction(n, 2) for n in range(7)), repeat=2))

    def law(x: tuple[Fraction, ...]) -> Law[tuple[int, ...]]:
        if on_noisy_value:
            return threshold_law(x, t, base)
        return Law.point(tuple(int(value >= t) for value in x))

    laws = {x: law(x) for x in grid}
    for x, other in product(grid, repeat=2):
        gap = distance(x, other)
        ratio = max_loss(laws[x], laws[other])
        require(ratio <= power(base, gap), f"{x} against {other}: ratio {ratio} at distance {gap}")
    return "2401 pairs of vectors, e^eps = 4, t = 3"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 5.1",
        statement="Algorithm 6 is epsilon-differentially private: which entries are stored depends"
        " on x by a factor of at most e^(epsilon * l1 distance).",
        outcome="verified",
        method="enumeration",
        condition="Step (2) tests the noisy value v_i, as the proof reads it, not y_i",
        rests_on="ALP-Algorithm-6",
        **varied(_private, True, False, "the threshold test is on the true value"),
        note="Stored values of entries up to t carry no further information, see the model.",
    ),
)
