"""Enclosure: a real number known to lie between two exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import cast

from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, rational, short_text, shortest

__all__ = ["Enclosure"]


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """A real number that is proved to lie in [lower, upper]; both ends are exact rationals.

    lower, upper: numbers, as parameters are; what is held are Fractions. Raises InvalidParameter.

    A comparison returns a bool only if every point of the enclosure gives the same result, and
    raises :class:`~exactdp.errors.Undecided` otherwise. There is no implicit conversion to float:
    :meth:`float_lower` rounds down and :meth:`float_upper` rounds up.

    >>> delta = Enclosure(Fraction(1, 3), Fraction(1, 2))
    >>> delta <= 0.5, delta > "0.25"
    (True, True)
    >>> delta < 0.4
    Traceback (most recent call last):
    ...
    exactdp.errors.Undecided: [0.3333333333, 0.5] cannot be compared with 0.4: they overlap
    """

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            end = getattr(self, name)
            if type(end) is not Fraction:  # a Fraction may have any size
                object.__setattr__(self, name, rational(name, end))
        if self.lower > self.upper:
            allowed = f">= lower, which is {short_text(self.lower)}"
            raise InvalidParameter("upper", self.upper, allowed)

    @classmethod
    def exact(cls, value: Real) -> Enclosure:
        """The enclosure of width zero around a number."""
        number = rational("value", value)
        return cls(number, number)

    @property
    def width(self) -> Fraction:
        """upper - lower, exactly."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> Fraction:
        """width / lower for an enclosure of positive numbers; 0 when the value is known exactly.

        Raises Undecided when the enclosure is wider than a point and contains 0.
        """
        if not self.width:
            return Fraction(0)
        if self.lower <= 0:
            raise Undecided(f"{self} contains 0, so its relative width is unbounded")
        return self.width / self.lower

    def float_lower(self) -> float:
        """The largest double <= lower."""
        nearest = _nearest_float(self.lower)
        exact = math.isfinite(nearest) and Fraction(nearest) <= self.lower
        return nearest if exact else math.nextafter(nearest, -math.inf)

    def float_upper(self) -> float:
        """The smallest double >= upper (infinity beyond the largest double)."""
        nearest = _nearest_float(self.upper)
        exact = math.isfinite(nearest) and Fraction(nearest) >= self.upper
        return nearest if exact else math.nextafter(nearest, math.inf)

    def decimal_lower(self, digits: int = 17) -> str:
        """lower as a decimal string, rounded down to this number of significant digits."""
        return _decimal(self.lower, digits, ROUND_FLOOR)

    def decimal_upper(self, digits: int = 17) -> str:
        """upper as a decimal string, rounded up to this number of significant digits."""
        return _decimal(self.upper, digits, ROUND_CEILING)

    def as_dict(self, digits: int = 20) -> dict[str, str]:
        """{"lower": ..., "upper": ...} as decimal strings rounded outward, for JSON."""
        return {"lower": self.decimal_lower(digits), "upper": self.decimal_upper(digits)}

    def clamped(self, least: Real, most: Real) -> Enclosure:
        """The enclosure of min(max(x, least), most)."""
        low, high = rational("least", least), rational("most", most)
        return Enclosure(min(max(self.lower, low), high), min(max(self.upper, low), high))

    def __bool__(self) -> bool:
        """Refused: 0 would be false, but an enclosure around 0 need not be."""
        raise TypeError("an enclosure is neither true nor false: compare its .lower or .upper")

    def __contains__(self, value: Real) -> bool:
        return self.lower <= rational("value", value) <= self.upper

    def __lt__(self, other: Enclosure | Real) -> bool:
        low, high = _ends(other)
        return self._decide(self.upper < low, self.lower >= high, other)

    def __le__(self, other: Enclosure | Real) -> bool:
        low, high = _ends(other)
        return self._decide(self.upper <= low, self.lower > high, other)

    def __gt__(self, other: Enclosure | Real) -> bool:
        low, high = _ends(other)
        return self._decide(self.lower > high, self.upper <= low, other)

    def __ge__(self, other: Enclosure | Real) -> bool:
        low, high = _ends(other)
        return self._decide(self.lower >= high, self.upper < low, other)

    def __eq__(self, other: object) -> bool:
        """Enclosures are equal if their ends are equal; a number equals only a point.

        Raises Undecided for a number inside an enclosure that is wider than a point.
        """
        if isinstance(other, Enclosure):
            return (self.lower, self.upper) == (other.lower, other.upper)
        try:
            low, high = _ends(cast(Real, other))  # raises InvalidParameter for other types
        except InvalidParameter:
            return NotImplemented
        same = self.lower == self.upper == low
        return self._decide(same, self.upper < low or self.lower > high, other)

    def __hash__(self) -> int:
        """A point has the hash of the number that it equals."""
        return hash((self.lower, self.upper)) if self.width else hash(self.lower)

    def __add__(self, other: Enclosure | Real) -> Enclosure:
        low, high = _ends(other)
        return Enclosure(self.lower + low, self.upper + high)

    __radd__ = __add__

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.upper, -self.lower)

    def __sub__(self, other: Enclosure | Real) -> Enclosure:
        low, high = _ends(other)
        return Enclosure(self.lower - high, self.upper - low)

    def __rsub__(self, other: Real) -> Enclosure:
        return -self + other

    def __mul__(self, other: Enclosure | Real) -> Enclosure:
        products = [a * b for a in (self.lower, self.upper) for b in _ends(other)]
        return Enclosure(min(products), max(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Enclosure | Real) -> Enclosure:
        """Raises Undecided where the divisor may be 0."""
        low, high = _ends(other)
        if low <= 0 <= high:
            raise Undecided(f"division by {other}, which may be 0")
        return self * Enclosure(1 / high, 1 / low)

    def __rtruediv__(self, other: Real) -> Enclosure:
        return Enclosure(*_ends(other)) / self

    def __format__(self, digits: str) -> str:
        """format(delta, "6"): both ends with 6 significant digits, rounded outward."""
        if not digits:
            return str(self)
        if not digits.isdecimal() or digits == "0":
            raise InvalidParameter("format", digits, "a number of digits >= 1")
        return f"[{self.decimal_lower(int(digits))}, {self.decimal_upper(int(digits))}]"

    def __str__(self) -> str:
        return f"[{self.decimal_lower(10)}, {self.decimal_upper(10)}]"

    def __repr__(self) -> str:
        return f"Enclosure[{self.decimal_lower()}, {self.decimal_upper()}]"

    def _decide(self, yes: bool, no: bool, other: object) -> bool:
        if yes or no:
            return yes
        raise Undecided(f"{self} cannot be compared with {other}: they overlap")


def _ends(value: Enclosure | Real) -> tuple[Fraction, Fraction]:
    if isinstance(value, Enclosure):
        return value.lower, value.upper
    number = rational("value", value)
    return number, number


def _nearest_float(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    if digits < 1:
        raise InvalidParameter("digits", digits, "an integer >= 1")
    context: Callable[..., Context] = Context
    exact = context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return shortest(exact.divide(Decimal(value.numerator), Decimal(value.denominator)))
