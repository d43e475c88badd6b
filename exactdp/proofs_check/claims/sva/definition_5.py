"""SVA, Definitions 5 and 6: closeness of two laws, and differential privacy with it."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import pairs, report, sparse
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_LAWS = tuple(
    Law({i: Fraction(w, sum(ws)) for i, w in enumerate(ws)})
    for ws in ((1, 1, 1), (1, 2, 3), (4, 1, 0), (0, 1, 6), (5, 2, 2))
)
_FACTORS = (Fraction(1), Fraction(3, 2), Fraction(3))


def _subsets(outcomes: list[int]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(outcomes, r) for r in range(len(outcomes) + 1)))


def _least_delta(allowance: Fraction) -> str:
    """The least delta over all events is the hockey-stick divergence (times an allowance)."""
    for p in _LAWS:
        for q in _LAWS:
            for factor in _FACTORS:
                events = _subsets(sorted(p.support | q.support))
                worst = max(
                    p.probability(lambda x: x in s) - factor * q.probability(lambda x: x in s)
                    for s in events
                )
                stated = hockey_stick(p, q, e_epsilon=factor).upper * allowance
                require(worst == stated, f"events give {worst}, the formula {stated}")
    return f"{len(_LAWS)}^2 pairs of laws, {len(_FACTORS)} factors, every event"


def _both_ways(cut: Fraction) -> str:
    """The message of Algorithm 1 is (epsilon, 0)-close in both directions at e^epsilon = a^-L."""
    a = Fraction(1, 3)
    vectors = sparse(2, 2, (-1, 0, 1))
    tried = 0
    for v, w in pairs(vectors):
        length = sum(abs(int(x - y)) for x, y in zip(v, w, strict=True))
        factor = a**-length * cut
        first, second = report(v, 1, a, 3), report(w, 1, a, 3)
        less = hockey_stick(first, second, e_epsilon=a**-length * Fraction(49, 50)).lower
        require(less > 0, f"{v} against {w}: private at a smaller epsilon")
        delta = hockey_stick(first, second, e_epsilon=factor).upper
        require(delta == 0, f"{v} against {w}: delta {delta} at e^epsilon = {factor}")
        tried += 1
    return f"{tried} ordered pairs of vectors, every outcome, reversals included"


CLAIMS = (
    SVA.verified(
        "Definition 5",
        "X is (epsilon, delta)-close to X' iff P(X in S) <= e^epsilon P(X' in S) + delta "
        "for every event S; the least such delta is the sum of the positive parts of "
        "p - e^epsilon p'.",
        "enumeration",
        **varied(_least_delta, Fraction(1), Fraction(49, 50), "two percent less"),
        note="one direction only; the neighbouring relations are symmetric, which gives the other",
    ),
    SVA.verified(
        "Definition 6",
        "A function is (epsilon, delta)-DP when its outputs on any two neighbours are "
        "(epsilon, delta)-close; one bin with noise of ratio e^(-epsilon/L) is (epsilon, 0)-DP for "
        "inputs at distance L, and not for a smaller epsilon.",
        "enumeration",
        **varied(_both_ways, Fraction(1), Fraction(49, 50), "e^epsilon two percent smaller"),
    ),
)
