"""The exact delta of the correlated sparse histogram: a certified maximum over all neighbours.

Neighbours share j non-zero counters, of which a change by one, and r counters are non-zero on side
A only. With q_r, G, M, U, b, V, t, D^2 as in :mod:`shared_noise` and :mod:`pair_integral`,

    delta(j, a, r) = 1 - q_r + E[(G(M) - e^(b - U))_+],   D^2 = (a - a^2/(j + kappa)) / sigma^2.

The other side never leaks more when epsilon >= 0. delta rises with r, and with j at fixed a and r
(a counter can be dropped afterwards), so j = k - r; at fixed (j, r) it falls beyond
a = (j + kappa)/2, as D^2 falls and t rises. The ends are closed: 1 - q_n at r = n = min(k, m), and
the Gaussian H(epsilon, D) at r = 0. What lies between is excluded by cheap bounds, or integrated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

from flint import arb, ctx

from exactdp.accounting.gaussian import hockey_stick
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile
from exactdp.accounting.sparse_histograms.csh_exact.terms import (
    Family,
    Line,
    Terms,
    grid_for,
    kappa_of,
    largest_distance,
    one_passes,
)
from exactdp.balls import FLOOR_BITS

__all__ = ["Worst", "evaluate", "noise_only", "pair", "threshold_only"]

#: Blocks and integrals of one search; an integral costs more at a higher precision.
_MOST_BLOCKS = 4096
_MOST_INTEGRALS_BITS = 1 << 22


@dataclass(frozen=True)
class Worst:
    """Neighbours: j shared counters of which a change, and r on one side only.

    side "A" is the side with the extra counters.
    """

    j: int
    a: int
    r: int
    side: str


def evaluate(family: Family) -> tuple[arb, Worst]:
    """A ball around delta at the working precision, and the neighbours with the largest lower end.

    Its relative width is about 2^-(precision/3), more when the search budget is spent or the
    precision does not suffice; it always contains delta.
    Raises Undecided beyond MOST_BITS, and for a kappa too small for the grid of the shared noise.
    """
    return _Search(Terms(family)).result()


def pair(family: Family, j: int, a: int, r: int) -> arb:
    """A ball around delta(j, a, r) of one pair of neighbours, from side A."""
    return Terms(family).pair(j, a, r)


def noise_only(
    k: int, sigma: arb, epsilon: arb, correlation: Fraction | None, contributions: int
) -> arb:
    """The limit of delta for tau to infinity: H(epsilon, D) at the largest D. It falls with sigma.

    At a fixed tau/sigma it is also a lower bound on delta.
    """
    squared, _ = largest_distance(k, min(k, contributions), correlation, k)
    return hockey_stick(epsilon, squared.sqrt() / sigma)


def threshold_only(k: int, ratio: arb, correlation: Fraction | None, contributions: int) -> arb:
    """1 - q_n at tau/sigma = ratio, n = min(k, contributions): a lower bound on delta."""
    n = min(k, contributions)
    kappa = kappa_of(correlation, k)
    return grid_for(kappa, ratio, k, n, one_passes(kappa, ratio)).exceeded(n)


class _Search:
    """Best-first over blocks of r, then halves of the range of a; nothing is assumed unimodal.

    Every block has an upper bound. delta is between the best lower end seen and the largest bound
    among the blocks left or given up, whenever the search is stopped.
    """

    def __init__(self, model: Terms) -> None:
        self.model = model
        self.slack = 1 + arb(2) ** -(ctx.prec // 3)
        self.floor = arb(2) ** -FLOOR_BITS
        self.heap: list[tuple[arb, int, int, int, Line | None]] = []
        self.ticket = count()
        self.integrals = max(8, _MOST_INTEGRALS_BITS // ctx.prec**2)
        k, n = model.k, model.n
        by_threshold, by_noise = model.exceeded(n), model.noise_end
        self.lower = by_threshold.lower().max(by_noise.lower()).max(arb(0))
        self.upper = by_threshold.upper().max(by_noise.upper())
        self.worst = Worst(k - n, 0, n, "A")
        if by_noise.mid() > by_threshold.mid():
            self.worst = Worst(k, model.noise_a, 0, "A")

    def result(self) -> tuple[arb, Worst]:
        if self.model.n > 1:
            self._push(1, self.model.n - 1)
        # ends that are too wide call for more precision, not for a search
        budget = 0 if self._matters(self.upper) else _MOST_BLOCKS
        for step in count():
            if not self.heap:
                break
            negative, _, first, last, line = heappop(self.heap)
            bound = -negative
            if step == budget or not self._matters(bound):
                self._give_up(bound)  # the largest that is left
                break
            if first < last:
                middle = (first + last) // 2
                self._push(first, middle)
                self._push(middle + 1, last)
            else:
                self._settle(first, line, bound)
        upper = _smaller(arb(1), self.upper.max(self.lower))
        return self.lower.union(upper), self.worst

    def _matters(self, bound: arb) -> bool:
        return not (bound <= self.lower * self.slack or bound < self.floor)

    def _give_up(self, bound: arb) -> None:
        self.upper = self.upper.max(bound)

    def _push(self, first: int, last: int) -> None:
        """Queue all pairs with first <= r <= last, bounded at j = k - first, r = last."""
        model = self.model
        j, most = model.k - first, min(model.k, model.n) - first
        squared, _ = model.largest(j, most)
        bound, line = _smaller(arb(1), model.sum_bound(last, squared).upper()), None
        if self._matters(bound):
            better, line = model.best_line(Profile(model.noise, j, last), most)
            bound = _smaller(bound, better)
        heappush(self.heap, (-bound, next(self.ticket), first, last, line))

    def _settle(self, r: int, line: Line | None, ceiling: arb) -> None:
        """All a at one r: blocks of a are excluded, integrated as one, or halved."""
        model = self.model
        j = model.k - r
        profile = Profile(model.noise, j, r)
        blocks = [(1, min(model.n - r, model.half(j) + 1))]
        while blocks:
            first, last = blocks.pop()
            bound = self._block(profile, line, first, last, ceiling)
            if first < last and self._matters(bound) and self.integrals > 0:
                middle = (first + last) // 2
                blocks += [(first, middle), (middle + 1, last)]
            else:
                self._give_up(bound)

    def _block(self, profile: Profile, line: Line | None, first: int, last: int, bound: arb) -> arb:
        """A bound on all first <= a <= last: terms rise with D^2 and fall with t."""
        model, j = self.model, profile.j
        squared, covariance = model.squared(j, last), model.covariance(j, first)
        if last > first:  # D^2 rises up to the vertex, which is beyond last - 1
            squared = squared.max(model.squared(j, last - 1))
        bound = _smaller(bound, model.sum_bound(profile.r, squared).upper())
        if line is not None and self._matters(bound):
            found = model.tangent_bound(profile, line, squared, covariance)
            bound = _smaller(bound, found.upper())
        if not self._matters(bound) or self.integrals <= 0:
            return bound
        self.integrals -= 1
        value = model.between(profile, squared, covariance, first == last == j)
        if first == last and value.lower() > self.lower:
            self.lower, self.worst = value.lower(), Worst(j, first, profile.r, "A")
        return _smaller(bound, value.upper())


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; one that is not finite says nothing."""
    return other if other < bound else bound
