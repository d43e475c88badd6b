"""Neighbours that are probably the worst ones, found by climbing: a hint that proves nothing."""

from __future__ import annotations

from functools import cache

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import CellBounds
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile
from exactdp.accounting.sparse_histograms.csh_exact.terms import Family, Terms, Worst

#: Enough to tell neighbours apart by the guess that cells give.
_CELLS = 64
#: Rows looked at one by one in the end: there delta rises and falls a little from each to the next.
_ROWS = 6
#: So many of the rows that seem best are told apart by integrals.
_INTEGRATED = 5
#: Rows are much alike: so near, in parts of the largest a, the next one's best a is looked for.
_NEARBY = 1 / 32
#: By more than the guesses are off; by so much that a small step of tau may matter.
_BETTER, _NEARLY = arb(1.002), arb(0.999)


def likely(family: Family, near: Worst | None = None) -> Worst | None:
    """Neighbours with 0 < r < n that seem the worst; None if the ends seem worse.

    near: the worst ones of a similar family, from which the climb starts.
    """
    model = Terms(family)
    return _Climb(model, near).top() if model.n > 1 else None


class _Climb:
    """Along r, each with the best a for it."""

    def __init__(self, model: Terms, near: Worst | None) -> None:
        self.model = model
        self.row = cache(self._row)
        n = model.n
        self.share, self.step = 3 / 4, 1 / 4  # where a is looked for, as parts of the largest
        self.starts, self.stride = [n // 8, n // 2, n * 7 // 8], max(n // 8, 1)
        if near is not None:
            self.share, self.step = near.a / self._most(near.r), _NEARBY
            self.starts, self.stride = [near.r], max(n // 64, 1)

    def top(self) -> Worst | None:
        n, step = self.model.n, self.stride
        r = max(map(self._inside, self.starts), key=self._height)
        ends = self.model.noise_end.max(self.model.exceeded(n))
        if not 2 * self._height(r) > ends:
            return None
        while step > 1:
            better = max((self._inside(r + x) for x in (-step, step)), key=self._height)
            if self._height(better) > self._height(r):
                r = better
            else:
                step //= 2
        near = range(self._inside(r - _ROWS), self._inside(r + _ROWS) + 1)
        best = sorted(near, key=self._height, reverse=True)[:_INTEGRATED]
        if best[0] in (1, n - 1):  # next to an end, which it hardly differs from
            ends *= _BETTER
        if not self._height(best[0]) > ends * _NEARLY:
            return None
        pairs = [Worst(self.model.k - r, self.row(r)[1], r, "A") for r in best]
        return max(pairs, key=lambda pair: self.model.pair(pair.j, pair.a, pair.r).mid())

    def _inside(self, r: int) -> int:
        return min(max(r, 1), self.model.n - 1)

    def _most(self, r: int) -> int:
        return min(self.model.n - r, self.model.half(self.model.k - r) + 1)

    def _height(self, r: int) -> arb:
        return self.row(r)[0]

    def _row(self, r: int) -> tuple[arb, int]:
        """The largest delta in a row, about, and the a that has it: one valley, one top."""
        model, j = self.model, self.model.k - r
        cells = CellBounds(Profile(model.noise, j, r), _CELLS)
        last = self._most(r)

        @cache
        def guess(a: int) -> arb:
            squared, covariance = model.squared(j, a), model.covariance(j, a)
            return cells.bound(model.epsilon, squared, covariance, a == j).guess.mid()

        a, step = min(max(int(self.share * last), 1), last), max(int(self.step * last), 1)
        while step:
            better = max((min(max(a + x, 1), last) for x in (-step, step)), key=guess)
            if guess(better) > guess(a):
                a = better
            else:
                step //= 2
        self.share, self.step = a / last, _NEARBY
        return guess(a), a
