"""ALP, Algorithm 9: threshold for approximate privacy, with random rounding below 1."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from exactdp.mechanisms.projections.thresholds import ApproximateThreshold, Threshold
from exactdp.parameters import Real
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._threshold import power, rounded_law, threshold_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _rounding_needed(share: Fraction) -> str:
    """d entries of 1/d: P(something is stored) <= share * delta/(2 e^eps), but not unrounded."""
    for root, d in product((Fraction(21, 20), Fraction(3, 2), Fraction(2)), range(2, 9)):
        base, t = root**2, Fraction(3)  # t = log(1/delta)/epsilon + 2
        bound = 1 / base / (2 * base)
        # without rounding an entry of 1/d is stored more often than noise alone would be
        unrounded = threshold_law((Fraction(0),) * d, t, base).probability(any)
        require(d < 8 or unrounded > bound, f"e^eps={base}, d={d}: unrounded {float(unrounded)}")
        some = rounded_law((Fraction(1, d),) * d, t, base).probability(any)
        require(some <= share * bound, f"e^eps={base}, d={d}: stored with {float(some)}")
    return "the law of which are stored: e^eps = 1.1, 2.25, 4, delta = e^-eps, d = 2 to 8"


_APPROXIMATE = ApproximateThreshold(d=3, k=2, u=5, epsilon=1, grid=1, delta=Fraction(1, 4))
_PURE = Threshold(d=3, k=2, u=5, epsilon=1, grid=1, t=_APPROXIMATE.threshold)
_HALF, _THIRD = Fraction(1, 2), Fraction(1, 3)
_VECTORS: tuple[dict[int, Real], ...] = ({0: _HALF}, {1: 2}, {0: 3, 2: _THIRD}, {1: 1, 2: 5})


def _support(pure: bool) -> str:
    """Which sets of entries are stored with some probability: the subsets of the nonzero ones."""
    made = _PURE if pure else _APPROXIMATE
    for x in _VECTORS:
        stored = {tuple(i for i, _ in outcome) for outcome in made.law(x).support}
        subsets = {c for size in range(len(x) + 1) for c in combinations(sorted(x), size)}
        require(stored == subsets, f"x={x}: stored {stored - subsets}")
    return "four vectors of three entries, the law of the shipped algorithm"


def _log_base(factor: Fraction) -> str:
    """x = 1: e^(-eps (t - 1))/2 = delta/(2 e^eps), log natural."""
    base = Fraction(4)
    for halves in range(2, 9, 2):
        delta = power(base, Fraction(-halves, 2))
        t = factor * Fraction(halves, 2) + 2
        chance = rounded_law((Fraction(1),), t, base)[(1,)]
        require(chance == delta / (2 * base), f"delta={delta}, t={t}: stored {chance}")
    return "e^eps = 4, delta = 1/4 to 1/256"


CLAIMS = (
    ALP.verified(
        "Algorithm 9",
        "As shipped, only nonzero entries can be stored, each of them with some probability; so "
        "every output is k-sparse.",
        "exact law",
        **varied(_support, False, True, "noise is added to zero entries too"),
    ),
    ALP.verified(
        "Algorithm 9, Step (1)",
        "With random rounding, one of d entries of size 1/d is stored with probability at most "
        "delta/(2 e^epsilon), as one entry of 1; without it, for d = 8, with more.",
        "enumeration",
        **varied(_rounding_needed, Fraction(1), Fraction(99, 100), "0.99 times that"),
    ),
    ALP.verified(
        "Algorithm 9, Step (3)",
        "t = log(1/delta)/epsilon + 2 with the natural logarithm gives a nonzero entry of 1 the "
        "chance delta/(2 e^epsilon) to be stored.",
        "enumeration",
        **varied(
            _log_base,
            Fraction(1),
            Fraction(1, 2),
            "half of the natural logarithm (about the decimal one)",
        ),
        note="The step prints log, the proof ln; log to base 10 would not be private.",
    ),
)
