"""ALP, Definition 2.1: differential privacy over all events, by pointwise sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_LAWS = (
    Law({0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}),
    Law({0: Fraction(1, 10), 1: Fraction(1, 5), 3: Fraction(7, 10)}),
    Law({0: Fraction(2, 5), 2: Fraction(2, 5), 3: Fraction(1, 5)}),
)


def _events(shift: Fraction) -> str:
    """The smallest delta over all events is the sum of the positive parts."""
    for p in _LAWS:
        for q in _LAWS:
            for factor in (Fraction(1), Fraction(3, 2), Fraction(5)):
                points = sorted(p.support | q.support)
                events = (e for size in range(len(points) + 1) for e in combinations(points, size))
                worst = max(sum((p[x] - factor * q[x] for x in e), Fraction(0)) for e in events)
                stated = hockey_stick(p, q, e_epsilon=factor).lower * shift
                require(worst == stated, f"events give {worst}, points give {stated}")
    return "27 cases: three laws, e^epsilon = 1, 3/2, 5, every event"


CLAIMS = (
    ALP.verified(
        "Definition 2.1",
        "The smallest delta with P(M(x) in S) <= e^epsilon P(M(x') in S) + delta for every event S "
        "is the sum over outcomes of the positive parts of P(x) - e^epsilon P(x').",
        "enumeration",
        **varied(_events, Fraction(1), Fraction(49, 50), "delta is 0.98 times that sum"),
    ),
)
