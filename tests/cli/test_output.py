"""Files that appear together or not at all, whenever a signal arrives."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from exactdp.cli import output

NEW = {"out.csv": "new", "out.json": "newer"}
OLD = {"out.csv": "old", "out.json": "older"}


class Stopped(BaseException):
    """Raised by the signal's handler."""


def _stop(*_: object) -> None:
    raise Stopped


@pytest.fixture
def stopping() -> Iterator[None]:
    before, other = signal.signal(signal.SIGTERM, _stop), signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is other
    signal.signal(signal.SIGTERM, before)


def _written(folder: Path, at: int, overwrite: bool) -> tuple[dict[str, str], bool]:
    """What is there after a signal at so many lines of the module, and whether so many came."""
    folder.mkdir()
    if overwrite:
        for name, text in OLD.items():
            (folder / name).write_text(text)
    lines = count(1)
    sent = False

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal sent
        if frame.f_code.co_filename != output.__file__:
            return None
        if event == "line" and next(lines) == at:
            sys.settrace(None)
            sent = True
            signal.raise_signal(signal.SIGTERM)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        paths = [folder / name for name in NEW]
        with output.written(*paths, overwrite=overwrite) as parts:
            for part, text in zip(parts, NEW.values(), strict=True):
                part.write_text(text)
        stopped = False
    except Stopped:
        stopped = True
    finally:
        sys.settrace(before)
    assert stopped == sent
    assert signal.getsignal(signal.SIGTERM) is _stop
    return {path.name: path.read_text() for path in folder.iterdir()}, sent


# a file that is open as the exception comes is closed by the collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("stopping")
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_signal_at_any_line_leaves_both_or_neither(tmp_path: Path, overwrite: bool) -> None:
    seen = []
    for at in count(1):
        found, sent = _written(tmp_path / str(at), at, overwrite)
        assert found in (NEW, OLD if overwrite else {}), at
        seen.append(found)
        if not sent:
            break
    assert seen[-1] == NEW
    assert seen[0] != NEW
