"""What a check compared, and how near it came: claims loaded with every comparison recorded.

`watched()` rewrites the modules of claims as they are imported. The claims themselves say nothing
about it, and run unchanged everywhere else.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import operator
import sys
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from flint import arb, fmpq

from exactdp.balls import ball
from exactdp.proofs_check.claim import Check, Counterexample
from exactdp.proofs_check.instrument import RECORDER, Loops, rewritten

__all__ = ["Passed", "Run", "Site", "closeness", "observe", "watched"]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "In": lambda part, whole: part in whole,
    "NotIn": lambda part, whole: part not in whole,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
_EXACT = {"Eq", "In", "Is"}  # what is equal, or one of these, is as near as can be

Site = tuple[str, ...]
Point = dict[str, str]


@dataclass
class Passed:
    """A requirement at one place: how often it held, its nearest approach, the loop variables."""

    times: int = 0
    nearest: float | None = None
    seen: dict[str, set[str]] = field(default_factory=dict)


@dataclass
class Run:
    """One run of a check: what it passed, in which order, and where it failed."""

    passed: dict[Site, Passed] = field(default_factory=dict)
    last: Site | None = None
    failed: Site | None = None
    point: Point = field(default_factory=dict)
    raised: str = ""


class _Recorder:
    """Receives the comparisons of the check that is running."""

    def __init__(self) -> None:
        self.run = Run()
        self.pending: list[float | None] = []
        self.pardoned: Set[Site] = frozenset()
        self.loops: Loops = {}

    def enter(self) -> None:
        self.pending.clear()

    def gap(self, name: str, left: Any, right: Any, tolerance: Any) -> Any:
        self.pending.append(closeness(left, right))
        return _OPERATORS[name](abs(left - right), tolerance)

    def difference(self, name: str, left: Any, right: Any, bound: Any) -> Any:
        self.pending.append(closeness(left, right))
        return _OPERATORS[name](left - right, bound)

    def compare(self, operators: str, *values: Any) -> Any:
        result: Any = True
        for name, (left, right) in zip(operators.split(), pairwise(values), strict=True):
            result = _OPERATORS[name](left, right)
            if name in _EXACT and result:
                self.pending.append(1.0)
            elif name in ("Eq", "Lt", "LtE", "Gt", "GtE"):
                self.pending.append(closeness(left, right))
            if not result:
                break
        return result

    def related(self, holds: Any) -> Any:
        """Two balls overlap, or one thing contains another: as near as can be."""
        if holds:
            self.pending.append(1.0)
        return holds

    def judged(self, *values: Any) -> Any:
        """The requirement with the value given last has been evaluated by the calling frame."""
        return self._record(values[-1], sys._getframe(1)) or values[-1]

    def box(self, prove: Callable[..., int], *args: Any, **more: Any) -> int:
        """A proof over a box counts as near when the box had to be cut."""
        self.pending.clear()
        try:
            parts = prove(*args, **more)
        except Counterexample:
            if self._record(False, sys._getframe(1)):
                return 0
            raise
        self.pending.append(1.0 if parts > 1 else None)
        self._record(True, sys._getframe(1))
        return parts

    def _record(self, holds: Any, frame: FrameType) -> bool:
        """Whether a failure at this place is pardoned."""
        site, point = self._place(frame)
        near = [value for value in self.pending if value is not None]
        self.pending.clear()
        if not holds:
            if site in self.pardoned:
                return True
            self.run.failed, self.run.point = site, point
            return False
        self.run.last = site
        passed = self.run.passed.setdefault(site, Passed())
        passed.times += 1
        passed.nearest = max(
            [*near, *([] if passed.nearest is None else [passed.nearest])], default=None
        )
        for name, value in point.items():
            passed.seen.setdefault(name, set()).add(value)
        return False

    def _place(self, frame: FrameType | None) -> tuple[Site, Point]:
        """The lines that led here, innermost first, and the loop variables on the way."""
        site: list[str] = []
        point: Point = {}
        while frame:
            code = frame.f_code
            if RECORDER in frame.f_globals:
                module = str(frame.f_globals["__name__"]).rpartition(".")[2]
                site.append(f"{module}:{frame.f_lineno}" if code.co_name != "<lambda>" else "")
                for name in self.loops.get(_key(code), ()):
                    value = frame.f_locals.get(name)
                    if _is_chosen(value):
                        point[f"{code.co_name}.{name}"] = repr(value)[:200]
            frame = frame.f_back
        return tuple(part for part in site if part), point


_recorder = _Recorder()


def _is_chosen(value: object) -> bool:
    """Whether a loop variable names a point; balls, floats and formulas are computed."""
    return not isinstance(value, float) and type(value).__module__.partition(".")[0] not in (
        "flint",
        "sympy",
    )


def _key(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


def observe(check: Check, pardoned: Set[Site] = frozenset()) -> Run:
    """Run a check loaded while watched; failures at pardoned places are ignored."""
    _recorder.run, _recorder.pardoned = Run(), pardoned
    _recorder.pending.clear()
    try:
        check()
    except Counterexample as case:
        _recorder.run.raised = str(case) or "a counterexample"
    return _recorder.run


def closeness(left: Any, right: Any) -> float | None:
    """How near two numbers are: their ratio, at most 1; None where it says nothing.

    >>> closeness(3, Fraction(4)), closeness(0, 2), closeness("a", 1)
    (0.75, None, None)
    """
    if isinstance(left, Set) and isinstance(right, Set):
        return 1.0
    try:
        ratio = _ratio(left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return None if ratio is None or ratio <= 0 else min(ratio, 1 / ratio)


def _ratio(left: Any, right: Any) -> float | None:
    if isinstance(left, arb) or isinstance(right, arb):
        quotient = _ball(left) / _ball(right)
        return float(quotient.mid()) if quotient.is_finite() else None
    if isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        return 1.0 if left == right else float(Fraction(left) / Fraction(right))
    return float(left) / float(right)


def _ball(value: Any) -> arb:
    if isinstance(value, arb):
        return value
    return (
        ball(value)
        if isinstance(value, int | Fraction)
        else arb(fmpq(*float(value).as_integer_ratio()))
    )


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code, loops = rewritten(self.get_data(path).decode(), path)
        _recorder.loops |= loops
        return code

    def exec_module(self, module: Any) -> None:
        setattr(module, RECORDER, _recorder)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith(self.package + "."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and spec.origin:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


@contextmanager
def watched(package: str) -> Iterator[None]:
    """Modules below this package that are first imported within are watched."""
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
