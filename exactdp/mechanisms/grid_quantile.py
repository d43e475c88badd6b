"""Quantiles on a public grid, by the exponential mechanism with an exact law.

A user has at most m values, each at a point of the grid. A point x has the ranks from L to L + E,
where L values lie below x and E at x; its utility is minus the distance of these ranks from q n, n
being the number of values. A point of utility 0 exists always.

A user who joins with w <= m values raises L - q n by a number in [-q w, (1 - q) w], and
q n - L - E by one in [-(1 - q) w, q w]. So the sensitivity is m max(q, 1 - q), and the losses lie
in an interval of length epsilon if a point has a probability proportional to
e^(epsilon u/(2 m max(q, 1 - q))).

Bounds of the quantile, from below or above, are quantiles of other data: `below` values are added
at the first point, or `above` at the last one, and the rank stays, or rises, by as much. If the
rank of the released point is off by less than this number, then the point is on the right side of
every q-quantile of the values.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate
from math import ceil, exp, floor, inf, nextafter

from flint import arb, ctx

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.pld import Pld, exponential
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.counts import mapping_of
from exactdp.parameters import Real, delta_target, integer, non_negative, positive
from exactdp.samplers import RealCdf, Source
from exactdp.samplers.source import require_secure


def _level(name: str, value: Real) -> Fraction:
    level = non_negative(name, value)
    if level > 1:
        raise InvalidParameter(name, value, ">= 0 and <= 1")
    return level


@frozen
class GridQuantile(Simulated[Mapping[int, int]]):
    """A quantile of values on the points 0, 1, ..., points - 1 of a grid.

    quantile: q, from 0 to 1. points: number of points, >= 1. epsilon: > 0, the length of the
    interval of losses. most: m, the largest number of values of one user, >= 1. below, above: >= 0,
    for a bound of the quantile from below or from above: see `margin`.
    Data: point -> number of values there. Without data, all points are equally likely.
    Source: McSherry, Talwar 2007; Smith 2011; exactdp.mechanisms.grid_quantile.

    >>> from exactdp.mechanisms import GridQuantile
    >>> from exactdp.samplers import SystemSource
    >>> median = GridQuantile(quantile="1/2", points=100, epsilon=1)
    >>> abs(median.release({20: 500, 30: 499}, SystemSource()) - 20) <= 10
    True
    >>> float(median.rank_error("0.05"))
    7.539559
    """

    quantile: Number = number(_level)
    points: int = whole(least=1)
    epsilon: Number = number(positive)
    most: int = whole(least=1, default=1)
    below: int = whole(least=0, default=0)
    above: int = whole(least=0, default=0)

    def release(self, values: Mapping[int, int], source: Source) -> int:
        """One point of the grid. source: randomness fit for a release, such as SystemSource.

        Raises InvalidParameter.
        """
        require_secure(source)
        return self.draw(values, source)

    def draw(self, values: Mapping[int, int], source: Source) -> int:
        """As :meth:`release`, with randomness from any source, for simulations."""
        pieces = self._pieces(values)
        piece = pieces.listed[source.inverse_cdf(pieces.cdf)]
        return piece.first + source.below(piece.size)

    def law(self, values: Mapping[int, int]) -> Law[int]:
        """The law of the point, with the lower ends of :meth:`probabilities`."""
        least = {point: p.lower for point, p in self.probabilities(values).items()}
        return Law(least, 1 - sum(least.values(), Fraction(0)))

    def probabilities(self, values: Mapping[int, int]) -> dict[int, Enclosure]:
        """The probability of every point, as an enclosure."""
        pieces = self._pieces(values)
        return {
            point: chance
            for piece in pieces.listed
            for chance in [refine(partial(pieces.chance_of_a_point, piece))]
            for point in range(piece.first, piece.first + piece.size)
        }

    def rank_error(self, beta: Real) -> Fraction:
        """A number t such that the ranks of the point are farther than t from q n with probability
        at most beta, 0 < beta < 1: e^(-t rate) (points - 1) (1 - beta) <= beta."""
        chance = delta_target("beta", beta)
        odds = (self.points - 1) * (1 - chance) / chance
        if odds <= 1:
            return Fraction(0)
        error = refine(lambda: ball(odds).log() / ball(self._rate)).upper
        return Fraction(ceil(error * 10**6), 10**6)

    def margin(self, beta: Real) -> int:
        """The least `below` or `above` for a bound that holds with probability >= 1 - beta."""
        return floor(self.rank_error(beta)) + 1

    def error(self, beta: Real = "0.05") -> float:
        """The rank error as a float, rounded up."""
        bound = self.rank_error(beta)
        return nextafter(float(bound), inf) if bound else 0.0

    def loss(self) -> Pld:
        """The privacy loss: bounded range, over all data."""
        return exponential(epsilon=self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, 0)-differential privacy. For compositions, `loss` is more precise."""
        neighbours = add_remove(f"with at most {self.most} values")
        return Guarantee(self.epsilon, Enclosure.exact(0), neighbours, self.loss().source)

    @property
    def _rate(self) -> Fraction:
        """The loss of probability per unit of rank."""
        return self.epsilon / (2 * self.most * max(self.quantile, 1 - self.quantile))

    def _pieces(self, values: Mapping[int, int]) -> _Pieces:
        """The grid in runs of points with equal ranks."""
        number_at = {
            integer("values", point, least=0): integer(f"values[{point!r}]", n, least=0)
            for point, n in mapping_of("values", values).items()
        }
        if number_at and max(number_at) >= self.points:
            raise InvalidParameter("values", max(number_at), f"points below {self.points}")
        unit = self.quantile.denominator
        rank = self.quantile.numerator * sum(number_at.values()) + unit * self.above
        for end, more in ((0, self.below), (self.points - 1, self.above)):
            number_at[end] = number_at.get(end, 0) + more
        listed, place, low = [], 0, 0

        def add(first: int, size: int, high: int) -> None:
            if size:
                distance = max(unit * low - rank, rank - unit * high, 0)
                listed.append(_Piece(first, size, distance))

        for point in sorted(number_at):
            add(place, point - place, low)
            add(point, 1, low + number_at[point])
            place, low = point + 1, low + number_at[point]
        add(place, self.points - place, low)
        return _Pieces(tuple(listed), self._rate / unit)


@dataclass(frozen=True)
class _Piece:
    """Points first, first + 1, ..., of which each has ranks at this distance from q n, times the
    denominator of q."""

    first: int
    size: int
    distance: int


@dataclass(frozen=True)
class _Pieces:
    """Runs of points, each drawn with a probability proportional to size e^(-rate distance)."""

    listed: tuple[_Piece, ...]
    rate: Fraction

    @cached_property
    def cdf(self) -> RealCdf:
        """The distribution function of the number of a run."""
        rate, least = float(self.rate), min(piece.distance for piece in self.listed)
        rough = [p.size * exp(-min(rate * (p.distance - least), 700)) for p in self.listed]
        total, last = sum(rough), len(self.listed) - 1
        sums = [each / total for each in accumulate(rough)]
        return RealCdf(0, last, self._below, lambda level: min(bisect_right(sums, level), last))

    def chance_of_a_point(self, piece: _Piece) -> arb:
        """The probability of one point of a run, as a ball."""
        weight = (-ball(self.rate * piece.distance)).exp()
        return weight / self._sums[-1]

    def _below(self, z: int) -> arb:
        return self._sums[z] / self._sums[-1]

    @property
    def _sums(self) -> list[arb]:
        """The sums of the weights up to each run, at the working precision."""
        if ctx.prec not in self._by_precision:
            rate = -ball(self.rate)
            weights = (piece.size * (rate * piece.distance).exp() for piece in self.listed)
            self._by_precision[ctx.prec] = [*accumulate(weights)]
        return self._by_precision[ctx.prec]

    @cached_property
    def _by_precision(self) -> dict[int, list[arb]]:
        return {}
