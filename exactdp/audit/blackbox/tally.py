"""Counts that merge, batches that are counted once, and a file that survives being killed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from exactdp.audit.blackbox.copies import only, windows
from exactdp.audit.blackbox.independence import mark, repeats
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import Outputs, as_outputs
from exactdp.errors import InvalidParameter

__all__ = [
    "Batch",
    "Checkpoint",
    "Counted",
    "Done",
    "Run",
    "Tally",
    "batches",
    "count",
    "draw",
    "here",
    "in_parallel",
]

Run = Callable[[Any, int], Any]
#: The process that asks, and a word of its own: a scheduler that remembers the results of equal
#: tasks (Dask does) must not answer with outputs that were counted before.
Origin = tuple[int, str]
FORMAT = 5


@dataclass(frozen=True)
class Tally:
    """Hits and trials of one event on both sides; tallies of disjoint batches add up.

    mixed: batches in which it happened for some outputs and not for others.
    """

    left: int = 0
    left_trials: int = 0
    right: int = 0
    right_trials: int = 0
    mixed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.left + other.left,
            self.left_trials + other.left_trials,
            self.right + other.right,
            self.right_trials + other.right_trials,
            self.mixed + other.mixed,
        )

    def of(self, side: str) -> tuple[int, int]:
        """Hits and trials of one side."""
        if side == "left":
            return self.left, self.left_trials
        return self.right, self.right_trials

    def as_list(self) -> list[int]:
        """The five numbers."""
        return [self.left, self.left_trials, self.right, self.right_trials, self.mixed]

    @classmethod
    def counted(cls, side: str, hits: int, trials: int) -> Tally:
        """What one batch of one side contributes."""
        mixed = int(0 < hits < trials)
        if side == "left":
            return cls(hits, trials, mixed=mixed)
        return cls(0, 0, hits, trials, mixed)


@dataclass(frozen=True)
class Batch:
    """So many outputs of one side; the number is its identity within the round."""

    number: int
    side: str
    size: int


def here() -> Origin:
    """An origin for tasks that are about to be handed out."""
    return os.getpid(), secrets.token_hex(8)


def batches(sizes: dict[str, int], largest: int) -> Iterator[Batch]:
    """The batches of a round, the same every time: sides in turn, each at most so large."""
    number, left = 0, dict(sizes)
    while any(left.values()):
        for side in ("left", "right"):
            if left[side]:
                size = min(largest, left[side])
                yield Batch(number, side, size)
                left[side] -= size
                number += 1


def draw(run: Run, data: Any, batch: Batch, origin: Origin) -> tuple[Outputs, list[str], str]:
    """Outputs for training, the batch's marks, and signs of dependence."""
    _reseed(origin[0])
    size = batch.size
    outputs = as_outputs(run(data, size), size)
    return outputs, mark(outputs), repeats(outputs)


@dataclass(frozen=True)
class Counted:
    """What is kept of a batch: hits of each event, marks, signs of dependence, see copies.py."""

    hits: list[int]
    marks: list[str]
    sign: str
    windows: list[str]
    only: str


def count(run: Run, data: Any, batch: Batch, origin: Origin, events: Sequence[Event]) -> Counted:
    """How often each event happens among fresh outputs, and what tells copies."""
    _reseed(origin[0])
    size = batch.size
    outputs = as_outputs(run(data, size), size)
    found = [event.hits(outputs) for event in events]
    stretches = [f"{i} {text}" for i, hits in enumerate(found) for text in windows(hits)]
    hits = [int(each.sum()) for each in found]
    return Counted(hits, mark(outputs), repeats(outputs), stretches, only(outputs))


def _reseed(parent: int) -> None:
    """Give a worker process its own global generators: a fork copies numpy's from its parent."""
    if os.getpid() not in (parent, _seeded["process"]):
        np.random.seed()  # the legacy state is what a mechanism may be using
        random.seed()
        _seeded["process"] = os.getpid()


_seeded = {"process": 0}


def in_parallel(
    executor: Executor | None, tasks: Iterable[tuple[Any, Callable[..., Any], tuple[Any, ...]]]
) -> Iterator[tuple[Any, Any]]:
    """Run (name, function, arguments) tasks; yields (name, result) as they finish.

    A bounded number is under way at once, so any number of tasks needs constant memory.
    """
    if executor is None:
        for name, function, arguments in tasks:
            yield name, function(*arguments)
        return
    window = 3 * (getattr(executor, "_max_workers", None) or 8)
    running: dict[Future[Any], Any] = {}
    try:
        for name, function, arguments in tasks:
            running[executor.submit(function, *arguments)] = name
            if len(running) >= window:
                yield from _finished(running)
        while running:
            yield from _finished(running)
    finally:
        for future in running:
            future.cancel()


def _finished(running: dict[Future[Any], Any]) -> Iterator[tuple[Any, Any]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        name = running.pop(future)
        yield name, future.result()


@dataclass
class Done:
    """Which batches of a round are counted: all below a number, and some beyond it."""

    below: int = 0
    beyond: set[int] = field(default_factory=set)

    def __contains__(self, number: int) -> bool:
        return number < self.below or number in self.beyond

    def add(self, number: int) -> None:
        """Note a batch."""
        self.beyond.add(number)
        while self.below in self.beyond:
            self.beyond.remove(self.below)
            self.below += 1

    def as_list(self) -> list[int]:
        """For JSON."""
        return [self.below, *sorted(self.beyond)]

    @classmethod
    def from_list(cls, numbers: list[int]) -> Done:
        """What as_list() wrote."""
        return cls(numbers[0], set(numbers[1:]))


@dataclass(frozen=True)
class Checkpoint:
    """A JSON file that holds an audit's state; replaced whole, so a kill never leaves half of it.

    path: of the file. fingerprint: of the audit it belongs to.
    """

    path: Path
    fingerprint: str

    def load(self) -> dict[str, Any] | None:
        """The state saved, or None where there is no file.

        Raises InvalidParameter for a file that belongs to another audit, or is none of ours.
        """
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InvalidParameter("checkpoint", str(self.path), "a file in a folder that exists")
        try:
            state = json.loads(self.path.read_text(encoding="utf-8"))
            whole = state.pop("checksum") == _checksum(state)
            found = state["fingerprint"], state["format"]
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            whole = False
        if not whole:
            allowed = "an audit's checkpoint as it was written"
            raise InvalidParameter("checkpoint", str(self.path), allowed)
        if found != (self.fingerprint, FORMAT):
            raise InvalidParameter(
                "checkpoint",
                str(self.path),
                "a new file, or the checkpoint of this very audit (same run, data sets, promise, "
                "samples, alpha, events); it belongs to another audit",
            )
        return dict(state)

    def save(self, state: dict[str, Any]) -> None:
        """Write the state to a temporary file beside, and move it into place."""
        whole = {"format": FORMAT, "fingerprint": self.fingerprint, **state}
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        whole["checksum"] = _checksum(whole)
        try:
            temporary.write_text(json.dumps(whole), encoding="utf-8")
            os.replace(temporary, self.path)
        except BaseException:  # Ctrl-C as well
            temporary.unlink(missing_ok=True)
            raise


def _checksum(state: dict[str, Any]) -> str:
    """Of the text, in which order and all numbers come back as they were."""
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()
