"""Whether a claimed delta holds, by certified arithmetic: proved, refuted or undecided."""

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
    """Whether (epsilon, delta)-DP holds for a target delta, by an enclosure of delta.

    tight: delta is the mechanism's exact delta. Otherwise it is an upper bound, and refuted means
    only that this bound does not prove the claim.
    """

    delta: Enclosure
    target: Fraction
    tight: bool

    @property
    def verdict(self) -> Verdict:
        """Proved or refuted, where the target is outside the enclosure."""
        if self.delta.upper <= self.target:
            return "proved"
        return "refuted" if self.delta.lower > self.target else "undecided"


def decide(
    compute: Callable[[], arb | Ends], target: Fraction, *, tight: bool, cap_bits: int = CAP_BITS
) -> Check:
    """Compare a probability with a target, with as much precision as the decision needs.

    compute: evaluates the probability, or an upper bound on it, at the working precision.
    tight: whether the value is the mechanism's exact delta. cap_bits: the most precision to spend.
    """

    def is_decided(interval: Enclosure) -> bool:
        return interval.upper <= target or interval.lower > target

    try:
        interval = refine(compute, accept=is_decided, cap_bits=cap_bits)
    except Undecided:
        interval = refine(compute, accept=lambda _: True)
    return Check(interval.clamped(0, 1), target, tight)
