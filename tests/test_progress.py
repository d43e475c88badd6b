"""Long work shows a bar, at a terminal only; the items are what they were."""

from __future__ import annotations

import io
import sys
import time

import pytest

from exactdp import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _watched(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float = 0
) -> io.StringIO:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    return stream


@pytest.mark.parametrize(
    ("stream", "items", "visible"),
    [(Terminal, 20_000, True), (io.StringIO, 20_000, False), (Terminal, 100, False)],
)
def test_a_bar_is_shown_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], items: int, visible: bool
) -> None:
    written = _watched(monkeypatch, stream())
    assert list(progress.watched(range(items), "counters")) == list(range(items))
    assert ("counters" in written.getvalue()) == visible


@pytest.mark.parametrize(("stream", "visible"), [(Terminal, True), (io.StringIO, False)])
def test_a_bar_of_parts(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], visible: bool
) -> None:
    written = _watched(monkeypatch, stream())
    with progress.bar(20_000, "polynomial") as done:
        for _ in range(4):
            done(5_000)
    assert ("polynomial" in written.getvalue()) == visible
    with progress.bar(20, "polynomial") as done:
        done(20)


@pytest.mark.few(1)
@pytest.mark.parametrize(("stream", "visible"), [(Terminal, True), (io.StringIO, False)])
def test_work_of_unknown_size_is_counted(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], visible: bool
) -> None:
    written = _watched(monkeypatch, stream())
    progress.tick()  # nobody watches
    with progress.counted("certifying"):
        for _ in range(3):
            time.sleep(0.11)  # it is drawn ten times a second
            progress.tick()
    assert ("certifying: 3 steps" in written.getvalue()) == visible


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "visible"), [(Terminal, True), (io.StringIO, False)])
def test_time_is_shown_during_a_single_long_step(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], visible: bool
) -> None:
    written = _watched(monkeypatch, stream(), 0.1)
    with progress.counted("calibrating"):
        assert "calibrating" not in written.getvalue()
        time.sleep(1)
        assert ("calibrating, 00:" in written.getvalue()) == visible
    ended = written.getvalue()
    time.sleep(0.6)
    assert written.getvalue() == ended
