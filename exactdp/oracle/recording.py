"""Who wants to know what an assertion has shown: nobody, or the pytest plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_recorder: ContextVar[Callable[[str], object] | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Callable[[str], object]) -> Iterator[None]:
    """Inside the block, recorder is called with the evidence of every assertion that passes."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def record(evidence: str) -> None:
    """Pass evidence on to whoever records."""
    recorder = _recorder.get()
    if recorder:
        recorder(evidence)
