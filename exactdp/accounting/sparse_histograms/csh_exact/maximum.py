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

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

from flint import arb, ctx

from exactdp.accounting.gaussian import hockey_stick
from exactdp.accounting.sparse_histograms.csh_exact.cells import Bound, Cells
from exactdp.accounting.sparse_histograms.csh_exact.marginals import marginals
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile
from exactdp.accounting.sparse_histograms.csh_exact.terms import (
    Family,
    Terms,
    grid_for,
    kappa_of,
    largest_distance,
    one_passes,
)
from exactdp.balls import FLOOR_BITS, Ends

__all__ = ["Worst", "evaluate", "noise_only", "pair", "threshold_only"]

#: Cells of one search at 128 bits (fewer at more), of a box at first and at most, and what an
#: integral counts for.
_MOST_CELLS = 1 << 21
_BITS = 128
_FIRST_CELLS = 32
_MARGINAL_CELLS = 64
_MOST_PER_BOX, _MOST_PER_PAIR = 1 << 9, 1 << 10
_CELLS_PER_INTEGRAL = 1 << 12
#: A pair is tried early if it seems better by this factor.
_PROMISING = arb(1.0001)


@dataclass(frozen=True)
class Worst:
    """Neighbours: j shared counters of which a change, and r on one side only.

    side "A" is the side with the extra counters.
    """

    j: int
    a: int
    r: int
    side: str


def evaluate(
    family: Family, beyond: arb | None = None, first: Worst | None = None
) -> tuple[Ends, Worst]:
    """Ends around delta at the working precision, and the neighbours with the largest lower end.

    beyond: the search ends, with ends far apart, as soon as delta is seen to exceed this.
    first: neighbours that are probably the worst.
    Their relative distance is about 2^-(precision/4), more when the search budget is spent or the
    precision does not suffice; delta is always between them.
    Raises Undecided beyond MOST_BITS, and for a kappa too small for the grid of the shared noise.
    """
    return _Search(Terms(family), beyond).result(first)


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


@dataclass(frozen=True)
class _Box:
    """All pairs with first_r <= r <= last_r, first_a <= a <= last_a, j = k - r.

    They are bounded by a corner: j = k - first_r, r = last_r, the largest D^2 and the smallest t.
    """

    first_r: int
    last_r: int
    first_a: int
    last_a: int
    seen: Bound | None = None
    count: int = 0  # cells spent on the corner, or on that of the box it is a part of
    relief: arb | None = None  # how far below the corner all pairs are, at least

    @property
    def single(self) -> bool:
        return self.first_r == self.last_r and self.first_a == self.last_a

    def halves(self, k: int) -> tuple[_Box, _Box]:
        """Halved where it is longer, relative to what delta depends on; r, which matters in both
        D^2 and G, counts twice.
        """
        fresh = replace(self, seen=None, relief=None)
        span_r = Fraction(2 * (self.last_r - self.first_r), min(self.last_r, k - self.first_r))
        if span_r >= Fraction(self.last_a - self.first_a, self.last_a):
            middle = (self.first_r + self.last_r) // 2
            return (
                replace(fresh, last_r=middle),
                replace(fresh, first_r=middle + 1),
            )
        middle = (self.first_a + self.last_a) // 2
        return replace(fresh, last_a=middle), replace(fresh, first_a=middle + 1)


class _Search:
    """Best-first over boxes of (r, a); nothing is assumed unimodal.

    Every box has an upper bound. delta is between the best lower end seen and the largest bound
    among the boxes left or given up, whenever the search is stopped.
    """

    def __init__(self, model: Terms, beyond: arb | None) -> None:
        self.model, self.beyond = model, beyond
        self.slack = 1 + arb(2) ** -(ctx.prec // 4)  # pairs are known to a third
        self.floor = arb(2) ** -FLOOR_BITS
        self.heap: list[tuple[arb, int, _Box]] = []
        self.ticket = count()
        self.budget = _MOST_CELLS * _BITS**2 // ctx.prec**2
        self.known: dict[tuple[int, int, int], Cells] = {}
        k, n = model.k, model.n
        by_threshold, by_noise = model.exceeded(n), model.noise_end
        self.lower = by_threshold.lower().max(by_noise.lower()).max(arb(0))
        self.upper = by_threshold.upper().max(by_noise.upper())
        self.worst = Worst(k - n, 0, n, "A")
        if by_noise.mid() > by_threshold.mid():
            self.worst = Worst(k, model.noise_a, 0, "A")

    def result(self, first: Worst | None) -> tuple[Ends, Worst]:
        n = self.model.n
        # ends that are too wide call for more precision, not for a search
        if n > 1 and not self._matters(self.upper):
            if first is not None and 0 < first.r < n:
                self._settle(_Box(first.r, first.r, first.a, first.a), arb(0))
            self._push(_Box(1, n - 1, 1, n), arb(1))
        elif n > 1:
            self.upper = arb(1)
        while self.heap:
            negative, _, box = heappop(self.heap)
            if self.budget <= 0 or self._decided() or not self._matters(-negative):
                self._give_up(-negative)  # the largest that is left
                break
            self._refine(box, -negative)
        upper = _smaller(arb(1), self.upper.max(self.lower))
        return Ends(self.lower, upper), self.worst

    def _decided(self) -> bool:
        return self.beyond is not None and self.lower > self.beyond

    def _matters(self, bound: arb) -> bool:
        return not (bound <= self.lower * self.slack or bound < self.floor)

    def _give_up(self, bound: arb) -> None:
        self.upper = self.upper.max(bound)

    def _push(self, box: _Box, bound: arb) -> None:
        """Queue the part of a box that holds pairs, none of which exceeds the bound."""
        model, j = self.model, self.model.k - box.first_r
        last = min(box.last_a, model.n - box.first_r, model.half(j) + 1)
        if last < box.first_a:
            return
        box = replace(box, last_a=last)
        if box.seen is None:
            squared, _ = self._corner(box)
            bound = _smaller(bound, model.sum_bound(box.last_r, squared).upper())
        heappush(self.heap, (-bound, next(self.ticket), box))

    def _corner(self, box: _Box) -> tuple[arb, arb]:
        """The largest D^2 and the smallest t."""
        j, last = self.model.k - box.first_r, box.last_a
        squared = self.model.squared(j, last)
        if last > box.first_a:  # D^2 rises up to the vertex, which is beyond last - 1
            squared = squared.max(self.model.squared(j, last - 1))
        return squared, self.model.covariance(j, box.first_a)

    def _refine(self, box: _Box, bound: arb) -> None:
        wanted = self._wanted(box, bound)
        if wanted <= (_MOST_PER_PAIR if box.single else _MOST_PER_BOX):
            seen = self._bound(box, wanted)
            upper = seen.upper if box.relief is None else seen.upper - box.relief
            self._push(replace(box, seen=seen, count=wanted), _smaller(bound, upper.upper()))
        elif box.single:
            self._settle(box, bound)
        elif box.relief is None and box.seen is not None:
            relief = self._relief(box)
            self._push(
                replace(box, relief=relief), _smaller(bound, (box.seen.upper - relief).upper())
            )
        else:
            self._probe(box)
            for half in box.halves(self.model.k):
                self._push(half, bound)

    def _wanted(self, box: _Box, bound: arb) -> int:
        """About how many cells would rule a box out, or a pair; too many if none would.

        The bound's gap falls about as 1/cells^3. Before a box is halved the gap should be less than
        half of what is too much: the halves would have it too.
        """
        if box.seen is None:
            return max(_FIRST_CELLS, min(box.count, _MOST_PER_BOX))
        room, gap = self.lower - box.seen.guess, box.seen.upper - box.seen.guess
        if box.relief is not None:
            room += box.relief
        if room > 0 and gap > 0:
            times = float((gap / room).root(3).mid())
            return box.count * math.ceil(min(1.2 * times + 1, _MOST_PER_PAIR))
        if box.relief is not None and 2 * gap > bound - self.lower:
            return 2 * box.count
        return _MOST_PER_PAIR + 1

    def _bound(self, box: _Box, cells: int) -> Bound:
        """Of the corner."""
        j = self.model.k - box.first_r
        squared, covariance = self._corner(box)
        all_change = box.single and box.last_a == j
        found = self._cells(j, box.last_r, cells)
        return found.bound(self.model.epsilon, squared, covariance, all_change)

    def _relief(self, box: _Box) -> arb:
        """How far below the corner all pairs of a box are, at least.

        G for the corner's j may stand for that of a smaller j, at that j's D^2 and t: the latter is
        a mean of the former, and E max(L, ..) is convex in L. With T = j + kappa, D^2 is concave in
        a and in j, where it rises by a^2/T^2 at least, and t falls by a/T^2 (lambda = 1).
        """
        model, top, bottom = self.model, self.model.k - box.first_r, self.model.k - box.last_r
        least, most = box.first_a, box.last_a
        squared = self._corner(box)[0].union(model.squared(bottom, least))
        squared = squared.union(model.squared(bottom, most))
        covariance = model.covariance(top, least).union(model.covariance(bottom, most))
        cells = self._cells(top, box.last_r, _MARGINAL_CELLS)
        fewer = self._cells(top, max(box.last_r - 1, 1), _MARGINAL_CELLS)
        slope = marginals(cells, fewer, model.epsilon, squared, covariance, box.first_r)
        total, scale, rows = top + model.kappa, model.scale, box.last_r - box.first_r
        gain, cost = slope.distance * scale**2, slope.covariance * scale / total
        start = gain * self._corner(box)[0] / scale**2 - cost * least
        by_a = start, cost - gain, gain / total
        by_j = start, by_a[1] + rows * cost / total, by_a[2] * (1 + rows / total)
        relief = (_lowest(*by_a, least, most) + rows * slope.extra).min(_lowest(*by_j, least, most))
        return relief.lower().max(arb(0)) if relief.is_finite() else arb(0)

    def _cells(self, j: int, r: int, number: int) -> Cells:
        self.budget -= number
        key = (j, r, number)
        if key not in self.known:
            self.known[key] = Cells(Profile(self.model.noise, j, r), number)
        return self.known[key]

    def _probe(self, box: _Box) -> None:
        """Integrate the pair in the middle of a box if it seems to exceed the best one so far."""
        r = (box.first_r + box.last_r) // 2
        last = min(self.model.n - r, self.model.half(self.model.k - r) + 1)
        a = min((box.first_a + box.last_a) // 2, last)
        if a < 1:
            return
        middle = _Box(r, r, a, a)
        if self._bound(middle, _FIRST_CELLS).guess > self.lower * _PROMISING:
            self._settle(middle, arb(0))

    def _settle(self, box: _Box, bound: arb) -> None:
        """One pair, integrated."""
        model, j = self.model, self.model.k - box.last_r
        squared, covariance = self._corner(box)
        self.budget -= _CELLS_PER_INTEGRAL
        value = model.between(
            Profile(model.noise, j, box.last_r), squared, covariance, box.last_a == j
        )
        if value.lower() > self.lower:
            self.lower, self.worst = value.lower(), Worst(j, box.last_a, box.last_r, "A")
            self.upper = self.upper.max(value.upper())
        self._give_up(_smaller(bound, value.upper()))


def _lowest(constant: arb, linear: arb, square: arb, first: int, last: int) -> arb:
    """A lower bound on a convex quadratic between two integers: its tangent's smaller end."""
    at = (-linear / (2 * square)).mid() if square > 0 else arb(first)
    at = at.max(arb(first)).min(arb(last))
    tilt = linear + 2 * square * at
    value = constant + (linear + square * at) * at
    return value + (tilt * (first - at)).min(tilt * (last - at))


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; one that is not finite says nothing."""
    return other if other < bound else bound
