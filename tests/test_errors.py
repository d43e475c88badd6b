"""All errors stand in one module as one tree; what is defined elsewhere never reaches a user."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import io
import pickle
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import exactdp
from exactdp import errors

PACKAGE = Path(exactdp.__file__).parent
TEXTS = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def _exceptions(module: ModuleType) -> dict[str, type]:
    classes = {name: value for name, value in vars(module).items() if inspect.isclass(value)}
    return {name: kind for name, kind in classes.items() if issubclass(kind, BaseException)}


CLASSES = _exceptions(errors)
MADE: list[Exception] = [
    errors.InvalidParameter("sigma", Fraction(-1, 2), "> 0"),
    errors.UnreadableEvent("an event", errors.Undecided("too wide")),
    errors.TooLong(7),
    errors.TooCoarse(),
    errors.NotPlain("set", "sorted(x)"),
    errors.CopiedRandomness("two calls agree"),
    errors.RandomnessError("12 bytes"),
]


def _tree(docstring: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each class with its bases, read from indented lines: ``Name (further base)``."""
    above: list[str] = []
    for indent, name, further in re.findall(r"^ {4}( *)(\w+)(?: \((\w+)\))?$", docstring, re.M):
        above[len(indent) // 4 :] = [name]
        bases = [*above[-2:-1], *filter(None, [further])]
        yield name, tuple(bases or ["Exception"])


def test_the_docstring_shows_the_tree() -> None:
    real = {name: tuple(base.__name__ for base in kind.__bases__) for name, kind in CLASSES.items()}
    assert dict(_tree(errors.__doc__ or "")) == real
    assert set(errors.__all__) == {*real, "Described", "one_line"}


def _signals() -> dict[str, list[str]]:
    """All classes of exceptions that are defined outside of errors.py, with their bases."""
    known = {*_exceptions(builtins), *CLASSES}
    source = "\n".join(text for path, text in TEXTS.items() if path.name != "errors.py")
    classes = re.findall(r"^ *class (\w+)\(([^)]*)\)", source, re.M)
    signals: dict[str, list[str]] = {}
    for _ in range(3):  # a class may stand before its base
        for name, bases in classes:
            if {*known, *signals} & set(re.findall(r"\w+", bases)):
                signals[name] = re.findall(r"\w+", bases)
    return signals


def test_other_exceptions_are_signals_that_exactdp_catches() -> None:
    handlers = re.findall(r"except (.*):|suppress\((.*?)\)", "\n".join(TEXTS.values()))
    caught = set(re.findall(r"\w+", str(handlers)))
    signals = _signals()
    assert {"RunOver", "Suspended", "_Unreadable"} <= set(signals)
    for name, bases in signals.items():
        assert {"Signal", *signals} & set(bases), f"{name} must derive from Signal"
        assert {name, *signals.keys() & set(bases)} & caught, f"{name} is caught nowhere"


def test_no_room_offers_a_signal() -> None:
    stubs = " ".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.pyi"))
    assert not set(_signals()) & set(re.findall(r"\w+", stubs))


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_comes_out_of_another_process_as_it_went_in(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_rooms_offer_the_errors_that_they_raise() -> None:
    from exactdp import audit, frames
    from exactdp.accounting import pld
    from exactdp.audit import code

    offered = [exactdp.ExactDPError, exactdp.InvalidParameter, exactdp.Undecided, pld.Exhausted]
    offered += [frames.EngineError, audit.CopiedRandomness, code.NotEnumerable]
    assert offered == [getattr(errors, kind.__name__) for kind in offered]


def test_a_notebook_shows_one_line() -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        shell.run_cell(
            "from exactdp.accounting import gaussian\ngaussian.delta(sigma=0, epsilon=1)"
        )
    assert out.getvalue().strip() == "InvalidParameter: sigma must be > 0, got 0"
