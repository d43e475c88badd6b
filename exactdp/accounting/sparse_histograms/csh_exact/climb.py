"""Neighbours that are probably the worst ones, found by climbing: a hint that proves nothing."""

from __future__ import annotations

from functools import cache

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.cells import Cells
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile
from exactdp.accounting.sparse_histograms.csh_exact.terms import Family, Terms

__all__ = ["likely"]

#: Enough to tell neighbours apart by the guess that cells give.
_CELLS = 64
_MOVES = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def likely(family: Family) -> tuple[int, int, int] | None:
    """(j, a, r), 0 < r < n, from which no small move seems worse; None if the ends seem worse."""
    model = Terms(family)
    found = _climb(model) if model.n > 1 else None
    return found and (model.k - found[0], found[1], found[0])


def _climb(model: Terms) -> tuple[int, int] | None:
    k, n = model.k, model.n

    @cache
    def cells(r: int) -> Cells:
        return Cells(Profile(model.noise, k - r, r), _CELLS)

    @cache
    def guess(r: int, a: int) -> arb:
        j = k - r
        squared, covariance = model.squared(j, a), model.covariance(j, a)
        return cells(r).bound(model.epsilon, squared, covariance, a == j).guess.mid()

    def inside(r: int, a: int) -> tuple[int, int]:
        r = min(max(r, 1), n - 1)
        return r, min(max(a, 1), n - r, model.half(k - r) + 1)

    starts = [inside(n * part // 8, n) for part in (1, 4, 7)]
    here, step = max(starts, key=lambda pair: guess(*pair)), max(n // 8, 1)
    if not 2 * guess(*here) > model.noise_end.max(model.exceeded(n)):
        return None
    while step > n >> 7:  # the top is flat: to a hundredth is enough
        r, a = here
        best = max((inside(r + step * x, a + step * y) for x, y in _MOVES), key=lambda p: guess(*p))
        if guess(*best) > guess(*here):
            here = best
        else:
            step //= 2
    return here
