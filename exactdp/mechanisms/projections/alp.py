"""The ALP mechanism and its variants over one bit array.

Source: Aumüller, Lebeda and Pagh (ALP), Algorithms 2 to 5 and 10, Sections 6 and 10. The exact
privacy loss of all variants is one closed form (projections/exact_epsilon.py). Where it is below
the paper's bound, narrower cells use up the whole epsilon, which reduces the error.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter, one_line
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.projections.embedding import Layout
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon_above, largest_ratio, least_width
from exactdp.mechanisms.projections.projection import per_entry
from exactdp.mechanisms.projections.ramp import MOST_STEPS, Ramp, rise_of
from exactdp.mechanisms.projections.rounding import Cells, EqualSteps, GrowingSteps
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries
from exactdp.mechanisms.projections.unary_projection import MOST_ROWS, UnaryProjection
from exactdp.mechanisms.projections.universal_hashing import collision_bound
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.vector import Vector

_RANGE = (Fraction(1, 10**6), Fraction(10**6))


@frozen(kw_only=True)
class _Additive(UnaryProjection):
    """alpha: > 0; a bit is flipped with probability about 1/(alpha + 2), exactly for steps = 1.

    steps: of a cell, 1 or an even number <= 65536. 1 is the paper's random rounding; more steps
    allow narrower cells for the same alpha, hence less error (see projections/ramp.py).
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
        """r - 1, where one step changes a probability by a factor of at most r."""
        return rise_of(self.alpha, self.steps)

    @cached_property
    def step(self) -> Fraction:
        """The width of a step: the smallest width that keeps epsilon."""
        return least_width(self.epsilon, self.rise, self.k)

    @cached_property
    def ramp(self) -> Ramp:
        return Ramp(1 + self.rise, self.steps)

    @cached_property
    def cells(self) -> Cells:
        return Cells(EqualSteps(ceil(self.largest / self.step), self.step), self.ramp)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(self.rise / self.step, self.rise, self.k)

    source = "ALP Algorithm 4, with the exact loss of k entries"


@frozen(kw_only=True)
class ALP(_Additive):
    """An epsilon-DP sketch, made of noisy bits, of a sparse vector with values from 0 to `largest`.

    d: number of possible entries. k: largest number of non-zero entries. s: rows per level, > 2k;
    :meth:`of` takes 8k. largest: largest value. epsilon: > 0. alpha: > 0; sets the probability
    1/(alpha + 2) of a flipped bit. steps: of a cell, 1 or even; Algorithm 4 has steps = 1, where
    alpha = 3 is about optimal. The mean absolute error of an estimate is about 2.5/epsilon
    (5/epsilon with steps = 1).
    Source: ALP, Algorithms 4 and 5, with the exact privacy loss; several steps are ours.

    >>> from exactdp.mechanisms import ALP
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = ALP.of(d=2**64, k=100, largest=50, epsilon=1)
    >>> sketch = mechanism.project({17: "3.5", 99: 40}, SystemSource())
    >>> 0 <= sketch[17] <= 50
    True
    """


@frozen(kw_only=True)
class SignedALP(_Additive):
    """The ALP mechanism for values of either sign, with m levels for each.

    Both signs are released under one epsilon. An estimate reads the levels from -m to m as one
    random walk (Section 10); ``sketch.difference(ids)`` estimates the positive and negative parts
    separately (Section 2). Parameters: as for ALP. Source: ALP, Sections 2 and 10.
    """

    values = "signed"

    source = "ALP Section 10, negative values, with the exact loss of k entries"


@frozen(kw_only=True)
class TotalALP(_Additive):
    """The ALP mechanism with one array for all levels, for vectors with a bounded sum of values.

    total: n > 0, a public bound of the sum of the values. s: bits of the array; so the size grows
    with n epsilon instead of k epsilon times the largest value. A collision has probability at most
    c n/(w s) < 1/2, for cells of width w; c is 1 for steps = 1, and at most 2. :meth:`of` takes s
    such that the probability is at most 1/rows. largest: n if no better bound is known.
    k: d if no better bound is known. Other parameters: as for ALP.
    Source: ALP, Section 10, Variants.
    """

    total: Number = number(positive, default=0)

    @classmethod
    def of(cls, *, rows: int = 8, **parameters: Any) -> Self:
        """The mechanism with the smallest s at which a collision has probability <= 1/rows."""
        wide = cls(**{"s": MOST_ROWS, **parameters})
        needed = ceil(wide.collision * wide.s * integer("rows", rows, least=3))
        return cls(**{"s": max(needed, 1), **parameters})

    def _check_rows(self) -> None:
        """Skipped here: the bound of s depends on the cells; see _check."""

    def _check(self) -> None:
        super()._check()
        if self.collision >= Fraction(1, 2):
            least = ceil(2 * self.collision * self.s)
            raise InvalidParameter("s", self.s, f"> {least}, twice the bits that are set")

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.s, self.levels, shared=True)

    @property
    def collision(self) -> Fraction:
        """A bit is set by another entry with probability at most the mean sum of levels over s.

        A level exceeds value/w on average by at most the factor of the ramp.
        """
        set_bits = self.total / self.cells.width * self.ramp.steepest
        return set_bits * collision_bound(self.s)

    def checked(self, vector: Vector, k: int | None = None) -> NonzeroEntries:
        entries = super().checked(vector, k)
        total = Fraction(sum(entries.numerators.tolist()), entries.denominator)
        if total > self.total:
            allowed = f"at most total = {self.total}"
            raise InvalidParameter(
                "vector", Described(f"values that add up to {decimal_text(total)}"), allowed
            )
        return entries

    source = "ALP Section 10, a known sum, with the exact loss of k entries"


@frozen(kw_only=True)
class UnitEpsilonALP(UnaryProjection):
    """The paper's ALP1-projection, unchanged: cells of width alpha, for epsilon = 1 only.

    Its exact loss, the guarantee's e_epsilon, is below e; ALP uses up epsilon and errs less.
    epsilon: 1. Other parameters: as for ALP. Source: ALP, Algorithm 2.
    """

    epsilon: Number = number(positive, default=1)
    alpha: Number = number(positive, default=3)

    def _check(self) -> None:
        if self.epsilon != 1:
            raise InvalidParameter("epsilon", self.epsilon, "1 (ALP takes any epsilon)")

    @property
    def ramp(self) -> Ramp:
        return Ramp(1 + self.alpha, 1)

    @cached_property
    def cells(self) -> Cells:
        width = self.alpha
        return Cells(EqualSteps(ceil(self.largest / width), width), self.ramp)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(Fraction(1), self.alpha, self.k)

    source = "ALP Algorithm 2, Lemma 4.1"


@frozen(kw_only=True)
class HistogramALP(UnaryProjection):
    """An epsilon-DP sketch of counts, for neighbours that differ by 1 in one entry.

    d, k, s: as for ALP. largest: the largest count, an integer. width: counts per cell, >= 1; 1 is
    Algorithm 10, and larger widths have less error for small epsilon. A change by 1 changes a
    probability by a factor of at most r, the largest multiple of 2^-40 <= e^epsilon; a bit is
    flipped with probability 1/(r + 1) for width 1, about 1/(2 r^(width/2)) for larger widths.
    :meth:`of` takes width = 3/epsilon. Source: ALP, Algorithm 10, Lemma 7.1; wider cells are ours.
    """

    values = "counts"
    width: int = whole(least=1, most=MOST_STEPS, default=1)

    @classmethod
    def of(cls, *, rows: int = 8, **parameters: Any) -> Self:
        """The mechanism with s = rows k, and the width that is about best for most epsilon."""
        usual = min(max(round(3 / positive("epsilon", parameters["epsilon"])), 1), 1000)
        return super().of(rows=rows, **{"width": usual, **parameters})

    def _check(self) -> None:
        integer("largest", self.largest, least=1)
        if not _RANGE[0] <= self.epsilon <= 64:
            raise InvalidParameter("epsilon", self.epsilon, "from 1e-6 to 64")

    @cached_property
    def ramp(self) -> Ramp:
        return Ramp(self.e_epsilon, self.width)

    @cached_property
    def cells(self) -> Cells:
        return Cells(EqualSteps(int(self.largest), Fraction(1)), self.ramp)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return largest_ratio(self.epsilon)

    source = "ALP Algorithm 10, Lemma 7.1"


@frozen(kw_only=True)
class LogALP(_Additive):
    """The ALP mechanism with levels on a logarithmic scale: fewer levels, multiplicative error.

    start: > 0; values below start are treated as start, and an entry of 0 is estimated as start.
    The edges of the cells grow by a factor of 1 + width/start; the paper's B is e^(1/start), so
    that log_B(x ln B) has slope 1 at x = start and less beyond. :meth:`of` takes start from Lemma
    6.2. Values between edges are rounded linearly, which keeps the law rational.
    Other parameters: as for ALP. Source: ALP, Section 6.
    """

    alpha: Number = number(positive, default=20)
    steps: int = whole(least=1, default=8)
    start: Number = number(positive, default=10)

    equal: ClassVar[bool] = False

    def _check(self) -> None:
        super()._check()
        if self.largest > 10**300:
            raise InvalidParameter("largest", self.largest, "<= 1e300")
        if self.start >= self.largest:
            allowed = f"< largest = {one_line(self.largest)}: take a smaller alpha, or ALP"
            raise InvalidParameter("start", self.start, allowed)
        if self.steps * self.step * 100 < self.start:
            raise InvalidParameter("start", self.start, "at most 100 cells wide")

    @classmethod
    def of(cls, *, rows: int = 8, alpha: Real = 20, **parameters: Any) -> Self:
        """The mechanism with s = rows k and the B of Lemma 6.2: a mean factor of O(1)."""
        noise, loss = positive("alpha", alpha), positive("epsilon", parameters["epsilon"])
        s = integer("s", parameters.pop("s", per_entry(rows, parameters)), least=1)
        p = (1 + noise * Fraction(per_entry(1, parameters), s)) / (noise + 2)
        return cls(**{"s": s, "alpha": noise, "start": _start(noise, loss, p), **parameters})

    @property
    def growth(self) -> Fraction:
        """The ratio of the edges of consecutive steps."""
        return 1 + self.step / self.start

    @cached_property
    def cells(self) -> Cells:
        start, top = self.start, self.largest
        return Cells(GrowingSteps.geometric(start, self.step, top, self.steps), self.ramp)

    def factor(self, value: Real, collision: Real | None = None) -> ErrorLaw:
        """The exact law of the multiplicative error max(estimate/value, value/estimate).

        value: from start to `largest`. collision: as for :meth:`error`. Raises InvalidParameter.
        """
        point = positive("value", value)
        if point < self.start:
            raise InvalidParameter("value", value, f">= start = {self.start}")
        size = float(point)

        def factor(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.maximum(estimates / size, size / estimates)

        return self._estimates(point, collision).mapped(factor, self._top / float(self.start))

    def factor_bound(self, beta: Real) -> float:
        """A multiplicative error that values >= start exceed with probability at most beta."""
        levels = self._levels_off(delta_target("beta", beta)) + 1
        step = 1 + (self.growth - 1) * (1 + Fraction(1, 1 << 32))  # edges are rounded up
        return float(float(step) ** (self.steps * levels)) * (1 + 1e-9)

    source = "ALP Section 6, Lemma 6.1, with the loss of k entries"


def _start(alpha: Fraction, epsilon: Fraction, p: Fraction) -> Fraction:
    """1/ln B = 4 alpha/(epsilon ln(1/(4 p - 4 p^2))), to 20 bits."""
    odds = 4 * (p - p * p)
    if not 0 < odds < 1:
        raise InvalidParameter(
            "s", Described("too few rows"), "larger for this alpha: collisions are too likely"
        )
    start = refine(lambda: -4 * ball(alpha) / (ball(epsilon) * ball(odds).log()))
    scale = 2**20
    return Fraction(ceil(start.upper * scale), scale)
