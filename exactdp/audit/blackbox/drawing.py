"""What every audit does with outputs: draws them, learns copies from them, counts events."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.audit.blackbox.copies import Seen
from exactdp.audit.blackbox.fresh import sent
from exactdp.audit.blackbox.identity import identity
from exactdp.audit.blackbox.independence import (
    Calls,
    OneByOne,
    RepeatedCalls,
    between,
    refuse,
    repeats,
    together,
)
from exactdp.audit.blackbox.state import Chosen, State
from exactdp.audit.blackbox.tally import (
    Checkpoint,
    Done,
    Run,
    Tally,
    batches,
    count,
    draw,
    here,
    in_parallel,
)
from exactdp.audit.bounds.evidence import Lines
from exactdp.audit.events.candidates import Candidate
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import Outputs
from exactdp.audit.events.search import search
from exactdp.audit.promises import Promise
from exactdp.errors import InvalidParameter

__all__ = ["ALIKE", "REPEATED", "SIDES", "TRAINING", "Drawing", "callable_or_none"]

SIDES = ("left", "right")
TRAINING = 8192
_SINGLY = "run was called once for every output, because its calls returned {}"
REPEATED, ALIKE = "the same outputs again", "outputs that are all alike"
_BYTES = 1 << 24  # of one batch of numbers
_LARGEST = 1 << 18
_SMALLEST = 1 << 10
_SECONDS = 0.25  # one batch should take about so long; checkpoints are that far apart


def callable_or_none(name: str, value: object) -> None:
    """Raise InvalidParameter for anything else."""
    if value is not None and not callable(value):
        raise InvalidParameter(name, value, "None or a function of the number of outputs so far")


@dataclass
class Drawing:
    run: Run
    data: dict[str, Any]
    promise: Promise
    samples: int
    alpha: Fraction
    fixed: list[Chosen] | None
    share: float = 0.5
    executor: Executor | None = None
    checkpoint: Checkpoint | None = None
    progress: Callable[[int], object] | None = None
    state: State = field(default_factory=State)
    marks: Seen = field(default_factory=Seen)
    windows: Seen = field(default_factory=Seen)
    saved: float = 0.0
    sent: bytes | None = None  # run, as it was before its first call

    def __post_init__(self) -> None:
        callable_or_none("progress", self.progress)
        self.sent = sent(self.run) if self.sent is None else self.sent

    @cached_property
    def _lines(self) -> Lines:
        return self.promise.lines()

    @property
    def _mechanism(self) -> Run:
        return OneByOne(self.run) if self.state.one_by_one else self.run

    def _note(self, marks: list[str]) -> None:
        if not self.state.one_by_one and self.marks.again(marks):
            raise RepeatedCalls

    def fingerprint(self) -> str:
        """What an audit is, in a hash: a checkpoint of another one is refused."""
        parts = [
            identity(self.run),
            identity(self.data["left"]),
            identity(self.data["right"]),
            self.promise.as_dict(),
            *map(str, (self.samples, self.alpha)),
            None if self.fixed is None else [one.as_dict() for one in self.fixed],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def call_anew(self, reason: str) -> None:
        """Start this look again, calling run once per output; nothing counted so far is used.

        Only here, where run is the caller's own object: a copy of it in a worker process says
        nothing about it.
        """
        state = self.state
        state.ready, state.done = False, Done()
        state.tallies, state.chosen, state.values = {}, [], {}
        self._call_singly(reason)

    def _call_singly(self, reason: str) -> None:
        self.state.one_by_one, self.executor = True, None
        self.state.warning = _SINGLY.format(reason)

    def search(self, left: Outputs, right: Outputs, known: list[Event]) -> list[Candidate]:
        """The events that speak most against the promise; what was looked at is noted."""
        looked, data = Counter[str](), (self.data["left"], self.data["right"])
        found = search(
            left, right, data, self._lines, self.promise.loss, known,
            told=lambda feature: looked.update([feature[0]]),
        )  # fmt: skip
        self.state.looked = dict(looked.most_common())
        return found

    def training(self, size: int) -> tuple[Outputs, Outputs]:
        """Outputs of both sides, half of so many each; they are to learn from, never counted."""
        sizes = dict.fromkeys(SIDES, size // 2)
        plan = list(batches(sizes, min(TRAINING, max(-(-size // 4), 1))))  # two calls a side
        origin = here()
        tasks = [(b, draw, (self._mechanism, self.data[b.side], b, origin)) for b in plan]
        started = time.perf_counter()
        parts: dict[int, Outputs] = {}
        for batch, (outputs, seen, sign) in in_parallel(self.executor, tasks):
            parts[batch.number] = outputs
            self._note(seen)
            refuse(sign and f"{batch.side}: {sign}")
        self.state.drawn += 2 * (size // 2)
        calls = [[parts[b.number] for b in plan if b.side == side] for side in SIDES]
        joined = [Outputs.joined(side) for side in calls]
        for sign in (*map(between, calls), *map(repeats, joined), together(*joined)):
            refuse(sign)
        self.state.largest = _largest(joined[0], (time.perf_counter() - started) / max(size, 1))
        self._report_progress()
        return joined[0], joined[1]

    def _confirm(self) -> None:
        """Count the chosen events on fresh outputs; only the counts are kept."""
        state = self.state
        events = [one.event for one in state.chosen]
        origin = here()
        tasks = (
            (batch, count, (self._mechanism, self.data[batch.side], batch, origin, events))
            for batch in batches(state.sizes, state.largest)
            if batch.number not in state.done
        )
        calls = Calls()
        for batch, found in in_parallel(self.executor, tasks):
            self._note(found.marks)
            refuse(found.sign and f"{batch.side}: {found.sign}")
            if self.windows.again(found.windows):
                refuse(f"{batch.side}: a long stretch of outputs came before")
            state.note_value(batch.side, found.only)
            for event, number in dict(zip(events, found.hits, strict=True)).items():
                calls.add(event, batch.side, number, batch.size)
                new = Tally.counted(batch.side, number, batch.size)
                state.tallies[event] = state.tallies.get(event, Tally()) + new
            state.done.add(batch.number)
            state.drawn += batch.size
            self._save()
            self._report_progress()
        self._save(force=True)

    def _save(self, force: bool = False) -> None:
        now = time.monotonic()
        if self.checkpoint is not None and (force or now - self.saved > _SECONDS):
            self.checkpoint.save(self.state.as_dict())
            self.saved = now

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.state.drawn)


def _largest(outputs: Outputs, seconds: float) -> int:
    """A batch size that takes a moment and little memory."""
    size = int(_SECONDS / max(seconds, 1e-9))
    if outputs.matrix is not None:
        size = min(size, _BYTES // max(outputs.matrix[:1].nbytes, 1))
    return 1 << max(min(size, _LARGEST), _SMALLEST).bit_length() - 1
