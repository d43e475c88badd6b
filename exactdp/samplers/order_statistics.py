"""The largest of very many i.i.d. integers, without drawing all of them, correct with ties.

Lemma 2.9 of BV (Balcer and Vadhan, "Differential Privacy on Finite Computers") states a law of
order statistics that holds only without ties. Integers have ties, and histograms based on the lemma
violate their privacy guarantee. Here the largest value is drawn first, then the number of variables
that share it, then the largest of the remaining variables, which are i.i.d. below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from statistics import NormalDist

from flint import arb, ctx

from exactdp import bisection
from exactdp.balls import precision
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.parameters import integer
from exactdp.samplers.cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.source import Source

#: Below this number of variables, the laws of the steps are exact fractions.
_EXACT_BELOW = 64

#: Largest mean for which the law of ties is searched.
_HUGE = 1e300


@frozen
class OrderStatistics:
    """The largest values among i.i.d. integer variables.

    cdf: the distribution function of one variable. variables: number of variables, >= 1, unlimited.
    sample(k, source) returns the k largest in descending order, with their exact law, in time about
    linear in k and polylogarithmic in the number of variables.
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
    variables: int = whole(least=1)

    def sample(self, k: int, source: Source) -> tuple[int, ...]:
        """The k largest values in descending order; 0 <= k <= variables."""
        need, rest = integer("k", k, least=0), self.variables
        if need > rest:
            raise InvalidParameter("k", k, f"an integer >= 0 and <= variables = {rest}")
        largest: list[int] = []
        highest = self.cdf.high
        while need:
            value = source.inverse_cdf(self._largest(highest, rest))
            ties = source.inverse_cdf(tie_law(self.cdf, value, rest, need))
            largest += [value] * ties
            need, rest, highest = need - ties, rest - ties, value - 1
        return tuple(largest)

    def _largest(self, highest: int, rest: int) -> Cdf:
        """The law of the largest of `rest` variables, given that all are <= highest."""
        cdf = self.cdf
        if rest < _EXACT_BELOW:
            top = cdf.numerator(highest) ** rest
            return RationalCdf(cdf.low, highest, lambda z: cdf.numerator(z) ** rest, top)
        least = cdf.least

        def value(z: int) -> arb:
            return (rest * cdf.log_ratio(z, highest)).exp() if z >= least else arb(0)

        return RealCdf(cdf.low, highest, value, self._quantile(highest, rest))

    def _quantile(self, highest: int, rest: int) -> Callable[[float], float]:
        """Approximately the least z with (F(z)/F(highest))^rest > u, in floats."""

        def find(u: float) -> int:
            with precision(64):
                wanted = arb(math.log(u)) / rest
                return bisection.least(
                    self.cdf.least, highest, lambda z: self.cdf.log_ratio(z, highest) > wanted
                )

        return find


def tie_law(cdf: RationalCdf, value: int, rest: int, need: int) -> Cdf:
    """The law of min(need, K), where K >= 1 of `rest` variables equal the largest value."""
    if value == cdf.least or need == 1:  # all of them are equal, or one is enough
        return RationalCdf(need, need, lambda _: 1, 1)
    if rest < _EXACT_BELOW:
        return _exact_ties(cdf.numerator(value), cdf.numerator(value - 1), rest, need)
    ties = _Ties(cdf, value, rest)
    return RealCdf(1, need, ties.at_most, ties.guess)


class _Ties:
    """P(K <= j | K >= 1) as balls: K binomial, rest trials of probability 1 - F(v-1)/F(v)."""

    def __init__(self, cdf: RationalCdf, value: int, rest: int) -> None:
        self._cdf, self._value, self._rest = cdf, value, rest
        self._known: dict[int, _Sums] = {}  # by precision

    def at_most(self, j: int) -> arb:
        if ctx.prec not in self._known:
            self._known[ctx.prec] = _Sums(self._rest, self._log())
        return self._known[ctx.prec].at_most(j)

    def guess(self, level: float) -> float:
        """Approximately the least j with P(K <= j) > level, in floats."""
        mean = self._mean
        return mean + math.sqrt(mean) * NormalDist().inv_cdf(level) - 0.5

    @cached_property
    def _mean(self) -> float:
        with precision(64):
            return min(float((self._rest * -self._log().expm1()).mid()), _HUGE)

    def _log(self) -> arb:
        return self._cdf.log_ratio(self._value - 1, self._value)


class _Sums:
    """P(K <= j | K >= 1) at the working precision, where a trial fails with probability e^log.

    Terms are summed over an interval outside of which K lies with probability at most 2 * 2^-prec
    (Chernoff), so a search takes time about the standard deviation.
    """

    def __init__(self, trials: int, log: arb) -> None:
        self._trials, self._odds, self._log = trials, (-log).expm1(), log
        self._rare = arb(0).union(arb(2) ** -ctx.prec)
        mean, rarity = -trials * log.expm1(), ctx.prec * arb.const_log2()
        below = (2 * mean * rarity).sqrt()
        above = (rarity + (rarity**2 + 8 * mean * rarity).sqrt()) / 2
        self._place = max(int((mean - below).lower().floor().fmpz()), 0)
        self._end = int((mean + above).upper().ceil().fmpz())
        self._some = -(trials * log).expm1()  # P(K >= 1)
        self._sums: list[arb] = []
        self._term = arb(0)

    def at_most(self, j: int) -> arb:
        if j < self._place:
            return self._rare
        if j >= self._end:
            return 1 - self._rare / self._some
        if not self._sums:
            self._sums, self._term = [self._rare if self._place else arb(0)], self._first()
        while len(self._sums) <= j - self._place:
            i = self._place + len(self._sums)
            self._term = self._term * self._odds * (self._trials - i + 1) / i
            self._sums.append(self._sums[-1] + self._term)
        return self._sums[j - self._place] / self._some

    def _first(self) -> arb:
        """P(K = place)."""
        i, none = self._place, self._trials * self._log
        if not i:
            return none.exp()
        ways = _log_falling(self._trials, i) - arb(i + 1).lgamma()
        return (ways + i * self._odds.log() + none).exp()


def _log_falling(n: int, i: int) -> arb:
    """log of n (n - 1) ... (n - i + 1), with an error of about 2^-prec."""
    bits = n.bit_length()
    if bits <= 2 * ctx.prec:
        with precision(ctx.prec + 2 * bits):
            return arb(n + 1).lgamma() - arb(n - i + 1).lgamma()
    # -2 x <= log(1 - x) <= 0 for 0 <= x <= 1/2; i is far below n
    return i * arb(n).log() + arb(0).union(-arb(i) * i / n)


def _exact_ties(top: int, below: int, rest: int, need: int) -> RationalCdf:
    """P(min(need, K) <= j | K >= 1) for binomial K, in fractions."""
    equal, total = top - below, top**rest - below**rest
    sums, term = [0], below**rest
    for j in range(1, need):
        term = term * equal * (rest - j + 1) // (below * j)
        sums.append(sums[-1] + term)
    sums.append(total)
    return RationalCdf(1, need, sums.__getitem__, total)
