"""KeepHeavy of Balcer and Vadhan with order statistics as printed, and with ties.

One row, four elements, epsilon = 1. Noisy counts are 0 or 1: the distribution functions scaled by 5
are (3, 5) for an empty bin and (2, 5) for the bin of the row.
"""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import against

UNIVERSE = 4


def released(data, rng, n, top):
    """What is released: of the row's bin and of two others with the noisy counts `top`, those above
    the second heaviest."""
    mine = rng.random(n) >= 2 / 5
    first, second = top
    others = [x for x in range(UNIVERSE) if x != data]
    place = np.array(others)[rng.integers(0, UNIVERSE - 1, n)]
    kept = (mine.astype(int) + first + second) == 1  # exactly one count of 1 is above the second
    key = np.where(mine, data, place)
    table = np.array([{x: 1} for x in range(UNIVERSE)] + [{}], dtype=object)
    return table[np.where(kept, key, UNIVERSE)].tolist()


def corrected(data, n, rng):
    # the largest two of three independent counts: KeepHeavySampled's law, see test_promises
    ones = (rng.random((n, 3)) >= 3 / 5).sum(axis=1)
    return released(data, rng, n, ((ones >= 1).astype(int), (ones >= 2).astype(int)))


@against(corrected, 0, 1, "0.810931")  # ln(9/4), rounded up
def printed_order_statistics(data, n, rng):
    """OrdSample as printed: conditional laws that hold only without ties."""
    # Algorithm 6: the second largest of three is drawn as the larger of two, limited by the first
    first = rng.random(n) >= (3 / 5) ** 3
    second = first & (rng.random(n) >= (3 / 5) ** 2)
    return released(data, rng, n, (first.astype(int), second.astype(int)))
