"""Signs that outputs are not independent: repeats where chance would not put them.

That outputs are independent cannot be proved from outputs. What is certified here is the other
way: where they are independent, each sign shows with a probability below e^-40 times the number of
ways it is looked for, whatever the mechanism and however few outcomes it has. All signs are of one
form: of places that independence makes interchangeable with others, how many are marked. Given how
many are marked everywhere, that number has a hypergeometric law, and its tail is what is bounded.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.codes import same_text
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import Outputs, as_outputs
from exactdp.errors import ExactDPError

__all__ = [
    "AllAlike",
    "Calls",
    "CopiedRandomness",
    "OneByOne",
    "RepeatedCalls",
    "between",
    "mark",
    "refuse",
    "refuse_one_value",
    "repeats",
    "surprise",
    "together",
]

_ROWS = 4096
_MARKED = (64, 256)
_SURE = 40.0  # nats, about 10^-17
_VALUES = 16  # the commonest ones, which are followed from call to call and side to side
_COORDINATES = 8
_LAGS = 4  # the likeliest distances between copies

_REMEDY = (
    "; so outputs are not independent and nothing can be concluded. run(dataset, n) has to return "
    "n outputs that are drawn anew, each by itself, from the operating system's randomness"
)


class CopiedRandomness(ExactDPError, RuntimeError):
    """Outputs are copies of each other: they are not independent, nothing can be concluded."""


class RepeatedCalls(CopiedRandomness):
    """Two calls returned the same outputs."""

    def __init__(self) -> None:
        super().__init__(
            "run returned the same outputs for two batches: its randomness is a copy (a fixed "
            "seed, or a generator duplicated into worker processes), so outputs are not "
            "independent and nothing can be concluded; let it draw from the operating system, or "
            "audit it without an executor"
        )


class AllAlike(Exception):
    """No call told two of its outputs apart, so nothing shows that it drew more than once."""


def repeats(outputs: Outputs) -> str:
    """How outputs of one call repeat each other at a fixed distance; "" when they do not.

    Pairs at that distance are compared with pairs taken at random.
    """
    codes: dict[object, int] = {}
    values = outputs.take(0, _ROWS).items
    ids = np.array([codes.setdefault(value, len(codes)) for value in values])
    if len(ids) < 16 or len(codes) == 1:
        return ""
    for lag in _likely_lags(ids):
        at_lag, at_random = _pairs(len(ids), lag)
        same = [int((ids[a] == ids[b]).sum()) for a, b in (at_lag, at_random)]
        trials, others = len(at_lag[0]), len(at_random[0])
        more = same[0] * others > same[1] * trials
        if more and _differ(same[0], trials, same[1], others):
            return f"{same[0]} of {trials} outputs equal the one {lag} before"
    return ""


def _likely_lags(ids: NDArray[Any]) -> list[int]:
    """1, and the distances at which values coincide most: random signs, correlated with shifts."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (int(ids.max()) + 1, 8))[ids]
    signs -= signs.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(signs, 2 * len(ids), axis=0)) ** 2
    same = np.fft.irfft(spectrum.sum(axis=1))[1 : len(ids) // 2 + 1]
    score = same / np.sqrt(len(ids) - np.arange(1, len(same) + 1))
    return sorted({1, *(int(lag) + 1 for lag in np.argsort(-score, kind="stable")[:_LAGS])})


Pairs = tuple[NDArray[Any], NDArray[Any]]


def _pairs(n: int, lag: int) -> tuple[Pairs, Pairs]:
    """Pairs of places at a distance, and pairs of the remaining places at random; all disjoint."""
    starts = np.arange(n - lag)
    starts = starts[starts // lag % 2 == 0]
    starts = starts[: (len(starts) + 1) // 2]
    rest = np.random.default_rng(0).permutation(
        np.setdiff1d(np.arange(n), np.concatenate([starts, starts + lag]))
    )
    half = len(rest) // 2
    return (starts, starts + lag), (rest[:half], rest[half : 2 * half])


def between(calls: Sequence[Outputs]) -> str:
    """How the calls of one side differ in what they return; "" when they do not."""
    counts = [Counter(call.items) for call in calls]
    common = sum(counts, Counter()).most_common(_VALUES)
    for value, _ in common:
        hits, trials = 0, 0
        for count in counts:
            if _differ(hits, trials, count[value], count.total()):
                seen = f"{count[value]} of {count.total()} outputs"
                return f"{seen} of one call are {value}, {hits} of {trials} before"
            hits, trials = hits + count[value], trials + count.total()
    return ""


def together(left: Outputs, right: Outputs) -> str:
    """How outputs of the two sides go together, place by place; "" when they do not."""
    n = min(len(left), len(right))
    ours, theirs = _marked(left.take(0, n)), _marked(right.take(0, n))
    for i, (kind, one) in enumerate(ours):
        for j, (other_kind, two) in enumerate(theirs):
            if kind != other_kind or (kind == "cut" and i != j):
                continue
            both, trials = int((one & two).sum()), int(one.sum())
            if surprise(both, trials, int(two.sum()), n) > _SURE:
                return (
                    f"{both} of {trials} outputs go with the same kind of output of the other side"
                )
    return ""


def _marked(outputs: Outputs) -> list[tuple[str, NDArray[np.bool_]]]:
    """Which outputs lie above a median, coordinate by coordinate, or are a common value."""
    if outputs.matrix is not None:
        values = outputs.matrix[:, :_COORDINATES].astype(float)
        medians = np.sort(values, axis=0)[len(values) // 2] if len(values) else values
        return [("cut", column > cut) for column, cut in zip(values.T, medians, strict=False)]
    codes = outputs.items
    common = [value for value, _ in Counter(codes).most_common(_VALUES)]
    return [("value", np.array([code == value for code in codes])) for value in common]


def mark(outputs: Outputs) -> list[str]:
    """A hash of the first outputs, of so many that chance alone would never repeat them."""
    values = outputs.take(0, _MARKED[-1]).items
    for n in _MARKED:
        if len(values) < n:
            break
        collision = sum(c * (c - 1) for c in Counter(values[:n]).values()) / (n * (n - 1))
        if -n * math.log(collision + 1 / n) > 2 * _SURE:
            text = "\n".join(map(same_text, values[:n]))
            return [hashlib.sha256(text.encode()).hexdigest()[:16]]
    return []


@dataclass
class Calls:
    """How often the events of a look happened in the calls so far."""

    _totals: dict[tuple[Event, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, event: Event, side: str, hits: int, trials: int) -> None:
        """Note a call. Raises CopiedRandomness when it differs from the calls before it."""
        before, drawn = self._totals.get((event, side), (0, 0))
        if _differ(before, drawn, hits, trials):
            refuse(f"{side}: {hits} of {trials} outputs of one call, {before} of {drawn} before it")
        self._totals[event, side] = before + hits, drawn + trials


def refuse_one_value() -> None:
    """Raise where nothing that was returned for a data set ever varied."""
    raise CopiedRandomness(
        "run returned one and the same output for each data set, however often it was called. If "
        "it draws no randomness, or always the same, its outputs tell the data sets apart for "
        "certain, and no audit is needed; if it remembers what it once drew, they are not "
        "independent and nothing can be concluded"
    )


def refuse(sign: str) -> None:
    """Raise CopiedRandomness where there is a sign."""
    if sign:
        raise CopiedRandomness(f"run returned copies ({sign}){_REMEDY}")


@dataclass(frozen=True)
class OneByOne:
    """A mechanism called anew for every output, as its users call it.

    For mechanisms that start every call from the same seed: their single outputs are what can be
    told apart, however independent the outputs of one call look.
    """

    run: Callable[[Any, int], Any]

    def __call__(self, data: Any, n: int) -> Outputs:
        calls = [self.run(data, 1) for _ in range(n)]
        if all(type(call) is list and len(call) == 1 for call in calls):
            return Outputs([call[0] for call in calls])
        return Outputs.joined([as_outputs(call, 1) for call in calls])


def _differ(hits: int, trials: int, more: int, others: int) -> bool:
    """Whether two calls can hardly have the same probability of an event."""
    return surprise(hits, trials, hits + more, trials + others) > _SURE


def surprise(seen: int, places: int, marked: int, everywhere: int) -> float:
    """-ln of a bound on how likely so many, or so few, of the marked ones fall on these places.

    The tail of a hypergeometric law, whose terms fall ever faster: the first one, and the ratio
    to the second, bound their sum.
    """
    if seen * everywhere < places * marked:
        seen, marked = places - seen, everywhere - marked
    ahead = (marked - seen) * (places - seen)
    behind = (seen + 1) * (everywhere - marked - places + seen + 1)
    if not 0 < places < everywhere or ahead >= behind:
        return 0.0
    return (
        _log_choose(everywhere, places)
        - _log_choose(marked, seen)
        - _log_choose(everywhere - marked, places - seen)
        + math.log1p(-ahead / behind)
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
