"""Which queries should have Laplace noise, and about how much: floats that only say where to look.

Renyi divergences tell: of an order, those of all noise add up, and turn into (epsilon, delta).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, log, sqrt

from exactdp.plans.queries import Query

_ORDERS = [1.25 * 1.5**i for i in range(40)]

_LARGEST = 1e9


def likely(
    queries: Sequence[Query],
    deviations: Callable[[float], Sequence[float]],
    epsilon: float,
    delta: float,
    laplace: Sequence[bool] | None = None,
) -> tuple[float, tuple[bool, ...]]:
    """An estimate of the least size of noise that keeps (epsilon, delta), and the kinds of noise.

    The size is infinity if no size suffices; the kinds say for each query whether its noise is
    Laplace. deviations: size -> the standard deviation of a count of each query. laplace: kinds to
    take; by default, each query has the kind that leaks less.
    """
    best: tuple[float, tuple[bool, ...]] = (inf, (False,) * len(queries))
    for order in _ORDERS:
        # Canonne, Kamath, Steinke 2020, Proposition 12
        budget = epsilon + (log(delta) + log(order)) / (order - 1) - log(1 - 1 / order)

        def spent(size: float, order: float = order) -> tuple[float, tuple[bool, ...]]:
            pairs = [(_gaussian(s, order), _laplace(s, order)) for s in deviations(size)]
            kinds = tuple(laplace or (second < first for first, second in pairs))
            triples = zip(queries, pairs, kinds, strict=True)
            return sum(query.moved * pair[kind] for query, pair, kind in triples), kinds

        low, high = 1 / _LARGEST, _LARGEST
        if spent(high)[0] > budget:
            continue
        for _ in range(60):
            size = sqrt(low * high)
            low, high = (low, size) if spent(size)[0] <= budget else (size, high)
        best = min(best, (high, spent(high)[1]))
    return best


def _gaussian(deviation: float, order: float) -> float:
    return order / (2 * deviation**2)


def _laplace(deviation: float, order: float) -> float:
    loss, part = sqrt(2) / deviation, order / (2 * order - 1)
    if (order - 1) * loss > 600:  # about the largest loss; its exponential may overflow
        return loss
    return log(part * exp((order - 1) * loss) + (1 - part) * exp(-order * loss)) / (order - 1)
