"""ALP, Lemma 2.2: post-processing by any channel does not hurt."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_P = Law({0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)})
_Q = Law({0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)})
_CHANCES = (Fraction(0), Fraction(1, 3), Fraction(1))


def _processed(share: Fraction) -> str:
    """delta(f(P), f(Q)) <= share * delta(P, Q) for every channel of the grid."""
    for chances in product(_CHANCES, repeat=3):
        for factor in (Fraction(1), Fraction(6, 5), Fraction(2)):
            before = hockey_stick(_P, _Q, e_epsilon=factor).lower
            images = [law.then(lambda x: _coin(chances[x])) for law in (_P, _Q)]
            after = hockey_stick(*images, e_epsilon=factor).lower
            require(after <= share * before, f"channel {chances}, e^epsilon={factor}: {after}")
    return "27 channels to two outcomes, e^epsilon = 1, 6/5, 2"


def _coin(chance: Fraction) -> Law[int]:
    return Law({1: chance, 0: 1 - chance})


CLAIMS = (
    ALP.verified(
        "Lemma 2.2",
        "Any randomized mapping of the output keeps (epsilon, delta).",
        "enumeration",
        **varied(_processed, Fraction(1), Fraction(49, 50), "it lowers delta by 2 %"),
    ),
)
