"""Text with an address is seen while a program is followed, and everything is as it was after."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactdp.audit import foreign_law
from exactdp.audit.whitebox import slots
from exactdp.audit.whitebox.slots import (
    METHODS,
    WRAPPED,
    below,
    memory,
    methods_in_c,
    places,
    writer,
)
from exactdp.audit.whitebox.texts import told, witnessed
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible


class Thing:
    pass


class Named:
    def __repr__(self) -> str:
        return "Named()"


class Failing:
    @property
    def __name__(self) -> str:  # a weak reference writes it
        raise LookupError("no name")


def written(write: Callable[[], Any]) -> tuple[bool, str]:
    """Whether an address was told of, and what was written."""
    seen: list[types.FrameType] = []
    with told(), witnessed(seen.append):
        text = write()
    return bool(seen), text


def all_slots() -> dict[tuple[type, str], tuple[int, list[int]]]:
    found = {}
    for kind in below(object):
        for method in METHODS:
            own = memory()[places(methods_in_c([kind], method)) + WRAPPED]
            found[kind, method] = writer(kind, method), own.tolist()
    return found


@pytest.mark.parametrize("write", [repr, str, lambda x: f"{x}", lambda x: f"{[x]}", ascii])
@pytest.mark.parametrize("thing", [Thing(), len, Thing, (i for i in ()), lambda: 0, Named.__init__])
def test_what_is_written_does_not_change(write: Callable[[Any], str], thing: Any) -> None:
    plain = write(thing)
    assert written(lambda: write(thing)) == (" at 0x" in plain or thing is len, plain)


@pytest.mark.parametrize("plain", [3, "a", [2.5], Named(), ValueError(3), np.zeros(2), int, None])
def test_content_is_not_told(plain: Any) -> None:
    assert written(lambda: f"{plain} {plain!r}") == (False, f"{plain} {plain!r}")


def test_everything_is_as_it_was() -> None:
    before = all_slots()
    with told():
        changed = all_slots()
        assert changed[Thing, "__repr__"] != before[Thing, "__repr__"]

        class Later(Thing):
            __repr__ = object.__repr__

        assert written(lambda: repr(Later()))[0]
    after = all_slots()
    assert {key: after[key] for key in before} == before
    assert after[Later, "__repr__"] == before[object, "__repr__"]
    assert repr(np.array([1.5])) == "array([1.5])"


def test_what_a_text_raises_is_passed_on() -> None:
    thing = Failing()
    with told(), pytest.raises(LookupError, match="no name"):
        repr(weakref.ref(thing))


def test_another_thread_is_left_alone() -> None:
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(repr(Thing())))

    def run() -> None:
        thread.start()
        thread.join()

    assert written(run) == (False, None)
    assert texts[0].startswith("<tests.audit.test_texts.Thing object at 0x")


def test_an_audit_inside_an_audit() -> None:
    with told():
        assert len(foreign_law(lambda rng: f"{rng.randrange(2)} {Named()}")) == 2
        assert written(lambda: str(Thing()))[0]
    with pytest.raises(NotReproducible, match="where an object is in memory"):
        foreign_law(lambda rng: len(f"{Thing()}") > rng.randrange(2))


def test_an_unknown_build_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "_is_as_expected", lambda: False)
    with pytest.raises(NotEnumerable, match="build of Python"):
        writer(int, "__repr__")
