"""ALP, Algorithm 9: threshold for approximate privacy, with random rounding below 1."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._threshold import power, rounded_law, stored, threshold_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _rounding_needed(rounding: bool) -> str:
    """d entries 0 against d entries 1/d: P(something is stored) <= delta/(2 e^eps)."""
    for root, d in product((Fraction(21, 20), Fraction(3, 2), Fraction(2)), range(2, 9)):
        base = root**2
        delta, t = 1 / base, Fraction(3)  # t = log(1/delta)/epsilon + 2
        # without rounding an entry of 1/d is stored more often than noise alone would be
        law = threshold_law((Fraction(0),) * d, t, base)
        if rounding:
            law = rounded_law((Fraction(1, d),) * d, t, base)
        some = law.probability(any)
        case = f"e^eps={base}, d={d}: stored with probability {float(some)}"
        require(some <= delta / (2 * base), case)
    return "the law of which are stored: e^eps = 1.1, 2.25, 4, delta = e^-eps, d = 2 to 8"


def _support(nonzero: bool) -> str:
    """Zero entries are never stored; the output is k-sparse for every outcome."""
    base, t = Fraction(4), Fraction(3)
    for x in product((Fraction(0), Fraction(1, 2), Fraction(2)), repeat=3):
        if nonzero:
            law = rounded_law(x, t, base)
        else:
            law = rounded_law(tuple(max(v, Fraction(1, 10**6)) for v in x), t, base)
        allowed = [int(v != 0) for v in x]
        for outcome in law.support:
            inside = all(a <= b for a, b in zip(outcome, allowed, strict=True))
            require(inside, f"x={x}: stored {outcome}")
    return "27 vectors of three entries"


def _log_base(factor: Fraction) -> str:
    """d = 1, x = 0 against 1: e^(-eps (t - 1))/2 <= delta/(2 e^eps), log natural."""
    base = Fraction(4)
    for halves in range(2, 9, 2):
        delta = power(base, Fraction(-halves, 2))
        t = factor * Fraction(halves, 2) + 2
        chance = stored(Fraction(1), t, base)
        require(chance <= delta / (2 * base), f"delta={delta}, t={t}: stored {chance}")
    return "e^eps = 4, delta = 1/4 to 1/256"


CLAIMS = (
    ALP.verified(
        "Algorithm 9",
        "Only nonzero entries can be stored, so every output is k-sparse.",
        "enumeration",
        **varied(_support, True, False, "noise is added to zero entries too"),
    ),
    ALP.verified(
        "Algorithm 9, Step (1)",
        "With random rounding, one of d entries of size 1/d is stored with probability at most "
        "delta/(2 e^epsilon), as one entry of 1; without it this fails for many entries.",
        "enumeration",
        **varied(_rounding_needed, True, False, "no rounding"),
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
