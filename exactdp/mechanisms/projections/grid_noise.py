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
from math import ceil, exp, log1p
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.balls import ball
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon_above, largest_step
from exactdp.mechanisms.projections.projection import Projection
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, rounded
from exactdp.parameters import choice, positive
from exactdp.samplers import Source, TwoSidedGeometric
from exactdp.samplers.cdf import RealCdf

#: Up to this number of draws, single draws are faster than bulk draws.
FEW = 64

MOST_STEPS = 1 << 40

#: Laws list noise up to the size that noise exceeds with probability e^-45, in at most 2^22 terms.
#: An exponent of at most 46, correct up to a factor 1 +- 3 2^-53, gives each term up to 2^-45.
_REACH, _MOST_TERMS, _SLACK = 45, 1 << 22, 2.0**-44


@dataclass(frozen=True)
class GridNoise:
    """Noise of one value. grid: the step, > 0. epsilon: > 0. k: largest number of entries that a
    change is spread over. top: the largest value, a multiple of the grid. Raises InvalidParameter.
    """

    grid: Fraction
    epsilon: Fraction
    k: int
    top: Fraction

    def __post_init__(self) -> None:
        if (self.top / self.grid).denominator != 1:
            raise InvalidParameter("largest", self.top, f"a multiple of the grid {self.grid}")
        if self.steps > MOST_STEPS:
            raise InvalidParameter("grid", self.grid, "so coarse that largest is <= 2^40 steps")

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

    def estimates(self, value: Fraction, low: int) -> ErrorLaw:
        """The law of the noisy value, clamped to [low, steps]. Raises Undecided."""
        place = value / self.grid
        below, part = int(place // 1), place % 1
        rate = log1p(float(self.rise))
        if rate < _REACH / _MOST_TERMS:
            raise Undecided("noise over this many steps of the grid is not listed: a coarser grid")
        reach = np.arange(-ceil(_REACH / rate), ceil(_REACH / rate) + 1)
        chances = np.exp(-rate * np.abs(reach)) * float(self.rise / (2 + self.rise))
        centers = [(below, 1 - part), (below + 1, part)] if part else [(below, Fraction(1))]
        steps = np.concatenate([np.clip(center + reach, low, self.steps) for center, _ in centers])
        weights = np.concatenate([float(weight) * chances for _, weight in centers])
        top = float(self.top)
        return ErrorLaw(steps * float(self.grid), weights, _SLACK, 2 * exp(-_REACH), top)

    def beyond(self, steps: int) -> tuple[Callable[[], arb], Fraction | None]:
        """P(noise >= steps), steps >= 1, as a ball, and as a fraction if that is short."""
        ratio = 1 / (1 + self.rise)

        def chance() -> arb:
            return (-ball(self.rise).log1p() * steps).exp() / (1 + ball(ratio))

        exact = ratio**steps / (1 + ratio) if steps <= FEW else None
        return chance, exact


@frozen(kw_only=True)
class GridProjection(Projection):
    """grid: > 0; values are randomly rounded to multiples of grid, and largest is a multiple.

    values: "positive", "signed", or "counts" (then the grid is 1, and neighbours differ by 1 in one
    entry, which needs less noise).
    """

    grid: Number = number(positive, default=Fraction(1, 64))
    values: str = "positive"

    #: The values that the mechanism takes.
    takes: ClassVar[tuple[str, ...]] = ("positive", "counts")

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("values", self.values, self.takes)

    @cached_property
    def step(self) -> Fraction:
        """The step of the noise."""
        return Fraction(1) if self.values == "counts" else self.grid

    @cached_property
    def noise(self) -> GridNoise:
        """The noise of one value."""
        return GridNoise(self.step, self.epsilon, self.spread, self.largest)

    @property
    def e_epsilon(self) -> Fraction:
        return self.noise.e_epsilon
