"""Signs that outputs are copies of each other instead of independent draws.

Two signs are looked for. No two calls may return the same outputs: a fixed seed, or a generator
that was copied into worker processes, does so. Only calls that independent outputs would not repeat
are compared: outputs of few distinct values (NULL, a set of keys, small counts) are no sign. And
when a violation is about to be stated its event is counted again in fresh processes (drawing.py):
their counts must vary as those of independent outputs do.

An event that happens for all outputs of each call, or for none, is no sign of copies either. But
each call may have drawn once and copied the result, so a call is evidence of one output only: the
engine then counts calls that ask for one output, and limits their number by the time they take.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.values import encoded
from exactdp.errors import CopiedRandomness, Signal

Hits = NDArray[np.bool_]

#: Most outputs of a call that are compared, from the first one on.
_COMPARED = 256
#: Two calls of independent outputs agree with a probability below e^-80, so that 10^15 calls have
#: no such pair except with probability 10^30 e^-80 < 10^-4.
_SURE = 80.0
_ARRANGEMENTS = 9999


class AllAlike(Signal):
    """An event never varied within a call, so nothing shows that run drew more than once a call."""


def fingerprint(outputs: Outputs) -> str:
    """A hash of the first outputs of a call; "" where independent calls may well agree on them.

    Independent outputs agree with a probability of at most e^-80, estimated by how often two of
    these outputs agree.
    """
    values = outputs.take(0, _COMPARED).items
    n = len(values)
    if n < 2:
        return ""
    pairs = sum(count * (count - 1) for count in Counter(values).values())
    if -n * math.log(pairs / (n * (n - 1)) + 1 / n) <= _SURE:
        return ""
    text = json.dumps([encoded(value) for value in values])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Calls:
    """The fingerprints of the calls so far; the latest 4096, so that any number fits."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def add(self, mark: str) -> None:
        """Note a call. Raises CopiedRandomness if an earlier call returned the same outputs."""
        if mark in self._known:
            raise CopiedRandomness(
                "run returned the same outputs for two calls: it starts every call from a fixed "
                "seed, or its generator was copied into worker processes"
            )
        if mark:
            self._known[mark] = None
        if len(self._known) > 4096:
            del self._known[next(iter(self._known))]


def different(hits: int, trials: int, again: int, others: int) -> str:
    """How two counts of one event differ; "" where independent outputs may well differ so.

    Given how many hits both have together, either arrangement over the outputs is equally likely:
    a hypergeometric law, compared here with its normal limit at the level 10^-4 (3.9 standard
    deviations), plus one hit for its discreteness.
    """
    total, everywhere = hits + again, trials + others
    share = total / everywhere
    variance = trials * share * (1 - share) * others / max(everywhere - 1, 1)
    if abs(hits - trials * share) <= 3.9 * math.sqrt(variance) + 1:
        return ""
    return f"{hits} of {trials} outputs at first, {again} of {others} later"


def uneven(groups: Sequence[Hits]) -> str:
    """How the hits of groups (processes, calls) differ from each other; "" for no sign.

    Given how many hits there are, any arrangement over independent outputs is equally likely. So
    the spread of the groups' counts is compared with that of 9999 random arrangements: that it
    exceeds all of them has probability 10^-4; that it is below all of them (a pattern that comes
    again and again in every group), too.
    """
    sizes = np.array([len(group) for group in groups])
    hits = np.array([int(group.sum()) for group in groups])
    total, everywhere = int(hits.sum()), int(sizes.sum())
    if not 0 < total < everywhere or len(groups) < 2:
        return ""
    arrangements = np.random.default_rng(0).multivariate_hypergeometric(sizes, total, _ARRANGEMENTS)
    expected = sizes * (total / everywhere)
    seen, others = (((x - expected) ** 2 / sizes).sum(axis=-1) for x in (hits, arrangements))
    if (others >= seen * (1 - 1e-9)).any() and (others <= seen * (1 + 1e-9)).any():
        return ""
    shares = hits / sizes
    return f"the share of hits is {shares.min():.3g} to {shares.max():.3g} in {len(groups)} groups"
