"""Is a claimed delta kept? Decided by certified arithmetic, or said to be undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flint import arb

from exactdp.balls import CAP_BITS, Ends, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

__all__ = ["Check", "Verdict", "decide"]

Verdict = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True)
class Check:
    """Whether (epsilon, delta) is kept: the verdict, and the enclosure of delta it rests on.

    tight: delta is the mechanism's exact one; otherwise it is an upper bound, and refuted means
    only that this bound does not show the claim.
    """

    verdict: Verdict
    delta: Enclosure
    target: Fraction
    tight: bool


def decide(
    compute: Callable[[], arb | Ends], target: Fraction, *, tight: bool, cap_bits: int = CAP_BITS
) -> Check:
    """Compare a probability with a target, at whatever precision that takes.

    compute: evaluates the probability (or an upper bound of one) at the working precision.
    tight: whether it is the mechanism's exact delta. cap_bits: the most precision to spend.
    """
    try:
        found = refine(
            compute,
            accept=lambda e: e.upper <= target or e.lower > target,
            cap_bits=cap_bits,
        )
    except Undecided:
        widest = refine(compute, accept=lambda _: True)
        return Check("undecided", widest.clamped(0, 1), target, tight)
    verdict: Verdict = "proved" if found.upper <= target else "refuted"
    return Check(verdict, found.clamped(0, 1), target, tight)
