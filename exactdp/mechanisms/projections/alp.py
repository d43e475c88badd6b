"""The ALP mechanism and its relatives over one array: Algorithms 2 to 5 and 10, Sections 6 and 10.

The privacy of all of them is one closed form (exactdp.mechanisms.projections.loss): what the
paper's e^epsilon has to spare is given back as narrower cells, so less is lost to noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar

from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.mechanisms.projections.cells import Cells, EqualCells, GrowingCells
from exactdp.mechanisms.projections.loss import e_epsilon_above, largest_ratio, least_width
from exactdp.mechanisms.projections.unary import L1_NEIGHBOURS, UnaryProjection
from exactdp.mechanisms.projections.vectors import Entries
from exactdp.parameters import Real, integer, positive

__all__ = ["ALP", "ALP1", "HistogramALP", "LogALP", "SignedALP"]

_RANGE = (Fraction(1, 10**6), Fraction(10**6))


@dataclass(frozen=True)
class _Additive(UnaryProjection):
    """alpha: > 0; bits are flipped with probability 1/(alpha + 2), and a cell costs 1 + alpha."""

    alpha: Real = 3

    def _check(self) -> None:
        object.__setattr__(self, "alpha", positive("alpha", self.alpha))
        for name in ("alpha", "epsilon"):
            if not _RANGE[0] <= Fraction(getattr(self, name)) <= _RANGE[1]:
                raise InvalidParameter(name, getattr(self, name), "from 1e-6 to 1e6")

    @property
    def noise(self) -> Fraction:
        return Fraction(self.alpha)

    @cached_property
    def _width(self) -> Fraction:
        return least_width(Fraction(self.epsilon), self.noise, self.k)

    @cached_property
    def cells(self) -> Cells:
        return EqualCells(ceil(Fraction(self.beta) / self._width), self._width)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(self.noise / self._width, self.noise, self.k)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Algorithm 4, with the exact loss of k entries"


@dataclass(frozen=True)
class ALP(_Additive):
    """A sparse vector of values from 0 to beta as noisy bits; epsilon-DP, epsilon being spent.

    d, k, s, beta, epsilon: see UnaryProjection. alpha: > 0, the price of a cell, about 3.
    Cells are as narrow as epsilon allows, so an estimate errs by about 5/epsilon in the mean.
    Source: ALP, Algorithms 4 and 5, with the exact loss.

    >>> from exactdp.mechanisms import ALP
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = ALP(d=2**64, k=100, s=1000, alpha=3, beta=50, epsilon=1)
    >>> sketch = mechanism.project({17: "3.5", 99: 40}, SystemSource())
    >>> 0 <= sketch[17] <= 50
    True
    """


@dataclass(frozen=True)
class SignedALP(_Additive):
    """The same for values from -beta to beta: m levels for either sign.

    An estimate reads them as one walk from -m to m (Section 10); ``sketch.difference(ids)`` reads
    the two parts by themselves (Section 2). Both parts are released together, under one epsilon.
    Source: ALP, Sections 2 and 10.
    """

    signed: ClassVar[bool] = True

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Section 10, negative values, with the exact loss of k entries"


@dataclass(frozen=True)
class ALP1(UnaryProjection):
    """The paper's 1-DP projection as it stands: cells of width alpha, so 1 is not all spent.

    epsilon: 1, the promise; the guarantee's e_epsilon says what is kept. Source: ALP, Algorithm 2.
    """

    epsilon: Real = 1
    alpha: Real = 3

    def _check(self) -> None:
        object.__setattr__(self, "alpha", positive("alpha", self.alpha))
        if self.epsilon != 1:
            raise InvalidParameter("epsilon", self.epsilon, "1; ALP takes any")

    @property
    def noise(self) -> Fraction:
        return Fraction(self.alpha)

    @cached_property
    def cells(self) -> Cells:
        return EqualCells(ceil(Fraction(self.beta) / self.noise), self.noise)

    @cached_property
    def e_epsilon(self) -> Fraction:
        return e_epsilon_above(Fraction(1), self.noise, self.k)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Algorithm 2, Lemma 4.1"


@dataclass(frozen=True)
class HistogramALP(UnaryProjection):
    """Counts only: neighbours differ by 1 in one entry, so one bit carries all of epsilon.

    beta: an integer. width: counts per cell, >= 1 (1 is Algorithm 10; more are better for small
    epsilon). A bit is flipped with probability 1/(width (r - 1) + 2), r the largest multiple of
    2^-40 that is at most e^epsilon. Source: ALP, Algorithm 10, Lemma 7.1.
    """

    width: int = 1

    def _check(self) -> None:
        object.__setattr__(self, "beta", integer("beta", self.beta, least=1))
        object.__setattr__(self, "width", integer("width", self.width, least=1))
        if not _RANGE[0] <= Fraction(self.epsilon) <= 64:
            raise InvalidParameter("epsilon", self.epsilon, "from 1e-6 to 64")

    @property
    def noise(self) -> Fraction:
        return self.width * (self.e_epsilon - 1)

    @cached_property
    def cells(self) -> Cells:
        return EqualCells(-(-int(self.beta) // self.width), Fraction(self.width))

    def checked(self, vector: Mapping[int, Real]) -> Entries:
        entries = super().checked(vector)
        if entries.denominator != 1:
            raise InvalidParameter("vector", "values that are not whole", "counts")
        return entries

    @cached_property
    def e_epsilon(self) -> Fraction:
        return largest_ratio(Fraction(self.epsilon))

    def _promise(self) -> tuple[str, str]:
        return "histograms that differ by 1 in one entry", "ALP Algorithm 10, Lemma 7.1"


@dataclass(frozen=True)
class LogALP(_Additive):
    """Levels on a logarithmic scale: few of them, and errors by a factor instead of a term.

    start: > 0; smaller values count as that, and it is what an entry of 0 is estimated as. Edges
    grow by a factor of 1 + width/start, the paper's B being e^(1/start): log_B(x ln B) is as steep
    as x at x = start, and less beyond. ``of`` takes the start of Lemma 6.2. Between edges values
    are rounded linearly, so that the law is rational. Source: ALP, Section 6.
    """

    start: Real = 10

    def _check(self) -> None:
        object.__setattr__(self, "start", positive("start", self.start))
        super()._check()
        if Fraction(self.beta) > 10**300:
            raise InvalidParameter("beta", self.beta, "<= 1e300")
        if Fraction(self.start) >= Fraction(self.beta):
            raise InvalidParameter("start", self.start, f"< beta = {self.beta}")
        if self.growth < 1 + Fraction(1, 100):
            raise InvalidParameter("start", self.start, "at most 100 cells wide")

    @classmethod
    def of(cls, *, d: int, k: int, s: int, beta: Real, epsilon: Real, alpha: Real = 20) -> LogALP:
        """With the B of Lemma 6.2, which makes the expected factor of an error O(1)."""
        noise, loss = positive("alpha", alpha), positive("epsilon", epsilon)
        p = (1 + noise * Fraction(k, s)) / (noise + 2)
        return cls(d, k, s, beta, epsilon, alpha, _start(noise, loss, p))

    @property
    def growth(self) -> Fraction:
        """The factor from one edge to the next."""
        return 1 + self._width / Fraction(self.start)

    @cached_property
    def cells(self) -> Cells:
        start, top = Fraction(self.start), Fraction(self.beta)
        return GrowingCells.geometric(start, self._width, top)

    def _promise(self) -> tuple[str, str]:
        return L1_NEIGHBOURS, "ALP Section 6, Lemma 6.1, with the loss of k entries"


def _start(alpha: Fraction, epsilon: Fraction, p: Fraction) -> Fraction:
    """1/ln B = 4 alpha/(epsilon ln(1/(4 p - 4 p^2))), to 20 bits."""
    odds = 4 * (p - p * p)
    if not 0 < odds < 1:
        raise InvalidParameter("s", "a collision probability too large", "large enough for alpha")
    found = refine(lambda: -4 * ball(alpha) / (ball(epsilon) * ball(odds).log()))
    scale = 2**20
    return Fraction(ceil(found.upper * scale), scale)
