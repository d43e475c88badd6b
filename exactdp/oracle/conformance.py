"""Running the vectors against an implementation: safe, loose, unsafe, unsupported or crash.

An answer for delta, epsilon, sigma or tau is safe if it is at least the true value; its relative
excess measures how loose it is. A probability is right or wrong, up to a tolerance. All comparisons
are exact: a float is read as its exact binary value.
"""

from __future__ import annotations

import math
import numbers
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, Protocol

from exactdp.errors import InvalidParameter, Signal
from exactdp.oracle.vectors import Vector

Verdict = Literal["safe", "loose", "unsafe", "wrong", "unsupported", "crash"]
Bucket = Literal["rounding", "underflow", "material"]

#: The verdicts, in the order of tables.
VERDICTS = ("safe", "loose", "unsafe", "wrong", "unsupported", "crash")

#: Answers with at most this relative excess are safe, others loose.
TIGHT = Fraction(1, 10**9)

#: Relative shortfalls up to this are attributed to float rounding.
ROUNDING = Fraction(1, 10**12)

#: Largest relative error of a right probability.
TOLERANCE = Fraction(1, 10**9)

_LEAST_NORMAL = Fraction(1, 2**1022)
_LEAST_DOUBLE = Fraction(1, 2**1074)


@dataclass(frozen=True)
class Unsupported:
    """The answer of an implementation that does not support a question."""

    reason: str = ""


def beyond_doubles(parameters: Mapping[str, str]) -> bool:
    """Whether a parameter becomes 0 or infinite as a double; libraries of floats skip these."""
    return any(_lost(text) for text in parameters.values())


class Adapter(Protocol):
    """An implementation that answers questions."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def answer(
        self, question: str, group: str, parameters: Mapping[str, str]
    ) -> Any:  # a number, a decimal string, or Unsupported
        """The answer to a question; parameters are decimal strings and words."""


@dataclass(frozen=True)
class Result:
    """The verdict on one answer.

    answer: the text of the answer. value: its exact value. error: relative excess (safe, loose) or
    shortfall (unsafe, wrong), None if the true value is 0. bucket: of an unsafe answer: "rounding"
    (relative shortfall up to 1e-12), "underflow" (true value and answer are below the normal
    doubles), or "material". detail: of a crash.
    """

    vector: Vector
    verdict: Verdict
    answer: str = ""
    error: Fraction | None = None
    bucket: Bucket | None = None
    detail: str = ""
    value: Fraction | None = None

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "id": self.vector.id,
            "verdict": self.verdict,
            "answer": self.answer,
            "error": None if self.error is None else _short(self.error),
            "bucket": self.bucket,
            "detail": self.detail,
        }


@dataclass(frozen=True)
class Report:
    """The verdicts on all answers of one implementation."""

    name: str
    version: str
    results: tuple[Result, ...]

    def counts(self, group: str | None = None) -> Counter[str]:
        """Number of results per verdict; unsafe results also count as "unsafe:<bucket>"."""
        counts: Counter[str] = Counter()
        for result in self.results:
            if group in (None, result.vector.group):
                counts[result.verdict] += 1
                if result.bucket:
                    counts[f"{result.verdict}:{result.bucket}"] += 1
        return counts

    @property
    def clean(self) -> bool:
        """Whether no answer is unsafe, wrong or a crash."""
        return all(r.verdict in ("safe", "loose", "unsupported") for r in self.results)

    def worst(self, verdict: str, group: str | None = None, count: int = 1) -> list[Result]:
        """The results with this verdict and the largest relative error, largest first."""
        chosen = [
            r for r in self.results if r.verdict == verdict and group in (None, r.vector.group)
        ]
        return sorted(chosen, key=_badness, reverse=True)[:count]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "name": self.name,
            "version": self.version,
            "counts": dict(self.counts()),
            "results": [result.as_dict() for result in self.results],
        }

    def text(self) -> str:
        """A table of counts by group, then all answers that are unsafe, wrong or crashes."""
        groups = list(dict.fromkeys(r.vector.group for r in self.results))
        lines = [f"{self.name} {self.version}", f"{'':<20}" + "".join(f"{v:>13}" for v in VERDICTS)]
        for group in [*groups, None]:
            counts = self.counts(group)
            cells = "".join(f"{counts[v]:>13}" for v in VERDICTS)
            lines.append(f"{group or 'total':<20}{cells}")
        bad = [r for r in self.results if r.verdict in ("unsafe", "wrong", "crash")]
        return "\n".join(lines + [describe(result) for result in bad])


def run(adapter: Adapter, vectors: Iterable[Vector], *, timeout: float | None = 20.0) -> Report:
    """Put every question to an adapter; returns the report.

    timeout: seconds per question; an answer that takes longer is a crash. The limit works only in
    the main thread, on systems with timers.
    """
    results = tuple(_ask(adapter, vector, timeout) for vector in vectors)
    return Report(adapter.name, adapter.version, results)


def judge(vector: Vector, answer: object, *, tolerance: Fraction = TOLERANCE) -> Result:
    """The verdict on an answer.

    answer: a number, a decimal string, a hexadecimal float string, or Unsupported. tolerance:
    allowed relative error of probabilities (pmf and cdf).
    """
    if isinstance(answer, Unsupported):
        return Result(vector, "unsupported", detail=answer.reason)
    try:
        value = exact_value(answer)
    except (InvalidParameter, ValueError, OverflowError):
        return Result(vector, "crash", str(answer), detail="not a finite number")
    text = _as_text(answer)
    if vector.question in ("pmf", "cdf"):
        return _probability(vector, value, text, tolerance)
    if value < vector.safe_from:
        missing = vector.safe_from - value
        short = missing / vector.safe_from if vector.safe_from else None
        bucket = _bucket(vector, value, missing if short is None else short)
        return Result(vector, "unsafe", text, short, bucket, value=value)
    excess = max(value - vector.most, Fraction(0))
    relative = excess / vector.most if vector.most else (None if excess else Fraction(0))
    tight = relative is not None and relative <= TIGHT
    return Result(vector, "safe" if tight else "loose", text, relative, value=value)


def exact_value(answer: object) -> Fraction:
    """The exact value of an answer, as a fraction.

    answer: a number, where floats have their exact binary value; or a string: a decimal, a
    fraction, or a hexadecimal float ("0x1.8p+1"). Raises InvalidParameter, ValueError or
    OverflowError for anything else, NaN and infinities.

    >>> exact_value(0.1) == Fraction(1, 10), exact_value("0.1") == Fraction(1, 10)
    (False, True)
    """
    if isinstance(answer, bool):
        raise InvalidParameter("answer", answer, "a number")
    if isinstance(answer, str):
        return _from_text(answer.strip())
    if isinstance(answer, (int, Fraction, Decimal)):
        return Fraction(answer)
    if isinstance(answer, numbers.Integral):
        return Fraction(int(answer))
    if isinstance(answer, (float, numbers.Real)) or hasattr(answer, "__float__"):
        return Fraction(float(answer))
    raise InvalidParameter("answer", answer, "a number")


def describe(result: Result) -> str:
    """One line about a result that is unsafe, wrong or a crash."""
    vector = result.vector
    parameters = ", ".join(f"{name}={value}" for name, value in vector.parameters.items())
    head = f"{vector.id} {vector.question}({parameters}): {result.verdict}"
    if result.verdict == "crash":
        return f"{head} ({result.detail})"
    by = "" if result.error is None else f" by {_short(result.error)} relative"
    bucket = f" ({result.bucket})" if result.bucket else ""
    true = f"{vector.lower[:24]}{_tail(vector)}"
    return f"{head}{bucket}, answered {result.answer}, true value {true}{by}"


def _lost(text: str) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False  # a word
    return math.isinf(number) or (number == 0 and Fraction(text) != 0)


def _ask(adapter: Adapter, vector: Vector, timeout: float | None) -> Result:
    clock = _Clock()
    try:
        with _limit(timeout) as clock:
            answer = adapter.answer(vector.question, vector.group, dict(vector.parameters))
        if clock.over:
            raise _TimeIsUp  # the implementation may have caught the first one
    except _TimeIsUp:
        return Result(vector, "crash", detail=f"no answer within {timeout} s")
    except Exception as error:  # whatever the implementation raises is a crash
        if clock.over:
            return Result(vector, "crash", detail=f"no answer within {timeout} s")
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Result(vector, "crash", detail=text[:200])
    return judge(vector, answer)


def _probability(vector: Vector, value: Fraction, text: str, tolerance: Fraction) -> Result:
    off = max(vector.least - value, value - vector.most, Fraction(0))
    relative = off / vector.most if vector.most else (None if off else Fraction(0))
    right = relative is not None and relative <= tolerance
    if not right and vector.most < _LEAST_NORMAL and off <= _LEAST_DOUBLE:
        return Result(vector, "wrong", text, relative, "underflow", value=value)
    return Result(vector, "safe" if right else "wrong", text, relative, value=value)


def _as_text(answer: object) -> str:
    if isinstance(answer, float):
        return repr(float(answer))  # not numpy's
    try:
        return str(answer)
    except ValueError:  # an integer of more digits than Python prints
        return f"{answer:.30e}" if isinstance(answer, Decimal) else type(answer).__name__


def _bucket(vector: Vector, value: Fraction, short: Fraction) -> Bucket:
    if short <= ROUNDING:
        return "rounding"
    if 0 <= value < _LEAST_NORMAL and vector.least < _LEAST_NORMAL:
        return "underflow"
    return "material"


def _from_text(text: str) -> Fraction:
    if "x" in text.lower():
        return Fraction(float.fromhex(text))
    try:
        number = Fraction(text) if "/" in text else Decimal(text)
    except (InvalidOperation, ZeroDivisionError):
        raise InvalidParameter("answer", text, "a number") from None
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > 100_000:
        raise InvalidParameter("answer", text, "a number of reasonable size")
    return Fraction(number)


def _badness(result: Result) -> tuple[bool, bool, Fraction]:
    return (
        result.bucket != "underflow",
        result.error is None,
        result.error or Fraction(0),
    )


def _short(value: Fraction) -> str:
    try:
        return f"{float(value):.3g}"
    except OverflowError:
        return "more than 1e308"


def _tail(vector: Vector) -> str:
    _, mark, exponent = vector.lower.partition("e")
    return f"...{mark}{exponent}" if len(vector.lower) > 24 else ""


class _TimeIsUp(Signal):
    """The time limit. Not an Exception, so that an implementation does not catch it."""


@dataclass
class _Clock:
    over: bool = False


@contextmanager
def _limit(seconds: float | None) -> Iterator[_Clock]:
    clock = _Clock()
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not usable:
        yield clock
        return

    def stop(*_: object) -> None:
        clock.over = True
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield clock
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
