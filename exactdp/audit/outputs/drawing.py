"""What an audit draws from a mechanism: outputs to learn from, and counts of events.

A violation is counted again, in fresh processes, before it is stated. Outputs of one process may
share what the process remembers: a number drawn once, a cache by data set, a generator that drifts.
Then they vary less than independent outputs do, and the counts of an event may be chance. So its
outputs are drawn again, as many as before, in 8 processes that are started anew, with the calls for
both sides in random order. The processes' counts must vary as those of independent outputs do, and
agree with the first counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs import fresh
from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.copies import Calls, different, uneven
from exactdp.audit.outputs.counting import (
    SIDES,
    OneByOne,
    Run,
    Tally,
    batches,
    call,
    in_parallel,
    other,
    task_origin,
)
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.fresh import Drawn, Request
from exactdp.audit.sending import sent
from exactdp.errors import CopiedRandomness, InvalidParameter

_TRAINING_CALL = 8192  # outputs of a call in training, at most
_BYTES = 1 << 24  # of the numbers that one call returns
_LARGEST, _SMALLEST = 1 << 18, 1 << 10  # outputs of a call
_SECONDS = 0.25  # time that one call should take
#: Least number of calls for each side and count: what is equal for all outputs of one call may
#: differ from call to call.
_CALLS = 4
_FEWEST = 64  # outputs of a call, unless there are fewer in all

#: With 8, outputs that are each k copies raise false alarms no more often than alpha = 0.01 allows.
#: They must pass both counts, Phi(-2.33/sqrt(k))^2, and the spread of eight counts, k times a
#: chi-square variable with 7 degrees of freedom, must stay below its 10^-4 quantile 29.9: a product
#: of at most 0.01, at k = 5 and 6. More processes cost more time to start.
_PROCESSES = 8
_MOST = 1 << 28  # largest number of outputs of a side that are counted again

_FRESH = "counted again in {processes} fresh processes: {counts}"
_HERE = (
    "counted again in this process: {counts}; what it drew before is taken as fixed (run cannot be "
    "started anew, or draws the same in every process)"
)
_CONSTANT = (
    "the event happened for every output of one data set and for none of the other, and run cannot "
    "be started anew: either no randomness decides it, and no audit is needed, or run remembers "
    "what it once drew"
)


@dataclass
class Draws:
    """Outputs of run on two data sets, drawn call by call; nothing is drawn twice.

    data: side -> data set. progress: called with `total`, the number of outputs so far. single:
    whether run is called once for every output.
    """

    run: Run
    data: dict[str, Any]
    executor: Executor | None = None
    progress: Callable[[int], object] | None = None
    single: bool = False
    total: int = 0
    _largest: int = _TRAINING_CALL
    _calls: Calls = field(default_factory=Calls)

    def __post_init__(self) -> None:
        if self.progress is not None and not callable(self.progress):
            allowed = "None or a function of the number of outputs so far"
            raise InvalidParameter("progress", self.progress, allowed)
        self._sent = sent(self.run)  # as fresh processes get it: run has not been called yet

    def on(self, left: Any, right: Any) -> Draws:
        """Draw for another pair of data sets from now on."""
        self.data, self.single = {"left": left, "right": right}, False
        return self

    @property
    def _mechanism(self) -> Run:
        return OneByOne(self.run) if self.single else self.run

    def call_one_by_one(self) -> float:
        """Call run once for every output from now on; returns the approximate seconds per call.

        The calls are made in this process, where run is the caller's own object: a copy in a
        worker process says nothing about that object.
        """
        self.single = True
        started = time.perf_counter()
        self._mechanism(self.data["left"], 2)
        return max((time.perf_counter() - started) / 2, 1e-6)

    def training(self, size: int) -> dict[str, Outputs]:
        """Outputs to learn from, which are never counted: half of `size` on each side."""
        started = time.perf_counter()
        largest = min(_TRAINING_CALL, max(-(-size // 4), 1))
        outputs, _ = self._batches(dict.fromkeys(SIDES, size // 2), largest, size // 2)
        seconds = (time.perf_counter() - started) / max(size, 1)
        self._largest = _largest(outputs["left"], seconds)
        return outputs

    def count(
        self, events: Sequence[Event], size: int, side: str, share: float, keep: int
    ) -> tuple[dict[str, Outputs], dict[Event, Tally]]:
        """Count events on `size` fresh outputs, a share of them on this side.

        Returns some outputs of each side, too, about `keep`: events that are chosen later may
        learn from them.
        """
        many = min(max(round(size * share), 1), size - 1)
        sizes = {side: many, other(side): size - many}
        largest = min(self._largest, max(-(-min(sizes.values()) // _CALLS), _FEWEST))
        return self._batches(sizes, largest, keep, events)

    def _batches(
        self, sizes: dict[str, int], largest: int, keep: int, events: Sequence[Event] = ()
    ) -> tuple[dict[str, Outputs], dict[Event, Tally]]:
        """The first outputs of all calls, joined by sides, and the counts of events in all."""
        kept: dict[str, list[Outputs]] = {side: [] for side in SIDES}
        tallies = dict.fromkeys(events, Tally())
        for where, trials, outputs, hits in self._run_calls(sizes, largest, keep, [*tallies]):
            kept[where].append(outputs)
            for event, seen in zip(tallies, hits, strict=True):
                tallies[event] += Tally.counted(where, seen, trials)
        return {side: Outputs.joined(kept[side]) for side in SIDES}, tallies

    def recount(self, event: Event, tally: Tally) -> tuple[Tally, str]:
        """Count an event again, on as many outputs as before; what the second count rests on.

        Raises CopiedRandomness where the hits vary more or less than independent hits do.
        """
        sizes = {side: min(tally.of(side)[1], _MOST) for side in SIDES}
        plans = [_plan(sizes, i // 2, self._largest) for i in range(_PROCESSES)]
        answers = fresh.drawn_anew(self._sent, self.data, event, plans, self.single)
        basis = _HERE if answers is None else _FRESH
        if answers is None:
            plans = [_shuffled([call for plan in plans for call in plan], _PROCESSES)]
            answers = [fresh.counted(self._mechanism, self.data, event, plans[0])]
        again = Tally()
        for side in SIDES:
            groups = _groups(side, plans, answers)
            hits, trials = sum(int(one.sum()) for one in groups), sum(map(len, groups))
            for sign in (different(*tally.of(side), hits, trials), uneven(groups)):
                if sign:
                    raise CopiedRandomness(f"run returned copies ({side}: {sign})")
            again += Tally.counted(side, hits, trials)
        varied = again.mixed or any(mark for answer in answers for _, mark in answer)
        if basis is _HERE and not varied:
            raise CopiedRandomness(_CONSTANT)
        self._drew(again.left_trials + again.right_trials)
        counts = ", ".join(f"{side} {k} of {n}" for side in SIDES for k, n in (again.of(side),))
        return again, basis.format(processes=len(plans), counts=counts)

    def _run_calls(
        self, sizes: dict[str, int], largest: int, keep: int, events: list[Event]
    ) -> Iterator[tuple[str, int, Outputs, list[int]]]:
        """Make all calls; yields the side, the size, some outputs and the hits of each."""

        def first(side: str, size: int) -> int:
            return min(-(-keep * size // sizes[side]), size)

        tasks = (
            (
                (side, size),
                call,
                (self._mechanism, self.data[side], size, task_origin(), first(side, size), events),
            )
            for side, size in batches(sizes, largest)
        )
        executor = None if self.single else self.executor
        for (side, size), (outputs, hits, mark) in in_parallel(executor, tasks):
            self._calls.add(mark)
            self._drew(size)
            yield side, size, outputs, hits

    def _drew(self, size: int) -> None:
        self.total += size
        if self.progress is not None:
            self.progress(self.total)


def _largest(outputs: Outputs, seconds: float) -> int:
    """The number of outputs for a call that takes about _SECONDS and little memory."""
    size = int(_SECONDS / max(seconds, 1e-9))
    if outputs.matrix is not None:
        size = min(size, _BYTES // max(outputs.matrix[:1].nbytes, 1))
    return 1 << max(min(size, _LARGEST), _SMALLEST).bit_length() - 1


def _plan(sizes: dict[str, int], seed: int, largest: int) -> list[Request]:
    """The calls of one process, both sides in random order."""
    calls: list[Request] = []
    for side, size in sizes.items():
        share = -(-size // _PROCESSES)
        calls += [(side, min(largest, share - at)) for at in range(0, share, largest)]
    return _shuffled(calls, seed)


def _shuffled(calls: list[Request], seed: int) -> list[Request]:
    return [calls[i] for i in np.random.default_rng(seed).permutation(len(calls))]


def _groups(side: str, plans: list[list[Request]], answers: list[Drawn]) -> list[NDArray[np.bool_]]:
    """The hits of a side by processes; by calls where all are of one process."""
    groups = []
    for plan, answer in zip(plans, answers, strict=True):
        own = [hits for (where, _), (hits, _) in zip(plan, answer, strict=True) if where == side]
        groups += own if len(plans) == 1 else [np.concatenate(own)]
    return groups
