"""Whether the hits of one event come as those of independent outputs would.

copies.py and independence.py watch every batch of every audit, so they hardly ever speak. This is
asked once, when a violation is about to be stated, and sees far less. Where outputs are independent
and of one law, any arrangement of the hits over the places is as likely as any other. So what was
seen is compared with arrangements drawn at random: that none of 9999 reaches it has a probability
of 10^-4 at most, whatever the law. Ten such questions are asked of a violation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.blackbox.independence import surprise

__all__ = ["apart", "rhythm", "uneven"]

Hits = NDArray[np.bool_]

_ARRANGEMENTS = 9999
_PLACES = 1 << 14  # in which a sequence is looked at: its beginning, and the sums of as many parts
_SURE = math.log(2e4)  # nats: either tail has 5e-5


def apart(hits: int, trials: int, again: int, others: int) -> str:
    """How a count differs from an earlier one; "" when it does not."""
    if surprise(hits, trials, hits + again, trials + others) < _SURE:
        return ""
    return f"{hits} of {trials} outputs at first, {again} of {others} later"


def uneven(units: Sequence[Hits]) -> str:
    """How the hits of units (processes, calls) differ from each other; "" when they do not."""
    sizes = np.array([len(unit) for unit in units])
    hits = np.array([int(unit.sum()) for unit in units])
    total, everywhere = int(hits.sum()), int(sizes.sum())
    if not 0 < total < everywhere:
        return ""
    drawn = np.random.default_rng(0).multivariate_hypergeometric(sizes, total, _ARRANGEMENTS)
    expected = sizes * (total / everywhere)
    seen, others = (((x - expected) ** 2 / sizes).sum(axis=-1) for x in (hits, drawn))
    if (others > seen * (1 - 1e-9)).any():
        return ""
    shares = hits / sizes
    return f"their share is {shares.min():.3g} in one part and {shares.max():.3g} in another"


def rhythm(hits: Hits) -> str:
    """Whether hits come in a rhythm or in clusters, in the order they were drawn; "" for no."""
    parts = len(hits) // _PLACES
    short = hits[:_PLACES].astype(float)
    sums = hits[: parts * _PLACES].reshape(_PLACES, parts).sum(axis=1).astype(float)
    for values in (short, sums) if parts > 1 else (short,):
        if len(values) < 4 or not np.ptp(values):
            continue
        seen, others = _strongest(values), _rearranged(values)
        for what, i in (("period", 0), ("distance", 1)):
            if all(other[i] < seen[i] * (1 - 1e-9) for other in islice(others, _ARRANGEMENTS)):
                return f"they come at a {what} that chance does not give them"
    return ""


def _rearranged(values: NDArray[Any]) -> Iterator[tuple[float, float]]:
    rng = np.random.default_rng(0)
    while True:
        yield _strongest(rng.permutation(values))


def _strongest(values: NDArray[Any]) -> tuple[float, float]:
    """The largest part of a period, slow ones included, and of a distance: spectrum and its own."""
    power = np.abs(np.fft.rfft(values - values.mean())) ** 2
    return float(power.max()), float(np.abs(np.fft.irfft(power, len(values))[1:]).max())
