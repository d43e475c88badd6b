"""ALP, Lemma 5.1: the thresholded Laplace mechanism is epsilon-differentially private."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms.projections.thresholds import Threshold
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import exp_lower
from exactdp.proofs_check.claims.alp._threshold import distance, power, threshold_law
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


_SHIPPED = Threshold(d=2, k=2, u=3, epsilon=1, grid=1, t=2)


@cache
def _grid() -> None:
    """The law of all that is stored, as shipped: a distance of 1 costs one step of the noise."""
    step = 1 + _SHIPPED.noise.rise
    require(step <= exp_lower(Fraction(1)), f"a step costs {float(step)}")
    laws = {x: _SHIPPED.law(dict(enumerate(x))) for x in product(range(4), repeat=2)}
    for x, other in product(laws, repeat=2):
        gap = sum(abs(a - b) for a, b in zip(x, other, strict=True))
        require(max_loss(laws[x], laws[other]) <= step**gap, f"{x} against {other}, as shipped")


def _private(on_noisy_value: bool) -> str:
    """Ratios at most e^(eps * distance): on a grid as shipped, and which of two are stored."""
    _grid()
    base, t = Fraction(4), Fraction(3)
    grid = list(product((Fraction(n, 2) for n in range(7)), repeat=2))

    def law(x: tuple[Fraction, ...]) -> Law[tuple[int, ...]]:
        if on_noisy_value:
            return threshold_law(x, t, base)
        return Law.point(tuple(int(value >= t) for value in x))

    laws = {x: law(x) for x in grid}
    for x, other in product(grid, repeat=2):
        gap, ratio = distance(x, other), max_loss(laws[x], laws[other])
        require(ratio <= power(base, gap), f"{x} against {other}: ratio {ratio} at distance {gap}")
    return "2401 pairs of vectors, e^eps = 4, t = 3; 256 pairs as shipped, entries to 3, t = 2"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Lemma 5.1",
        statement="Algorithm 6 is epsilon-differentially private: its law depends on x by a factor "
        "of at most e^(epsilon * l1 distance), on a grid as shipped and for which entries up to t "
        "are stored.",
        outcome="verified",
        method="enumeration",
        condition="Step (2) tests the noisy value v_i, as the proof reads it, not y_i",
        rests_on="ALP-Algorithm-6",
        **varied(_private, True, False, "the threshold test is on the true value"),
        note="Stored values of entries up to t carry no further information, see the model.",
    ),
)
