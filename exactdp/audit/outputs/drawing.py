"""What an audit draws from a mechanism: outputs to learn from, and counts of events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.copies import Calls
from exactdp.audit.outputs.counting import (
    SIDES,
    OneByOne,
    Run,
    Tally,
    batches,
    count,
    draw,
    in_parallel,
    other,
    task_origin,
)
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.fresh import sent
from exactdp.audit.outputs.recount import Recount, recount
from exactdp.errors import InvalidParameter

__all__ = ["Draws"]

_TRAINING_CALL = 8192  # outputs of a call in training, at most
_BYTES = 1 << 24  # of the numbers that one call returns
_LARGEST, _SMALLEST = 1 << 18, 1 << 10  # outputs of a call
_SECONDS = 0.25  # one call should take about so long
_CALLS = 4  # for each side and count, at least: what is equal within a call differs between calls
_FEWEST = 64  # outputs of a call, unless there are fewer in all


@dataclass
class Draws:
    """Outputs of run on two data sets, drawn call by call; nothing is drawn twice.

    data: side -> data set. progress: called with `drawn`, the number of outputs so far. single:
    whether run is called once for every output.
    """

    run: Run
    data: dict[str, Any]
    executor: Executor | None = None
    progress: Callable[[int], object] | None = None
    single: bool = False
    drawn: int = 0
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
        """Call run once for every output from now on; returns about how many seconds one takes.

        Only here, where run is the caller's own object: a copy of it in a worker process says
        nothing about it.
        """
        self.single = True
        started = time.perf_counter()
        self._mechanism(self.data["left"], 2)
        return max((time.perf_counter() - started) / 2, 1e-6)

    def training(self, size: int) -> tuple[Outputs, Outputs]:
        """Outputs of both sides, half of so many each; they are to learn from, never counted."""
        started = time.perf_counter()
        drawn: dict[str, list[Outputs]] = {side: [] for side in SIDES}
        largest = min(_TRAINING_CALL, max(-(-size // 4), 1))
        for side, _, outputs in self._made(draw, dict.fromkeys(SIDES, size // 2), largest):
            drawn[side].append(outputs)
        seconds = (time.perf_counter() - started) / max(size, 1)
        left, right = (Outputs.joined(drawn[side]) for side in SIDES)
        self._largest = _largest(left, seconds)
        return left, right

    def count(
        self, events: Sequence[Event], size: int, side: str, share: float
    ) -> dict[Event, Tally]:
        """Count events on so many fresh outputs, a share of them for one side."""
        many = min(max(round(size * share), 1), size - 1)
        sizes = {side: many, other(side): size - many}
        largest = min(self._largest, max(-(-min(sizes.values()) // _CALLS), _FEWEST))
        tallies = dict.fromkeys(events, Tally())
        for where, trials, hits in self._made(count, sizes, largest, [*tallies]):
            for event, seen in zip(tallies, hits, strict=True):
                tallies[event] += Tally.counted(where, seen, trials)
        return tallies

    def recount(self, event: Event, tally: Tally) -> Recount:
        """Count an event again, in fresh processes where that is possible."""
        again = recount(
            self._mechanism, self._sent, self.data, event, tally, self.single, self._largest
        )
        self._drew(again.tally.left_trials + again.tally.right_trials)
        return again

    def _made(
        self, function: Callable[..., Any], sizes: dict[str, int], largest: int, *more: Any
    ) -> Iterator[tuple[str, int, Any]]:
        """What a function makes of every call: the side, the size, and the result."""
        tasks = (
            ((side, size), function, (self._mechanism, self.data[side], size, task_origin(), *more))
            for side, size in batches(sizes, largest)
        )
        executor = None if self.single else self.executor
        for (side, size), (found, mark) in in_parallel(executor, tasks):
            self._calls.add(mark)
            self._drew(size)
            yield side, size, found

    def _drew(self, size: int) -> None:
        self.drawn += size
        if self.progress is not None:
            self.progress(self.drawn)


def _largest(outputs: Outputs, seconds: float) -> int:
    """Outputs of a call that takes a moment and little memory."""
    size = int(_SECONDS / max(seconds, 1e-9))
    if outputs.matrix is not None:
        size = min(size, _BYTES // max(outputs.matrix[:1].nbytes, 1))
    return 1 << max(min(size, _LARGEST), _SMALLEST).bit_length() - 1
