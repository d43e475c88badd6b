"""The quickest way from a 0 to a 1 that privacy allows: a cell in steps of one ratio.

A bit that is to say whether a value is beyond a cell is 1, after the noise, with probability p
before the cell and 1 - p behind it. Random rounding raises that linearly, and so spends the privacy
of the cell unevenly: a step doubles a small probability and hardly changes one of a half. A ramp
has L steps instead, from p up to 1/2 by a factor r each and on to 1 - p with the probability of a 0
falling by r each. A step then costs r wherever it is, so the same p needs a cell of about
2 ln(1/(2p)) instead of 1/p - 2, in units of 1/epsilon. One step is the paper's random rounding,
with p = 1/(r + 1); within a step a value is rounded at random, as everywhere.

Another entry of the same row sets the bit whatever this one does: a mixture with the constant
1 - p, which makes neither ratio larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.balls import ball, refine

MOST_STEPS = 1 << 16

#: Digits after the point of probabilities that need more, and of what a step costs beyond 1.
_BITS, _RISE_BITS = 56, 40


@dataclass(frozen=True)
class Ramp:
    """ratio: r > 1, what a step costs. steps: L >= 1."""

    ratio: Fraction
    steps: int

    @cached_property
    def chances(self) -> tuple[Fraction, ...]:
        """The probabilities of a 1 after the noise, L + 1 of them, from p to 1 - p."""
        even = self.steps % 2 == 0
        start = Fraction(1, 2) if even else 1 / (self.ratio + 1)
        short = self.steps <= 2 or self.steps * self.ratio.numerator.bit_length() <= _BITS
        lower = [start if short else _raised(start)]
        for _ in range(self.steps // 2):
            below = lower[-1] / self.ratio
            lower.append(below if short else _raised(below))
        return (*reversed(lower), *(1 - x for x in lower[even:]))

    @property
    def flip(self) -> Fraction:
        """p."""
        return self.chances[0]

    @cached_property
    def set_before(self) -> tuple[NDArray[Any], int]:
        """How likely the bit is set before the noise at each step: numerators and a denominator."""
        gain = 1 - 2 * self.flip
        marks = [(chance - self.flip) / gain for chance in self.chances[:-1]]
        whole = lcm(*(mark.denominator for mark in marks))
        numerators = [int(mark * whole) for mark in marks]
        return np.array(numerators, np.int64 if whole < 1 << 62 else object), whole


def rise_of(alpha: Fraction, steps: int) -> Fraction:
    """r - 1 for which p is 1/(alpha + 2), or hardly less where there are several steps.

    steps: 1 or even. Then r^(steps/2) = (alpha + 2)/2, with r rounded up to 2^-40.
    """
    if steps == 1:
        return alpha
    found = refine(lambda: ((ball(alpha) / 2).log1p() * 2 / steps).expm1())
    return Fraction(ceil(found.upper * 2**_RISE_BITS), 2**_RISE_BITS)


def _raised(chance: Fraction) -> Fraction:
    """No lower, and short: the ratio to the next one only becomes smaller."""
    return Fraction(ceil(chance * 2**_BITS), 2**_BITS)
