"""Recording the evidence of assertions, for the pytest plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_recorder: ContextVar[Callable[[str], object] | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Callable[[str], object]) -> Iterator[None]:
    """Inside the block, call recorder with the evidence of every assertion that passes."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def record(evidence: str) -> None:
    """Pass evidence to the current recorder, if any."""
    recorder = _recorder.get()
    if recorder:
        recorder(evidence)
