"""Ramps: the steepest increase of a bit's probability, across a cell, that privacy allows.

A noisy bit that tells whether a value is beyond a cell is 1 with probability p for values before
the cell and 1 - p for values behind the cell. Random rounding increases the probability linearly,
which spends privacy unevenly: near p, a small change of the value changes the probability by a
large factor; near 1/2, by a small factor. A ramp has L steps instead. In the first half, each step
multiplies the probability of a 1 by r, from p up to 1/2; in the second half, each step divides the
probability of a 0 by r, down to p. Every step then costs the same factor r, so the same p needs a
cell of width about 2 ln(1/(2p)) instead of 1/p - 2, in units of 1/epsilon. L = 1 is the random
rounding of the paper (ALP), with p = 1/(r + 1). Within a step, values are rounded at random.

If another entry of the same row sets the bit, the law is mixed with the constant 1 - p, which does
not increase the ratio.
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

#: Binary digits to which longer probabilities, and r - 1, are rounded.
_BITS, _RISE_BITS = 56, 40


@dataclass(frozen=True)
class Ramp:
    """ratio: r > 1, the largest probability ratio of one step. steps: L >= 1."""

    ratio: Fraction
    steps: int

    @cached_property
    def chances(self) -> tuple[Fraction, ...]:
        """The L + 1 probabilities of a 1 after the noise, from p to 1 - p."""
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
    def steepest(self) -> Fraction:
        """The largest ratio of P(set before the noise) to the part of the cell that is covered.

        Between steps the probability is linear, and it starts at 0, so some step attains it.
        """
        marks, whole = self.set_before
        ratios = (Fraction(int(marks[j]) * self.steps, whole * j) for j in range(1, self.steps))
        return max([Fraction(1), *ratios])

    @cached_property
    def set_before(self) -> tuple[NDArray[Any], int]:
        """Probabilities of a 1 before the noise at each step: numerators and their denominator."""
        gain = 1 - 2 * self.flip
        marks = [(chance - self.flip) / gain for chance in self.chances[:-1]]
        whole = lcm(*(mark.denominator for mark in marks))
        numerators = [int(mark * whole) for mark in marks]
        return np.array(numerators, np.int64 if whole < 1 << 62 else object), whole


def rise_of(alpha: Fraction, steps: int) -> Fraction:
    """r - 1 for the ratio r of a step, such that p = 1/(alpha + 2), or slightly less.

    steps: 1 (then r = 1 + alpha), or even: r^(steps/2) = (alpha + 2)/2, with r rounded up to a
    multiple of 2^-40.
    """
    if steps == 1:
        return alpha
    rise = refine(lambda: ((ball(alpha) / 2).log1p() * 2 / steps).expm1())
    return Fraction(ceil(rise.upper * 2**_RISE_BITS), 2**_RISE_BITS)


def _raised(chance: Fraction) -> Fraction:
    """A probability rounded up to a short fraction; the ratio to the next only decreases."""
    return Fraction(ceil(chance * 2**_BITS), 2**_BITS)
