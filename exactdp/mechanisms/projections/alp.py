"""The ALP mechanism and its relatives over one array: Algorithms 2 to 5 and 10, Sections 6 and 10.

The privacy of all of them is one closed form (projections/exact_epsilon.py). Where it is below the
paper's e^epsilon, the cells are made narrower until epsilon is used up, so less is lost to noise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter, shown
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.projections.embedding import Layout
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon_above, largest_ratio, least_width
from exactdp.mechanisms.projections.ramp import MOST_STEPS, Ramp, rise_of
from exactdp.mechanisms.projections.rounding import Cells, EqualCells, GrowingCells, RampCells
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries
from exactdp.mechanisms.projections.unary_projection import L1_NEIGHBOURS, UnaryProjection
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.vector import Vector

_RANGE = (Fraction(1, 10**6), Fraction(10**6))


@frozen
class _Additive(UnaryProjection):
    """alpha: > 0; a bit is flipped with probability 1/(alpha + 2), for several steps about that.

    steps: of a cell, 1 or an even number to 65536. 1 is the paper's random rounding; with more the
    same alpha needs narrower cells, which is less error (exactdp.mechanisms.projections.ramp).
    """

    alpha: Number = number(positive, default=8)
    steps: int = whole(least=1, default=64)

    def _check(self) -> None:
        if self.steps > MOST_STEPS or (self.steps > 1 and self.steps % 2):
            raise InvalidParameter("steps", self.steps, f"1, or even and <= {MOST_STEPS}")
        for name in ("alpha", "epsilon"):
            if not _RANGE[0] <= getattr(self, name) <= _RANGE[1]:
                raise InvalidParameter(name, getattr(self, name), "from 1e-6 to 1e6")

    @cached_property
    def rise(self) -> Fraction:
        """What a step costs beyond a factor of 1."""
        return rise_of(self.alpha, self.steps)

    @cached_property
    def step(self) -> Fraction:
        """The width of a step: the least that keeps epsilon."""
        return least_width(self.epsilon, self.rise, self.k)

    @cached_property
    def ramp(self) -> Ramp:
        return Ramp(1 + self.rise, self.steps)

    @cached_property
    def cells(self) -> Cells:
        return RampCells(EqualCells(ceil(self.beta / self.step), self.step), self.ramp)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(self.rise / self.step, self.rise, self.k)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Algorithm 4, with the exact loss of k entries"


@frozen
class ALP(_Additive):
    """A sparse vector of values from 0 to beta as noisy bits; epsilon-DP, epsilon being spent.

    d, k, s, beta, epsilon: see UnaryProjection. alpha, steps: see above; Algorithm 4 is steps = 1,
    for which an alpha of 3 is about best. Cells are as narrow as epsilon allows, so an estimate
    errs by about 2.5/epsilon in the mean (by 5/epsilon with steps = 1).
    Source: ALP, Algorithms 4 and 5, with the exact loss; ramps are ours.

    >>> from exactdp.mechanisms import ALP
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = ALP(d=2**64, k=100, s=1000, alpha=3, beta=50, epsilon=1)
    >>> sketch = mechanism.project({17: "3.5", 99: 40}, SystemSource())
    >>> 0 <= sketch[17] <= 50
    True
    """


@frozen
class SignedALP(_Additive):
    """The same for values from -beta to beta: m levels for either sign.

    An estimate reads them as one walk from -m to m (Section 10); ``sketch.difference(ids)`` reads
    the two parts by themselves (Section 2). Both parts are released together, under one epsilon.
    Source: ALP, Sections 2 and 10.
    """

    signed: ClassVar[bool] = True

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Section 10, negative values, with the exact loss of k entries"


@frozen
class TotalALP(_Additive):
    """The same where the sum of all values is known: one array for all levels.

    total: n > 0, public; values of one vector add up to n at most. s: bits of the array, more than
    2 (n/w + k) for cells of width w, so proportional to n epsilon and not to k beta epsilon; the
    chance of a collision is at most half of that over s. beta: n where nothing better is known; k:
    for counts n will do. Source: ALP, Section 10, Variants.
    """

    total: Number = number(positive, default=0)

    def _check_rows(self) -> None:
        """Cells are needed for that."""

    def _check(self) -> None:
        super()._check()
        if self.collision >= Fraction(1, 2):
            least = ceil(2 * self.collision * self.s)
            raise InvalidParameter("s", self.s, f"> {least}, twice the bits that may be set")

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.s, self.levels, shared=True)

    @property
    def collision(self) -> Fraction:
        return (self.total / self.cells.width + self.k) / self.s

    def checked(self, vector: Vector) -> NonzeroEntries:
        entries = super().checked(vector)
        found = Fraction(sum(entries.numerators.tolist()), entries.denominator)
        if found > self.total:
            allowed = f"at most total = {self.total}"
            raise InvalidParameter(
                "vector", Described(f"values that add up to {decimal_text(found)}"), allowed
            )
        return entries

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Section 10, a known sum, with the exact loss of k entries"


@frozen
class UnitEpsilonALP(UnaryProjection):
    """The paper's 1-DP projection as it stands: cells of width alpha, so 1 is not all spent.

    epsilon: 1, the promise; the guarantee's e_epsilon says what is kept. Source: ALP, Algorithm 2.
    """

    epsilon: Number = number(positive, default=1)
    alpha: Number = number(positive, default=3)

    def _check(self) -> None:
        if self.epsilon != 1:
            raise InvalidParameter("epsilon", self.epsilon, "1; ALP takes any")

    @property
    def ramp(self) -> Ramp:
        return Ramp(1 + self.alpha, 1)

    @cached_property
    def cells(self) -> Cells:
        width = self.alpha
        return EqualCells(ceil(self.beta / width), width)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(Fraction(1), self.alpha, self.k)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Algorithm 2, Lemma 4.1"


@frozen
class HistogramALP(UnaryProjection):
    """Counts only: neighbours differ by 1 in one entry, so one bit carries all of epsilon.

    beta: an integer. width: counts per cell, >= 1 (1 is Algorithm 10; more are better for small
    epsilon). Every count costs a factor r, the largest multiple of 2^-40 that is at most e^epsilon,
    so a bit is flipped with probability 1/(r + 1) for width 1, and about 1/(2 r^(width/2)) for
    more. Source: ALP, Algorithm 10, Lemma 7.1; wider cells are ours.
    """

    width: int = whole(least=1, most=MOST_STEPS, default=1)

    def _check(self) -> None:
        integer("beta", self.beta, least=1)
        if not _RANGE[0] <= self.epsilon <= 64:
            raise InvalidParameter("epsilon", self.epsilon, "from 1e-6 to 64")

    @cached_property
    def ramp(self) -> Ramp:
        return Ramp(self.e_epsilon, self.width)

    @cached_property
    def cells(self) -> Cells:
        return RampCells(EqualCells(int(self.beta), Fraction(1)), self.ramp)

    def checked(self, vector: Vector) -> NonzeroEntries:
        entries = super().checked(vector)
        if entries.denominator != 1:
            raise InvalidParameter("vector", Described("values that are not whole"), "counts")
        return entries

    @cached_property
    def e_epsilon(self) -> Fraction:
        return largest_ratio(self.epsilon)

    def _promise(self) -> tuple[str, str]:
        return "histograms that differ by 1 in one entry", "ALP Algorithm 10, Lemma 7.1"


@frozen
class LogALP(_Additive):
    """Levels on a logarithmic scale: few of them, and errors by a factor instead of a term.

    start: > 0; smaller values count as that, and it is what an entry of 0 is estimated as. Edges
    grow by a factor of 1 + width/start, the paper's B being e^(1/start): log_B(x ln B) is as steep
    as x at x = start, and less beyond. ``of`` takes the start of Lemma 6.2. Between edges values
    are rounded linearly, so that the law is rational. Source: ALP, Section 6.
    """

    alpha: Number = number(positive, default=20)
    steps: int = whole(least=1, default=8)
    start: Number = number(positive, default=10)

    equal: ClassVar[bool] = False

    def _check(self) -> None:
        super()._check()
        if self.beta > 10**300:
            raise InvalidParameter("beta", self.beta, "<= 1e300")
        if self.start >= self.beta:
            raise InvalidParameter("start", self.start, f"< beta = {shown(self.beta)}")
        if self.steps * self.step * 100 < self.start:
            raise InvalidParameter("start", self.start, "at most 100 cells wide")

    @classmethod
    def of(
        cls, *, d: int, k: int, s: int, beta: Real, epsilon: Real, alpha: Real = 20, steps: int = 8
    ) -> LogALP:
        """With the B of Lemma 6.2, which makes the expected factor of an error O(1)."""
        noise, loss = positive("alpha", alpha), positive("epsilon", epsilon)
        p = (1 + noise * Fraction(k, s)) / (noise + 2)
        return cls(d, k, s, beta, epsilon, alpha, steps, _start(noise, loss, p))

    @property
    def growth(self) -> Fraction:
        """The factor from one step to the next."""
        return 1 + self.step / self.start

    @cached_property
    def cells(self) -> Cells:
        start, top = self.start, self.beta
        return RampCells(GrowingCells.geometric(start, self.step, top, self.steps), self.ramp)

    def factor(self, value: Real, collision: Real | None = None) -> ErrorLaw:
        """The exact law of max(estimate/value, value/estimate), as :meth:`error` is of the rest.

        value: from start to beta; smaller ones are estimated as start.
        """
        point = positive("value", value)
        if point < self.start:
            raise InvalidParameter("value", value, f">= start = {self.start}")
        size = float(point)

        def factor(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.maximum(estimates / size, size / estimates)

        return self._estimates(point, collision).mapped(factor, self._top / float(self.start))

    def factor_bound(self, beta: Real) -> float:
        """A value of start or more is off by a larger factor with probability beta at most."""
        levels = self._levels_off(delta_target("beta", beta)) + 1
        step = 1 + (self.growth - 1) * (1 + Fraction(1, 1 << 32))  # edges are rounded up
        return float(float(step) ** (self.steps * levels)) * (1 + 1e-9)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Section 6, Lemma 6.1, with the loss of k entries"


def _start(alpha: Fraction, epsilon: Fraction, p: Fraction) -> Fraction:
    """1/ln B = 4 alpha/(epsilon ln(1/(4 p - 4 p^2))), to 20 bits."""
    odds = 4 * (p - p * p)
    if not 0 < odds < 1:
        raise InvalidParameter(
            "s", Described("a collision probability too large"), "large enough for alpha"
        )
    found = refine(lambda: -4 * ball(alpha) / (ball(epsilon) * ball(odds).log()))
    scale = 2**20
    return Fraction(ceil(found.upper * scale), scale)
