"""ALP, Lemma 4.6: the expected last nonnegative step of a walk with negative drift."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._walk import (
    hit_bounds,
    last_return,
    last_return_bounds,
    last_time_bounds,
)
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_CHANCES = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))


def _mean(slack: Fraction) -> str:
    """4 p (1 - p)/(1 - 2p)^2 lies in the enclosure from counting all walks of 120 steps."""
    for p in _CHANCES:
        low, high = last_return_bounds(p, 120)
        stated = slack * 4 * (p - p * p) / (1 - 2 * p) ** 2
        require(low <= stated <= high, f"p={p}: stated {float(stated)}, found {float(low)}")
    return f"p = 1/20, 1/10, 1/5: enclosed to {float(high - low):.1g} or better"


def _unique(slack: Fraction) -> str:
    """P(never again at or above the start) = (1 - p)(1 - p/(1 - p)) = 1 - 2p."""
    for p in _CHANCES:
        low, high = hit_bounds(p, 0, 100)  # a return to the start
        up_low, up_high = hit_bounds(p, 1, 100)
        stated = slack * (1 - 2 * p)
        # back at or above the start: first step up, or down and a climb by one
        back = (p + (1 - p) * up_low, p + (1 - p) * up_high)
        require(low <= 2 * p <= high, f"p={p}: return to the start {float(low)}")
        require(1 - back[1] <= stated <= 1 - back[0], f"p={p}: {float(1 - back[0])}")
    return "p = 1/20, 1/10, 1/5, by counting walks of 100 steps"


def _law(factor: Fraction) -> str:
    """C(2i, i) (p - p^2)^i (1 - 2p), between bounds from all paths; odd steps are never last."""
    for p in _CHANCES:
        require(last_time_bounds(p, 3, 60)[1] == 0, f"p={p}: step 3 can be the last")
        for i in range(6):
            low, high = last_time_bounds(p, 2 * i, 100)
            stated = factor * last_return(p, i)
            require(low <= stated <= high, f"p={p}, i={i}: {float(low)} to {float(high)}")
    return "p = 1/20, 1/10, 1/5, i = 0 to 5, paths of 100 steps"


def _sums(factor: Fraction) -> str:
    """The terms C(2i, i) (p - p^2)^i (1 - 2p) sum to 1, and their mean is as stated."""
    for p in _CHANCES:
        x = 4 * p * (1 - p)
        terms = [last_return(p, i) for i in range(120)]
        total = sum(terms, Fraction(0))
        mean = sum((2 * i * t for i, t in enumerate(terms)), Fraction(0))
        rest = 240 * x**120 / (1 - x) ** 2
        require(1 - rest <= total <= 1, f"p={p}: total {float(total)}")
        stated = factor * 4 * (p - p * p) / (1 - 2 * p) ** 2
        require(mean <= stated <= mean + rest, f"p={p}: mean {float(mean)}")
    return "p = 1/20, 1/10, 1/5; 120 terms, remainder below a geometric series"


CLAIMS = (
    ALP.verified(
        "Lemma 4.6",
        "For p < 1/2 the last step with S_n >= 0 has mean 4 (p - p^2)/(1 - 2p)^2.",
        "enumeration",
        **varied(_mean, Fraction(1), Fraction(10001, 10000), "1.0001 times that"),
    ),
    ALP.verified(
        "Lemma 4.6, proof, first display",
        "S_n is the unique maximum from step n on with probability (1 - p)(1 - p/(1 - p)) = "
        "1 - 2p.",
        "enumeration",
        **varied(_unique, Fraction(1), Fraction(10001, 10000), "1.0001 (1 - 2p)"),
    ),
    ALP.verified(
        "Lemma 4.6, proof, second display",
        "The last nonnegative step is even, and 2i with probability C(2i, i) (p - p^2)^i (1 - 2p).",
        "enumeration",
        **varied(_law, Fraction(1), Fraction(10001, 10000), "1.0001 times that"),
        note="The text multiplies by P(S_i > later maximum); the index must be 2i, with the same "
        "value 1 - 2p.",
    ),
    ALP.verified(
        "Lemma 4.6, proof, third display",
        "The sum of C(2i, i) (p - p^2)^i (1 - 2p) is 1, and of 2i times that 4 (p - p^2)/"
        "(1 - 2p)^2.",
        "enumeration",
        **varied(_sums, Fraction(1), Fraction(10001, 10000), "1.0001 times that"),
        note="The identity for the series is proved under Appendix A.",
    ),
)
