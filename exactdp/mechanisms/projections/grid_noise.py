"""Discrete Laplace noise on a grid, for values that are rounded to it at random.

Noise of ratio 1/(1 + a) per step makes one step cost a factor of 1 + a. A value between two steps
is rounded to one of them with itself as the mean, so moving it by a part t of a step changes a
probability by a factor of at most 1 + a t: a grid is a row of cells, and the exact loss is that of
projections/exact_epsilon.py with alpha = a. Noise is cut at the ends of what is released.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.balls import ball
from exactdp.errors import InvalidParameter
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon_above, largest_step
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, rounded
from exactdp.samplers import Source, TwoSidedGeometric
from exactdp.samplers.inverse_cdf import RealCdf

#: So many draws are cheaper one by one than in bulk.
FEW = 64

MOST_STEPS = 1 << 40


@dataclass(frozen=True)
class GridNoise:
    """grid: the step. epsilon: > 0. k: entries that can rise from 0. top: the largest value."""

    grid: Fraction
    epsilon: Fraction
    k: int
    top: Fraction

    def __post_init__(self) -> None:
        if (self.top / self.grid).denominator != 1:
            raise InvalidParameter("u", self.top, f"a multiple of the grid {self.grid}")
        if self.steps > MOST_STEPS:
            raise InvalidParameter("grid", self.grid, "coarser: u is more than 2^40 steps")

    @property
    def steps(self) -> int:
        """Of the largest value."""
        return int(self.top / self.grid)

    @cached_property
    def rise(self) -> Fraction:
        """a: one step costs a factor of 1 + a."""
        return largest_step(self.epsilon, self.grid, self.k)

    @cached_property
    def e_epsilon(self) -> Fraction:
        """What a change of size 1 costs, at most."""
        return e_epsilon_above(self.rise / self.grid, self.rise, self.k)

    @cached_property
    def law(self) -> TwoSidedGeometric:
        """The noise in steps, before it is cut."""
        return TwoSidedGeometric(q=1 / (1 + self.rise))

    def noisy(self, entries: NonzeroEntries, low: int, source: Source) -> NDArray[np.int64]:
        """Every value in steps, rounded and noisy, within [low, steps]."""
        steps = rounded(entries, self.grid, source)
        noisy: NDArray[np.int64] = np.clip(steps + self.draw(len(steps), source), low, self.steps)
        return noisy

    def draw(self, n: int, source: Source) -> NDArray[np.int64]:
        """Noise that goes from one end to the other at most: whatever is added to, it is cut."""
        reach = 2 * self.steps
        if n > FEW:
            return np.clip(self.law.sample_many(n, source), -reach, reach)
        return np.array([source.inverse_cdf(self._cut) for _ in range(n)], np.int64)

    @cached_property
    def _cut(self) -> RealCdf:
        """The same law with a finite support, so that it can be enumerated."""
        plain, reach = self.law, 2 * self.steps
        return RealCdf(-reach, reach, plain._value, plain._quantile, plain._exact())

    def beyond(self, steps: int) -> tuple[Callable[[], arb], Fraction | None]:
        """P(noise >= steps), steps >= 1, as a ball and, where it is short, as a fraction."""
        ratio = 1 / (1 + self.rise)

        def chance() -> arb:
            return (-ball(self.rise).log1p() * steps).exp() / (1 + ball(ratio))

        exact = ratio**steps / (1 + ratio) if steps <= FEW else None
        return chance, exact
