"""Discrete Laplace noise on a grid, for values that are randomly rounded to the grid.

With noise of ratio 1/(1 + a) per step, a change by one step changes a probability by a factor of at
most 1 + a. A value between two steps is rounded without bias to one of them, so a change by a
fraction t of a step costs at most 1 + a t. The steps are thus cells in the sense of
projections/exact_epsilon.py with alpha = a, which gives the exact loss. Noisy values are clamped
to the range of released values.
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

#: Up to this number of draws, single draws are faster than bulk draws.
FEW = 64

MOST_STEPS = 1 << 40


@dataclass(frozen=True)
class GridNoise:
    """Noise of one value. grid: the step, > 0. epsilon: > 0. k: largest number of non-zero
    entries. top: the largest value, a multiple of the grid. Raises InvalidParameter."""

    grid: Fraction
    epsilon: Fraction
    k: int
    top: Fraction

    def __post_init__(self) -> None:
        if (self.top / self.grid).denominator != 1:
            raise InvalidParameter("u", self.top, f"a multiple of the grid {self.grid}")
        if self.steps > MOST_STEPS:
            raise InvalidParameter("grid", self.grid, "so coarse that u is at most 2^40 steps")

    @property
    def steps(self) -> int:
        """The largest value, in steps."""
        return int(self.top / self.grid)

    @cached_property
    def rise(self) -> Fraction:
        """a: one step costs a factor of 1 + a."""
        return largest_step(self.epsilon, self.grid, self.k)

    @cached_property
    def e_epsilon(self) -> Fraction:
        """Upper bound of the probability ratio for a change of l1 size 1."""
        return e_epsilon_above(self.rise / self.grid, self.rise, self.k)

    @cached_property
    def law(self) -> TwoSidedGeometric:
        """The law of the noise in steps, without clamping."""
        return TwoSidedGeometric(q=1 / (1 + self.rise))

    def noisy(self, entries: NonzeroEntries, low: int, source: Source) -> NDArray[np.int64]:
        """Noisy values in steps, clamped to [low, steps]."""
        steps = rounded(entries, self.grid, source)
        noisy: NDArray[np.int64] = np.clip(steps + self.draw(len(steps), source), low, self.steps)
        return noisy

    def draw(self, n: int, source: Source) -> NDArray[np.int64]:
        """n draws of the noise, clamped to twice the largest value: sums are clamped anyway."""
        reach = 2 * self.steps
        if n > FEW:
            return np.clip(self.law.sample_many(n, source), -reach, reach)
        return np.array([source.inverse_cdf(self._cut) for _ in range(n)], np.int64)

    @cached_property
    def _cut(self) -> RealCdf:
        """The law of the noise with finite support, which can be enumerated."""
        plain, reach = self.law, 2 * self.steps
        return RealCdf(-reach, reach, plain._value, plain._quantile, plain._exact())

    def beyond(self, steps: int) -> tuple[Callable[[], arb], Fraction | None]:
        """P(noise >= steps), steps >= 1, as a ball, and as a fraction if that is short."""
        ratio = 1 / (1 + self.rise)

        def chance() -> arb:
            return (-ball(self.rise).log1p() * steps).exp() / (1 + ball(ratio))

        exact = ratio**steps / (1 + ratio) if steps <= FEW else None
        return chance, exact
