"""The comparisons from which every check is made. Each raises Counterexample or is recorded.

A check calls `at_most(error, bound, n=n)` where its statement says "error <= bound for every n".
The helper compares exactly (integers, fractions) or by ball arithmetic, raises
:class:`Counterexample` with both values and the case when the comparison fails, and otherwise
records how near the two values came. From these records follow the outcome of a check, its
evidence, and the doubts of `exactdp_proofs.scrutiny`; nobody writes them down.

=====================================  ==========================================================
`at_most`, `below`                     left <= right, left < right
`equal`                                exact values, sets, tuples, laws
`within(value, stated, tolerance)`     abs(value - stated) <= tolerance
`agree(left, right, digits=9)`         two balls agree to `digits` significant digits
`holds(fact)`                          a fact without numbers
`reproduces(value, "0.025")`           value rounds to the printed digits
`significant(p_value, alpha)`          a statistical test rejects at level alpha
`identity(expression)`                 a sympy expression is zero: proves
`every("both bits", (0, 1))`           a loop over all of a finite domain: its comparisons prove
`always_positive`, `never_negative`    a function on a box: proves (in `boxes`)
`never_below_zero`                     a rational function of symbols >= 0: proves (`polynomials`)
=====================================  ==========================================================
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar, cast

from flint import arb, fmpq, fmpz

from exactdp.balls import ball
from exactdp.errors import Undecided

T = TypeVar("T")
Case = Mapping[str, object]
Place = tuple[str, ...]

_EXACT = (Rational, fmpq, fmpz)


class Counterexample(Exception):
    """The statement fails; the message says in which case, in numbers."""


@dataclass
class Record:
    """What one run of a check compared, and where it failed.

    passed: place -> how near it came to failing: the largest ratio, at most 1, of the smaller
        value to the larger one; None where no ratio says anything.
    kinds: number of comparisons by kind. proofs: what was decided on a whole domain.
    cases: place -> every case, if keep is set, to tell cases that another run does not visit.
    pardoned: places at which a failure is ignored.
    """

    keep: bool = False
    pardoned: Collection[Place] = ()
    passed: dict[Place, float | None] = field(default_factory=dict)
    cases: dict[Place, set[str]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    proofs: list[str] = field(default_factory=list)
    last: Place = ()
    failed: Place = ()
    case: str = ""
    raised: str = ""
    domains: int = 0
    abandoned: bool = False

    def settle(self, holds: bool, near: float | None, kind: str, case: Case) -> bool:
        """Record a comparison; returns whether the check may go on."""
        place = _place()
        if not holds:
            if place not in self.pardoned:
                self.failed, self.case = place, _at(case)
            return place in self.pardoned
        self.last = place
        self.kinds["whole domain" if self.domains and kind in ("exact", "balls") else kind] += 1
        known = [x for x in (self.passed.get(place), near) if x is not None]
        self.passed[place] = max(known, default=None)
        if self.keep:
            self.cases.setdefault(place, set()).add(_at(case))
        return True


_current: ContextVar[Record | None] = ContextVar("record", default=None)


def observe(
    check: Callable[..., object],
    arguments: Mapping[str, object] | None = None,
    *,
    keep: bool = False,
    pardoned: Collection[Place] = (),
) -> Record:
    """Run a check with these arguments and return what it compared."""
    record = Record(keep=keep, pardoned=pardoned)
    token = _current.set(record)
    try:
        check(**(arguments or {}))
    except Counterexample as case:
        record.raised = str(case) or "a counterexample"
    finally:
        _current.reset(token)
    return record


def at_most(left: Any, right: Any, /, **case: object) -> None:
    """Require left <= right. Raises Undecided where two balls overlap."""
    _ordered(left, right, False, case)


def below(left: Any, right: Any, /, **case: object) -> None:
    """Require left < right. Raises Undecided where two balls overlap."""
    _ordered(left, right, True, case)


def equal(left: object, right: object, /, **case: object) -> None:
    """Require left == right, for exact values."""
    for value in (left, right):
        if isinstance(value, arb | float):
            kind = type(value).__name__
            raise TypeError(f"equality of {kind} is not decided: use agree or within")
    _settle(bool(left == right), lambda: f"{_show(left)} != {_show(right)}", 1.0, "exact", case)


def within(value: Any, stated: Any, tolerance: Any, /, **case: object) -> None:
    """Require abs(value - stated) <= tolerance."""
    _close(value, stated, tolerance, "", case)


def agree(left: Any, right: Any, /, digits: int = 9, **case: object) -> None:
    """Require two balls to overlap; Undecided if one is known to fewer digits."""
    gap = _ball(left) - _ball(right)
    if not gap.contains(0):
        _settle(False, lambda: f"{_show(left)} != {_show(right)}", None, "balls", case)
    size = (abs(_ball(left)) + abs(_ball(right))).mid()
    if arb(gap.rad()) > size * arb(10) ** -digits:
        raise Undecided(f"{_show(left)} and {_show(right)} are not known to {digits} digits")
    _settle(True, str, 1.0, "balls", case)


def holds(fact: bool, /, **case: object) -> None:
    """Require a fact that is not a comparison of numbers."""
    _settle(bool(fact), lambda: "it does not hold", 1.0, "exact", case)


def reproduces(value: Any, text: str, /, **case: object) -> None:
    """Require a value to round to the printed decimal: half a unit of its last digit is allowed."""
    mantissa, _, exponent = text.lower().partition("e")
    unit = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    _close(value, Fraction(text), unit / 2, "printed numbers", case)


def significant(p_value: Any, alpha: Fraction, /, **case: object) -> None:
    """Require that a statistical test with this p-value rejects at level alpha."""
    near = min(1.0, float(p_value) / float(alpha)) or None
    holds = bool(p_value <= alpha)
    _settle(holds, lambda: f"p-value {float(p_value):.3g} > {alpha}", near, "statistics", case)


def identity(expression: Any, /, **case: object) -> None:
    """Require a sympy expression to be zero as a rational function of its symbols."""
    import sympy

    top, _ = sympy.fraction(sympy.together(expression))
    rest = sympy.expand(top) and sympy.cancel(expression)  # slower, and shorter in the message
    _settle(bool(rest == 0), lambda: f"{rest} is not 0", 1.0, "symbolic", case)


def every(domain: str, values: Iterable[T]) -> Iterator[T]:
    """All values of a finite domain, named: comparisons inside the loop decide it completely."""
    record = _current.get()
    if record is None:
        yield from values
        return
    record.domains += 1
    complete = False
    try:
        yield from values
        complete = True
        if domain not in record.proofs:
            record.proofs.append(domain)
    finally:
        record.domains -= 1
        record.abandoned |= not complete


def proved(holds: bool, text: str, near: float | None = 1.0) -> None:
    """Record what a helper has decided on a whole domain, or raise Counterexample(text)."""
    _settle(holds, lambda: text, near, "interval search", {})
    record = _current.get()
    if record is not None and text not in record.proofs:
        record.proofs.append(text)


def _ordered(left: Any, right: Any, strict: bool, case: Case) -> None:
    kind, (one, two) = _comparable(left, right)
    holds, fails = (one < two, one >= two) if strict else (one <= two, one > two)
    if not holds and not fails:
        raise Undecided(f"{_show(left)} and {_show(right)} overlap{_at(case)}")
    sign = ">=" if strict else ">"
    near = _closeness(left, right) if holds else None
    _settle(bool(holds), lambda: f"{_show(left)} {sign} {_show(right)}", near, kind, case)


def _close(value: Any, stated: Any, tolerance: Any, kind: str, case: Case) -> None:
    relation, (one, two, most) = _comparable(value, stated, tolerance)
    gap = abs(one - two)
    if not gap <= most and not gap > most:
        raise Undecided(f"{_show(value)} is or is not {_show(stated)}{_at(case)}")
    near = 1.0 if kind or not most else _closeness(gap, most)
    says = f"{_show(value)}, not {_show(stated)}"
    _settle(bool(gap <= most), lambda: says, near, kind or relation, case)


def _comparable(*values: Any) -> tuple[str, tuple[Any, ...]]:
    """How these values are compared: exactly if all are exact, else as balls."""
    if all(isinstance(value, _EXACT) for value in values):
        return "exact", values
    return "balls", tuple(map(_ball, values))


def _settle(
    holds: bool, message: Callable[[], str], near: float | None, kind: str, case: Case
) -> None:
    record = _current.get()
    if record is not None and record.settle(holds, near, kind, case):
        return
    if not holds:
        raise Counterexample(message() + _at(case))


def _place() -> Place:
    """Module and line of every caller within the check, innermost first."""
    lines: list[str] = []
    frame = sys._getframe(2)
    while frame and frame.f_code is not observe.__code__:
        name = str(frame.f_globals.get("__name__"))
        if not name.startswith(_OWN):
            lines.append(f"{name.rpartition('.')[2]}:{frame.f_lineno}")
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(lines)


_OWN = (
    "exactdp_proofs.comparisons",
    "exactdp_proofs.boxes",
    "exactdp_proofs.polynomials",
    "contextlib",
)


def _ball(value: Any) -> arb:
    if isinstance(value, arb):
        return value
    if not isinstance(value, _EXACT):
        raise TypeError(f"{type(value).__name__} decides nothing: use int, Fraction or arb")
    return arb(value) if isinstance(value, fmpq | fmpz) else ball(cast(Fraction, value))


def _closeness(left: Any, right: Any) -> float | None:
    """How near two numbers are: their ratio, at most 1; None if one is 0 or their signs differ."""
    if isinstance(left, _EXACT) and left == right:
        return 1.0
    try:
        ratio = float(left) / float(right)
    except OverflowError:
        ratio = float((_ball(left) / _ball(right)).mid())
    except ZeroDivisionError:
        return None
    return min(ratio, 1 / ratio) if ratio > 0 else None


#: A rational number within a tuple or another object.
_RATIONAL = re.compile(r"(?:Fraction|mpq)\((-?\d+), ?(\d+)\)")

#: Longer numbers are not written out: a float may not hold them, and Python refuses 4300 digits.
_LONG_BITS = 1000


def _bits(value: Rational) -> int:
    return int(value.numerator).bit_length() + int(value.denominator).bit_length()


def _show(value: object) -> str:
    if isinstance(value, arb):
        return str(value.str(6, radius=False))
    if isinstance(value, Rational) and _bits(value) > _LONG_BITS:
        return _show(_ball(value))
    text = _RATIONAL.sub(lambda match: str(Fraction(int(match[1]), int(match[2]))), str(value))
    if isinstance(value, Rational) and len(text) > 12:
        return f"{float(value):.6g}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _at(case: Case) -> str:
    """The case in words, to follow a message; an empty text without one."""
    return " at " + ", ".join(f"{k}={_show(v)}" for k, v in case.items()) if case else ""
