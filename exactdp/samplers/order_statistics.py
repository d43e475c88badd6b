"""The largest of very many i.i.d. integers, without drawing them: correct with ties.

BV's Lemma 2.9 states a conditional law of order statistics that holds only without ties; integers
have ties, and a histogram built on it is not as private as promised. Here the largest value is
drawn first, then how many variables share it, then the largest of the rest, i.i.d. below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, ctx

from exactdp.errors import InvalidParameter
from exactdp.parameters import integer
from exactdp.samplers.inverse_cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.source import Source

__all__ = ["OrderStatistics", "tie_law"]

#: Below this many variables the laws of the steps are kept as exact fractions.
_EXACT_BELOW = 64


@dataclass(frozen=True)
class OrderStatistics:
    """The largest values among variables drawn independently from one integer-valued CDF.

    cdf: the distribution function of one variable. variables: how many there are, >= 1; any size.

    sample(k, source) returns the k largest in descending order, exactly distributed; the cost is
    about linear in k and polylogarithmic in the number of variables.
    Source: BV, Section 6.1, with Lemma 2.9 corrected.

    >>> from exactdp.samplers import OrderStatistics, RationalCdf, exact_law
    >>> coin = RationalCdf(0, 1, (1, 2).__getitem__, 2)
    >>> print(exact_law(lambda source: OrderStatistics(coin, 2).sample(2, source)))
    Law of 3 outcomes
      (0, 0)  1/4  0.25
      (1, 0)  1/2  0.5
      (1, 1)  1/4  0.25
    """

    cdf: RationalCdf
    variables: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", integer("variables", self.variables, least=1))

    def sample(self, k: int, source: Source) -> tuple[int, ...]:
        """The k largest values, descending; 0 <= k <= variables."""
        need, rest = integer("k", k, least=0), self.variables
        if need > rest:
            raise InvalidParameter("k", k, f"an integer >= 0 and <= variables = {rest}")
        found: list[int] = []
        highest = self.cdf.high
        while need:
            value = source.inverse_cdf(self._largest(highest, rest))
            ties = source.inverse_cdf(
                tie_law(self._level(value), self._level(value - 1), rest, need)
            )
            found += [value] * ties
            need, rest, highest = need - ties, rest - ties, value - 1
        return tuple(found)

    def _largest(self, highest: int, rest: int) -> Cdf:
        """The law of the largest of rest variables that are all <= highest."""
        level, low = self._level, self.cdf.low
        top = level(highest)
        if rest < _EXACT_BELOW:
            return RationalCdf(low, highest, lambda z: level(z) ** rest, top**rest)

        def value(z: int) -> arb:
            below = level(z)
            return _power(top, below, rest).exp() if below else arb(0)

        return RealCdf(low, highest, value, _Quantile(level, low, highest, top, rest))

    def _level(self, z: int) -> int:
        return 0 if z < self.cdf.low else self.cdf.numerator(z)


def tie_law(top: int, below: int, rest: int, need: int) -> Cdf:
    """The law of min(need, K): K of rest variables, at least one, equal the largest value.

    top, below: the numerators of the CDF at that value and at the one before it.
    """
    if not below or need == 1:  # all of them do, or one is enough
        return RationalCdf(need, need, lambda _: 1, 1)
    if rest < _EXACT_BELOW:
        return _exact_ties(top, below, rest, need)
    return RealCdf(1, need, _Ties(top, below, rest).at_most)


def _power(top: int, below: int, rest: int) -> arb:
    """log((below/top)^rest), from the gap between the two, which may be tiny."""
    return rest * (arb(below - top) / top).log1p()


class _Ties:
    """P(K <= j | K >= 1) for K binomial with rest trials of probability 1 - below/top, as balls."""

    def __init__(self, top: int, below: int, rest: int) -> None:
        self._top, self._below, self._rest = top, below, rest
        self._known: dict[int, tuple[list[arb], arb]] = {}  # by precision: sums, last term

    def at_most(self, j: int) -> arb:
        log_none = _power(self._top, self._below, self._rest)
        odds = arb(self._top - self._below) / self._below
        sums, term = self._known.get(ctx.prec, ([arb(0)], log_none.exp()))
        while len(sums) <= j:
            i = len(sums)
            term = term * odds * (self._rest - i + 1) / i
            sums.append(sums[-1] + term)
        self._known[ctx.prec] = sums, term
        return sums[j] / -log_none.expm1()


def _exact_ties(top: int, below: int, rest: int, need: int) -> RationalCdf:
    """P(K <= j | K >= 1) for K binomial, as fractions; the last of need options takes the rest."""
    equal, total = top - below, top**rest - below**rest
    sums, term = [0], below**rest
    for j in range(1, need):
        term = term * equal * (rest - j + 1) // (below * j)
        sums.append(sums[-1] + term)
    sums.append(total)
    return RationalCdf(1, need, sums.__getitem__, total)


@dataclass(frozen=True)
class _Quantile:
    """In floats: about the least z with (F(z)/F(highest))^rest > u."""

    level: Callable[[int], int]
    low: int
    highest: int
    top: int
    rest: int

    def __call__(self, u: float) -> int:
        loss = -math.log(u)
        if self.rest > 10**9:  # 1 - u^(1/rest) is loss/rest
            gap = int(loss * 2**60) * self.top // (self.rest << 60)
        else:
            gap = int(-math.expm1(-loss / self.rest) * 2**60) * self.top >> 60
        below, above = self.low, self.highest
        while below < above:
            middle = (below + above) // 2
            if self.level(middle) > self.top - gap:
                above = middle
            else:
                below = middle + 1
        return below
