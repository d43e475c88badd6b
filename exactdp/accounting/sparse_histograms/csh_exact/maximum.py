"""The exact delta of the correlated sparse histogram: a certified maximum over all neighbours.

Neighbours share j non-zero counters, of which a change by one, and r counters are non-zero on side
A only. With q_r, G, M, U, b, V, t, D^2 as in :mod:`shared_noise` and :mod:`interior`,

    delta(j, a, r) = 1 - q_r + E[(G(M) - e^(b - U))_+],   D^2 = (a - a^2/(j + kappa)) / sigma^2.

The other side never leaks more when epsilon >= 0. delta rises with r, and with j at fixed a and r
(a counter can be dropped afterwards), so j = k - r; at fixed (j, r) it falls beyond
a = (j + kappa)/2, as D^2 falls and t rises. The ends are closed: 1 - q_n at r = n = min(k, m), and
the Gaussian H(epsilon, D) at r = 0. What lies between is excluded by cheap bounds, or integrated.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

from flint import arb, ctx

from exactdp.accounting.sparse_histograms.csh_exact.boxes import Box, Slopes, smaller
from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import NARROW, Bound, CellBounds
from exactdp.accounting.sparse_histograms.csh_exact.estimates import Estimates
from exactdp.accounting.sparse_histograms.csh_exact.marginals import marginals
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Profile,
    SharedNoise,
    floor_of,
)
from exactdp.accounting.sparse_histograms.csh_exact.terms import (
    Family,
    Terms,
    Worst,
    grid_for,
    kappa_of,
    largest_distance,
    one_passes,
)
from exactdp.balls import FLOOR_BITS, Ends, precision
from exactdp.normal import hockey_stick

#: Numbers of cells: the most of one search at 128 bits (fewer at more bits), those of a box at
#: first, the most for its slopes, of a box and of a pair, and those for which an integral counts.
MOST_CELLS = 1 << 21
_BITS = 128
_FIRST_CELLS = 32
_MOST_MARGINAL_CELLS = 256
_MOST_PER_BOX, _MOST_PER_PAIR = 1 << 9, 1 << 10
_CELLS_PER_INTEGRAL = 1 << 12
_FLOOR = arb(2) ** -FLOOR_BITS


def evaluate(
    family: Family,
    beyond: arb | None = None,
    near: Worst | None = None,
    most_cells: int = MOST_CELLS,
) -> tuple[Ends, Worst]:
    """Ends around delta at the working precision, and the neighbours with the largest lower end.

    beyond: the search ends, with ends far apart, as soon as the lower end exceeds this.
    near: the worst neighbours of a similar family.
    most_cells: the search ends with this number of cells (at 128 bits; with fewer at more).
    The relative distance of the ends is about 2^-(precision/4), more when the search has ended
    early or the precision does not suffice; delta is always between them.
    Raises Undecided beyond MOST_BITS, and for a kappa too small for the grid of the shared noise.
    """
    search = _Search(Terms(family), Estimates(family), beyond, most_cells)
    return search.result(near)


def pair(family: Family, j: int, a: int, r: int) -> arb:
    """A ball around delta(j, a, r) of one pair of neighbours, from side A."""
    return Terms(family).pair(j, a, r)


def noise_only(
    k: int, sigma: arb, epsilon: arb, correlation: Fraction | None, contributions: int
) -> arb:
    """The limit of delta for tau to infinity: H(epsilon, D) at the largest D. It falls with sigma.

    At a fixed tau/sigma it is also a lower bound on delta.
    """
    return hockey_stick(epsilon, noise_distance(k, sigma, correlation, contributions))


def noise_distance(k: int, sigma: arb, correlation: Fraction | None, contributions: int) -> arb:
    """The largest D of all neighbours: how far apart the shared counters are, in noise."""
    squared, _ = largest_distance(k, min(k, contributions), correlation, k)
    return squared.sqrt() / sigma


def threshold_only(k: int, ratio: arb, correlation: Fraction | None, contributions: int) -> arb:
    """1 - q_n at tau/sigma = ratio, n = min(k, contributions): a lower bound on delta."""
    n = min(k, contributions)
    kappa = kappa_of(correlation, k)
    return grid_for(kappa, ratio, k, n, one_passes(kappa, ratio)).exceeded(n)


class _Search:
    """Best-first over boxes of (r, a); nothing is assumed unimodal.

    Every box has an upper bound. delta is between the best lower end seen and the largest bound
    among the boxes left or given up, whenever the search is stopped.
    """

    def __init__(
        self, model: Terms, estimates: Estimates, beyond: arb | None, most_cells: int
    ) -> None:
        self.model, self.estimates, self.beyond = model, estimates, beyond
        self.slack = arb(2) ** -(ctx.prec // 4)  # pairs are known to a third of the bits
        self.bits = ctx.prec // 2  # precision of the bounds, which have a grid of their own
        grid, nats = model.noise, ctx.prec * 3 // 16
        depth = grid.absolute - grid.relative
        self.noise = SharedNoise(grid.kappa, grid.ratio, model.k, nats, nats + depth)
        self.heap: list[tuple[arb, int, Box]] = []
        self.ticket = count()
        self.budget = most_cells * _BITS**2 // ctx.prec**2
        self.known: dict[tuple[int, int, int], CellBounds] = {}
        k, n = model.k, model.n
        by_threshold, by_noise = model.exceeded(n), model.noise_end
        self.lower = by_threshold.lower().max(by_noise.lower()).max(arb(0))
        self.upper = by_threshold.upper().max(by_noise.upper())
        self.worst = Worst(k - n, 0, n, "A")
        self.whole = k + model.kappa
        self.nats = floor_of(-(1 - self.lower).max(_FLOOR).log())
        if by_noise.mid() > by_threshold.mid():
            self.worst = Worst(k, model.noise_a, 0, "A")

    def result(self, near: Worst | None) -> tuple[Ends, Worst]:
        n = self.model.n
        # ends that are too wide call for more precision, not for a search
        if n > 1 and not self._matters(self.upper):
            first = None if self._decided() else self.estimates.best(near)
            if first and self.estimates.pair(first.j, first.a, first.r) > self.lower:
                self._settle(first.r, first.a, arb(0))
            self._push(Box(1, n - 1, arb(0), arb(0.5)), arb(1))
        elif n > 1:
            self.upper = arb(1)
        while self.heap:
            negative, _, box = heappop(self.heap)
            if self.budget <= 0 or self._decided() or not self._matters(-negative):
                self.upper = self.upper.max(-negative)  # the largest bound in the queue
                break
            self._refine(box, -negative)
        upper = smaller(arb(1), self.upper.max(self.lower))
        return Ends(self.lower, upper), self.worst

    def _decided(self) -> bool:
        return self.beyond is not None and self.lower > self.beyond

    def _matters(self, bound: arb) -> bool:
        """Whether a box with this bound may still change the answer.

        Near 1, delta and a target are compared by their distances from 1.
        """
        lower, beyond = self.lower, self.beyond
        enough = lower * (1 + self.slack)
        if beyond is not None and lower > 0.5:
            enough = (lower + (1 - lower) * self.slack).max(beyond.min(enough))
        return not (bound <= enough or bound < _FLOOR)

    def _push(self, box: Box, bound: arb) -> None:
        """Queue the part of a box that holds pairs, none of which exceeds the bound."""
        box = self._trimmed(box)
        if box.most < box.least or (box.numbers and box.numbers[1] < box.numbers[0]):
            return
        if box.seen is None:
            squared, _ = self._corner(box)
            bound = smaller(bound, self.model.sum_bound(box.last_r, squared).upper())
        heappush(self.heap, (-bound, next(self.ticket), box))

    def _trimmed(self, box: Box) -> Box:
        """The part with 1 <= a <= n - r, and p <= 1/2 or a the least integer beyond."""
        if box.numbers is not None:
            return box
        r, total, most = box.first_r, self.whole - box.first_r, self.model.n - box.first_r
        if r < box.last_r:  # (n - r)/(whole - r) falls, as n <= k
            least, largest = (1 / total).lower(), (most / total).upper()
            return replace(box, least=box.least.max(least), most=box.most.min(largest))
        first = max(-floor_of(-(box.least * total).lower()), 1)
        last = floor_of((box.most * total).upper()) + (not box.most < 0.5)
        last = min(last, most)
        return replace(box, least=first / total, most=last / total, numbers=(first, last))

    def _corner(self, box: Box) -> tuple[arb, arb]:
        """The largest D^2 and the smallest t."""
        scale = self.model.scale
        return scale**2 * (self.whole - box.first_r) * box.peak, scale * box.least

    def _refine(self, box: Box, bound: arb) -> None:
        most = _MOST_PER_PAIR if box.single else _MOST_PER_BOX
        wanted = self._wanted(box, bound)
        if wanted <= most:
            seen = self._bound(box, wanted)
            box = replace(box, seen=seen, count=wanted)
            self._push(box, smaller(bound, box.at_most(box)))
        elif box.numbers and box.single:
            self._settle(box.first_r, box.numbers[0], bound)
        elif box.slopes is None:
            box = replace(box, slopes=self._slopes(box))
            self._push(box, smaller(bound, box.at_most(box)))
        else:
            for part in box.parts(self.whole):
                self._push(part, smaller(bound, box.at_most(part)))

    def _wanted(self, box: Box, bound: arb) -> int:
        """About how many cells would rule out a box or a pair; too many if no number would.

        The gap between bound and guess falls about as 1/cells^3. Before a box is halved, the gap
        should be less than half of what the bound is above the best value: the halves inherit it.
        """
        if box.seen is None:
            return max(_FIRST_CELLS, min(box.count, _MOST_PER_BOX))
        room, gap = self.lower - box.seen.guess, box.seen.upper - box.seen.guess
        if box.slopes is not None:
            room += box.slopes.relief(box)
        if room > 0 and gap > 0:
            times = 1.2 * float((gap / room).root(3).mid())
            return box.count << math.ceil(math.log2(min(max(times, 1.1), _MOST_PER_PAIR)))
        if box.slopes is not None and 2 * gap > bound - self.lower:
            return 2 * box.count
        return _MOST_PER_PAIR + 1

    def _bound(self, box: Box, cells: int) -> Bound:
        """The bound at the corner of a box, from this number of cells."""
        j = self.model.k - box.first_r
        squared, covariance = self._corner(box)
        all_change = box.numbers == (j, j)
        if squared > NARROW**2:  # each cell costs more
            self.budget -= cells
        with precision(self.bits):
            bounds = self._cells(j, box.last_r, cells)
            return bounds.bound(self.model.epsilon, squared, covariance, all_change)

    def _slopes(self, box: Box) -> Slopes:
        """The slopes of a box, from the G of the corner's j for all j of the box.

        The G of a smaller j is a mean of the G of the corner's j, and E max(L, ..) is convex in L.
        """
        model, top = self.model, self.model.k - box.first_r
        corner, least_covariance = self._corner(box)
        ends = [x * (1 - x) for x in (box.least, box.most)]
        squared = corner.union(model.scale**2 * (self.whole - box.last_r) * ends[0].min(ends[1]))
        covariance = least_covariance.union(model.scale * box.most)
        count = min(box.count, _MOST_MARGINAL_CELLS)
        with precision(self.bits):
            cells = self._cells(top, box.last_r, count)
            fewer = self._cells(top, max(box.last_r - 1, 1), count)
            slope = marginals(cells, fewer, model.epsilon, squared, covariance, box.first_r)
        return Slopes(
            slope.distance * model.scale**2,
            slope.covariance * model.scale,
            slope.extra,
            (self.whole - box.first_r) * box.peak,
            box.least,
            self.whole,
            box.last_r,
        )

    def _cells(self, j: int, r: int, number: int) -> CellBounds:
        self.budget -= number
        key = (j, r, number)
        if key not in self.known:
            self.known[key] = CellBounds(Profile(self.noise, j, r), number, self.nats)
        return self.known[key]

    def _settle(self, r: int, a: int, bound: arb) -> None:
        """Integrate one pair, and raise both ends by the result."""
        self.budget -= _CELLS_PER_INTEGRAL
        value = self.model.pair(self.model.k - r, a, r)
        if value.lower() > self.lower:
            self.lower, self.worst = value.lower(), Worst(self.model.k - r, a, r, "A")
            self.upper = self.upper.max(value.upper())
        self.upper = self.upper.max(smaller(bound, value.upper()))
