"""The curve of laws with few outcomes: all sums of their losses, each with its mass.

n runs of a law with m outcomes have C(n + m - 1, m - 1) multisets of outcomes. A multiset with k_i
times the outcome i has the mass n! times the product of p_i^k_i/k_i!.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate
from math import comb

from flint import arb, ctx

from exactdp.accounting.pld.grid.lattice import Masses, Outcome
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, precision

#: More sums than these are left to a grid.
_MOST = 1 << 10

_BITS = 128

_NOTHING = Outcome.at(Fraction(0), arb(1), arb(1))


@dataclass(frozen=True)
class Atoms:
    """The sums of all losses, from the largest one down.

    falling: the middles of the losses, times -1, which rise. radius: of all losses. above: for
    every i, the masses of the first i sums and of infinite losses.
    """

    outcomes: Sequence[Outcome]
    falling: Sequence[arb]
    radius: arb
    above: Sequence[Masses]

    def delta(self, epsilon: Fraction) -> arb:
        """delta at epsilon >= 0."""
        loss = ball(epsilon)
        x = loss.exp()
        first = bisect_left(self.falling, -(loss + self.radius).upper())
        last = bisect_right(self.falling, -(loss - self.radius).lower())
        p, q = self.above[first]
        delta = p - x * q
        for outcome in self.outcomes[first:last]:
            if outcome.exact is None:
                delta += (outcome.p - x * outcome.q).max(arb(0))
            elif outcome.exact > epsilon:
                delta += outcome.p - x * outcome.q
        return delta

    def beyond(self, epsilon: arb) -> Masses:
        """The masses of the sums that are above epsilon, or of about these."""
        return self.above[bisect_left(self.falling, -epsilon.mid())]


@lru_cache(maxsize=256)
def are_few(order: Order) -> bool:
    """Whether all sums of the losses can be listed."""
    count = 1
    for law, times in order:
        with precision(_BITS):
            listed = law.few_outcomes(_MOST)
        if listed is None:
            return False
        size = len(listed.outcomes)
        if size > 1 and times > _MOST:
            return False
        count *= comb(times + size - 1, times) if size > 1 else size
    return count <= _MOST


def atoms(order: Order) -> Atoms:
    """The sums of all losses, at the working precision. Only where they are few."""
    return _atoms(order, ctx.prec)


@lru_cache(maxsize=16)
def _atoms(order: Order, _bits: int) -> Atoms:
    outcomes, finite = [_NOTHING], arb(1)
    for law, times in order:
        listed = law.few_outcomes(_MOST)
        assert listed is not None
        runs = _runs(listed.outcomes, times)
        outcomes = [_joined(one, other) for one in outcomes for other in runs]
        finite *= (1 - listed.infinite) ** times
    outcomes.sort(key=lambda outcome: outcome.loss.mid(), reverse=True)
    masses = ((outcome.p, outcome.q) for outcome in outcomes)
    start = 1 - finite, arb(0)
    above = list(accumulate(masses, lambda a, b: (a[0] + b[0], a[1] + b[1]), initial=start))
    radius = reduce(arb.max, (outcome.loss.rad() for outcome in outcomes), arb(0))
    return Atoms(outcomes, [-outcome.loss.mid() for outcome in outcomes], radius, above)


def _runs(outcomes: Sequence[Outcome], times: int) -> list[Outcome]:
    """The sums of the losses of this number of runs."""
    if not outcomes:
        return []
    whole = arb.fac_ui(times)
    parts = [(times, Outcome.at(Fraction(0), whole, whole))]
    *others, last = outcomes
    for outcome in others:
        shares = [_share(outcome, k) for k in range(times + 1)]
        parts = [
            (left - k, _joined(part, shares[k])) for left, part in parts for k in range(left + 1)
        ]
    rest = {left: _share(last, left) for left in {left for left, _ in parts}}
    return [_joined(part, rest[left]) for left, part in parts]


def _share(outcome: Outcome, times: int) -> Outcome:
    """What an outcome adds to the masses of the multisets that hold it this number of times."""
    ways = arb.fac_ui(times)
    exact = None if outcome.exact is None else times * outcome.exact
    return Outcome(times * outcome.loss, outcome.p**times / ways, outcome.q**times / ways, exact)


def _joined(one: Outcome, other: Outcome) -> Outcome:
    exact = None
    if one.exact is not None and other.exact is not None:
        exact = one.exact + other.exact
    return Outcome(one.loss + other.loss, one.p * other.p, one.q * other.q, exact)
