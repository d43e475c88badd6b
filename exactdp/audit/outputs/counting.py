"""Counts of events on two sides, and the calls that draw outputs: here, or by an executor."""

from __future__ import annotations

import os
import random
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Outputs, as_outputs
from exactdp.audit.outputs.copies import fingerprint
from exactdp.audit.outputs.event import Event
from exactdp.errors import InvalidParameter

SIDES = ("left", "right")
Run = Callable[[Any, int], Any]
#: The process that asks, and a random text: a scheduler that remembers the results of equal tasks,
#: as Dask does, must not answer with outputs that were counted before.
Origin = tuple[int, str]


def other(side: str) -> str:
    """The other side."""
    return "right" if side == "left" else "left"


@dataclass(frozen=True)
class Tally:
    """Hits and trials of one event on both sides; tallies of disjoint calls add up.

    mixed: calls in which the event happened for some outputs and not for others.
    """

    left: int = 0
    left_trials: int = 0
    right: int = 0
    right_trials: int = 0
    mixed: int = 0

    def __add__(self, more: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(more), strict=True)))

    def of(self, side: str) -> tuple[int, int]:
        """Hits and trials of one side."""
        if side == "left":
            return self.left, self.left_trials
        return self.right, self.right_trials

    def favouring(self, side: str) -> tuple[int, int, int, int]:
        """Hits and trials of a side, then of the other side."""
        return (*self.of(side), *self.of(other(side)))

    @classmethod
    def counted(cls, side: str, hits: int, trials: int) -> Tally:
        """What one call for one side contributes."""
        mixed = int(0 < hits < trials)
        if side == "left":
            return cls(hits, trials, mixed=mixed)
        return cls(0, 0, hits, trials, mixed)


@dataclass(frozen=True)
class OneByOne:
    """A mechanism that is called once for every output."""

    run: Run

    def __call__(self, data: Any, n: int) -> Outputs:
        calls = [self.run(data, 1) for _ in range(n)]
        if all(type(call) is list and len(call) == 1 for call in calls):
            return Outputs([call[0] for call in calls])
        return Outputs.joined([as_outputs(call, 1) for call in calls])


@dataclass(frozen=True)
class FeaturesOf:
    """A mechanism whose outputs are replaced by a function of them."""

    run: Run
    features: Callable[[Any], Any]

    def __call__(self, data: Any, n: int) -> Any:
        return [self.features(one) for one in as_outputs(self.run(data, n), n).raw]

    @classmethod
    def applied(cls, run: Run, features: Callable[[Any], Any] | None) -> Run:
        """run, with its outputs replaced where there is a function."""
        if features is None:
            return run
        if not callable(features):
            raise InvalidParameter("features", features, "None or a function of one output")
        return cls(run, features)


def batches(sizes: dict[str, int], largest: int) -> Iterator[tuple[str, int]]:
    """The side and size of each call: both sides in turn, until the sizes are reached."""
    left = dict(sizes)
    while any(left.values()):
        for side in SIDES:
            if left[side]:
                size = min(largest, left[side])
                yield side, size
                left[side] -= size


def call(
    run: Run, data: Any, size: int, origin: Origin, keep: int, events: Sequence[Event] = ()
) -> tuple[Outputs, list[int], str]:
    """The first outputs of one call, how often each event happens in all, and a fingerprint."""
    _reseed(origin[0])
    outputs = as_outputs(run(data, size), size)
    hits = [int(event.hits(outputs).sum()) for event in events]
    return Outputs.joined([outputs.take(0, keep)]), hits, fingerprint(outputs)


def task_origin() -> Origin:
    """The origin of one task that is about to be handed out."""
    return os.getpid(), secrets.token_hex(8)


def _reseed(parent: int) -> None:
    """Give a worker process its own global generators: a fork copies numpy's from its parent."""
    if os.getpid() not in (parent, _seeded["process"]):
        np.random.seed()  # the legacy state, which a mechanism may be using
        random.seed()
        _seeded["process"] = os.getpid()


_seeded = {"process": 0}


def in_parallel(
    executor: Executor | None, tasks: Iterable[tuple[Any, Callable[..., Any], tuple[Any, ...]]]
) -> Iterator[tuple[Any, Any]]:
    """Run (name, function, arguments) tasks; yields (name, result) in their order.

    A bounded number is under way at once, so any number of tasks needs constant memory.
    """
    if executor is None:
        for name, function, arguments in tasks:
            yield name, function(*arguments)
        return
    window = 3 * (getattr(executor, "_max_workers", None) or 8)
    running = deque[tuple[Any, Future[Any]]]()
    try:
        for name, function, arguments in tasks:
            running.append((name, executor.submit(function, *arguments)))
            if len(running) >= window:
                yield _first(running)
        while running:
            yield _first(running)
    finally:
        for _, future in running:
            future.cancel()


def _first(running: deque[tuple[Any, Future[Any]]]) -> tuple[Any, Any]:
    name, future = running.popleft()
    return name, future.result()
