"""Files that appear together or not at all, whenever a signal arrives."""

from __future__ import annotations

import os
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
            (folder / name).write_text(text, encoding="utf-8")
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
                part.write_text(text, encoding="utf-8")
        stopped = False
    except Stopped:
        stopped = True
    finally:
        sys.settrace(before)
    assert stopped == sent
    assert signal.getsignal(signal.SIGTERM) is _stop
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}, sent


# a file that is open as the exception comes is closed by the collector
@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("stopping")
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_signal_at_any_line_leaves_both_or_neither(tmp_path: Path, overwrite: bool) -> None:
    seen = []
    for at in count(1):
        files, sent = _written(tmp_path / str(at), at, overwrite)
        assert files in (NEW, OLD if overwrite else {}), at
        seen.append(files)
        if not sent:
            break
    assert seen[-1] == NEW
    assert seen[0] != NEW


_MOVES = ("replace", "rename", "link")


def _contents(folder: Path) -> dict[str, str]:
    return {
        path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name in NEW
    }


def _overwrite(folder: Path) -> None:
    paths = [folder / name for name in NEW]  # the data, and what describes the data
    with output.written(*paths, overwrite=True) as parts:
        for part, text in zip(parts, NEW.values(), strict=True):
            part.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("present", [("out.csv", "out.json"), ("out.csv",), ("out.json",)])
@pytest.mark.parametrize("lasting", [False, True])
def test_no_description_stands_beside_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: tuple[str, ...], lasting: bool
) -> None:
    """Each move in turn fails, alone or with all later ones; readers look after each move."""
    failures = 0
    for at in count(1):
        folder = tmp_path / str(at)
        folder.mkdir()
        before = {name: OLD[name] for name in present}
        for name, text in before.items():
            (folder / name).write_text(text, encoding="utf-8")
        moves, views = count(1), [_contents(folder)]
        with monkeypatch.context() as patch:
            for name in _MOVES:
                patch.setattr(os, name, _failing(getattr(os, name), moves, at, lasting))
            sys.setprofile(lambda *_, views=views, folder=folder: views.append(_contents(folder)))
            try:
                _overwrite(folder)
                failed = False
            except OSError as error:
                assert str(error) == "no"
                failed = True
            finally:
                sys.setprofile(None)
        after = _contents(folder)
        for view in views:
            assert view.keys() <= {"out.csv"} or view in (before, NEW, {"out.json": "older"}), at
        if not failed:
            assert after == NEW
            assert sorted(path.name for path in folder.iterdir()) == sorted(NEW)
            break
        failures += 1
        if not lasting:
            assert after == before
            assert sorted(path.name for path in folder.iterdir()) == sorted(before)
    assert failures >= len(NEW)


def _failing(move: Any, moves: Iterator[int], at: int, lasting: bool) -> Any:
    def wrapped(*arguments: Any, **options: Any) -> None:
        number = next(moves)
        if number == at or (lasting and number > at):
            raise OSError("no")
        move(*arguments, **options)

    return wrapped


def test_one_file_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old", encoding="utf-8")
    views = []
    sys.setprofile(lambda *_: views.append(path.exists()))
    try:
        output.write_file(path, "new", overwrite=True)
    finally:
        sys.setprofile(None)
    assert all(views)
    assert path.read_text(encoding="utf-8") == "new"
