"""ALP, Lemma 8.1: taking maxima does not increase distances."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms.projections.noisy_rows import MaxProjection
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import exp_lower
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_MADE = MaxProjection(d=3, k=3, u=2, epsilon=1, grid=1, s=2)
_STEP = 1 + _MADE.noise.rise  # what a step of 1 costs: below e


@cache
def _law(x: tuple[int, ...], h: tuple[int, ...]) -> Law[tuple[int, ...]]:
    return _MADE.law(dict(enumerate(x)), Tables((h,)))


def _private(share: Fraction) -> str:
    """Ratios of the shipped law: at most share * _STEP^distance, for any two vectors."""
    vectors = [x for x in product(range(3), repeat=3) if sum(x) <= 3]
    require(exp_lower(Fraction(1)) >= _STEP, f"a step costs {float(_STEP)}")
    for h in ((0, 0, 0), (0, 0, 1)):
        laws = {x: _law(x, h) for x in vectors}
        for x, other in product(vectors, repeat=2):
            gap = sum(abs(a - b) for a, b in zip(x, other, strict=True))
            if gap:
                ratio = Fraction(max_loss(laws[x], laws[other]))
                case = f"h={h}, {x} and {other}: ratio {float(ratio)} at distance {gap}"
                require(ratio <= share * _STEP**gap, case)
    return f"two hash functions, {len(vectors)} vectors of integers, noise on a grid as shipped"


CLAIMS = (
    ALP.verified(
        "Lemma 8.1",
        "The noisy maxima as shipped change no probability by more than a factor r^distance with "
        "r < e^epsilon: epsilon-differentially private.",
        "exact law",
        **varied(_private, Fraction(1), Fraction(49, 50), "0.98 times that"),
    ),
)
