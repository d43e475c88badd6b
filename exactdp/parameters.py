"""Reading parameters exactly: a number as users write it becomes the rational number they meant."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from exactdp.errors import InvalidParameter, Signal
from exactdp.foreign_numbers import foreign_number

__all__ = [
    "Real",
    "all_between",
    "as_decimal",
    "choice",
    "counters",
    "decimal_text",
    "delta_target",
    "exact_text",
    "false_alarm",
    "integer",
    "json_value",
    "non_negative",
    "positive",
    "rational",
    "shortest",
    "truth",
]


class Rational(Protocol):
    """An integer or a rational number of numpy, gmpy2, sympy or flint."""

    @property
    def numerator(self) -> Any: ...
    @property
    def denominator(self) -> Any: ...


class FloatingPoint(Protocol):
    """A float of numpy or gmpy2."""

    def as_integer_ratio(self) -> tuple[Any, Any]: ...


#: Types accepted for every real parameter. Strings are decimals ("0.35", "1e-5") or fractions
#: ("7/20"); a float is read as the decimal it prints. `rational` lists more types.
Real: TypeAlias = int | Fraction | Decimal | str | float | Rational | FloatingPoint

#: Parameters outside 10^±MAX_EXPONENT are refused: exact rationals within that range stay cheap.
MAX_EXPONENT = 10_000
MOST_COUNTERS = 10**18
_SIZE = f"between 1e-{MAX_EXPONENT} and 1e{MAX_EXPONENT} in size"
_TOO_LARGE = 10**MAX_EXPONENT

#: Numbers m 2^e of more bits than this are outside of the range.
_MOST_BITS = math.ceil((MAX_EXPONENT + 1) * math.log2(10))


class _Unreadable(Signal):
    """A value does not denote a number. noun: what would; more: a condition that follows others."""

    def __init__(self, noun: str = "a number", more: str = "") -> None:
        self.noun, self.more = noun, more


def _wrong_size() -> _Unreadable:
    return _Unreadable(more=f" and {_SIZE}")


def rational(name: str, value: Real) -> Fraction:
    """The exact rational number a parameter stands for.

    Accepts int, Fraction, Decimal, decimal or fraction strings, and floats (read as the decimal
    they print: 0.35 is 35/100; so are numpy's). Of other libraries: integers of numpy, integers and
    rational numbers of gmpy2, sympy, mpmath and flint, and the floats of mpmath, sympy, gmpy2 and
    flint, whose value m 2^e is taken exactly.
    Raises InvalidParameter for anything else, for NaN and infinity, and for sizes outside
    [10^-10000, 10^10000] other than 0.

    >>> rational("epsilon", 0.35)
    Fraction(7, 20)
    """
    try:
        return _read(value)
    except _Unreadable as error:
        raise InvalidParameter(name, value, error.noun + error.more.removeprefix(" and")) from None


def positive(name: str, value: Real) -> Fraction:
    """An exact number > 0."""
    return _within(name, value, "> 0", lambda x: x > 0)


def non_negative(name: str, value: Real) -> Fraction:
    """An exact number >= 0."""
    return _within(name, value, ">= 0", lambda x: x >= 0)


def probability(name: str, value: Real) -> Fraction:
    """An exact number between 0 and 1."""
    return _within(name, value, ">= 0 and <= 1", lambda x: 0 <= x <= 1)


def delta_target(name: str, value: Real) -> Fraction:
    """A target for delta: an exact number strictly between 0 and 1."""
    return _within(name, value, "> 0 and < 1", lambda x: 0 < x < 1)


def delta_or_zero(name: str, value: Real) -> Fraction:
    """A target for delta of a mechanism that may keep 0: an exact number >= 0 and < 1."""
    return _within(name, value, ">= 0 and < 1", lambda x: 0 <= x < 1)


def false_alarm(name: str, value: Real) -> Fraction:
    """The probability that an audit is wrong: an exact number >= 1e-100 and < 1.

    Its logarithm is compared with log-likelihoods in floats, which a smaller number would not
    survive; no audit draws enough outputs to reach such a probability.
    """
    allowed = ">= 1e-100 and < 1"
    return _within(name, value, allowed, lambda x: Fraction(1, 10**100) <= x < 1)


def integer(name: str, value: Real, *, least: int) -> int:
    """An integer >= least; integral strings, Decimals and floats are accepted."""
    if type(value) is int and least <= value <= _TOO_LARGE:  # the usual case
        return value
    allowed = f"an integer >= {least}"
    try:
        number = _read(value)
    except _Unreadable as error:
        more = f" and at most 1e{MAX_EXPONENT}" if _SIZE in error.more else error.more
        raise InvalidParameter(name, value, allowed + more) from None
    if number.denominator != 1 or number < least:
        raise InvalidParameter(name, value, allowed)
    return int(number)


def all_between(name: str, values: Any, least: int, most: int) -> None:
    """Raise InvalidParameter, with the index, if an array has an integer outside [least, most]."""
    wrong = (values < least) | (values > most)
    if wrong.any():
        i = int(wrong.argmax())
        allowed = f"an integer >= {least} and <= {most}"
        raise InvalidParameter(f"{name}[{i}]", values.flat[i], allowed)


def counters(value: int, name: str = "k") -> int:
    """A number of counters, from 1 to 10^18 (more than fit into memory)."""
    number = integer(name, value, least=1)
    if number > MOST_COUNTERS:
        raise InvalidParameter(name, value, "an integer between 1 and 1e18")
    return number


def truth(name: str, value: object) -> bool:
    """True or False, also numpy's. A text is refused: "no" would count as true."""
    if isinstance(value, bool):
        return value
    if f"{type(value).__module__}.{type(value).__name__}" in ("numpy.bool", "numpy.bool_"):
        return bool(value)
    raise InvalidParameter(name, value, "True or False")


def choice(name: str, value: str, options: tuple[str, ...]) -> str:
    """One of the given options."""
    if not isinstance(value, str) or value not in options:
        raise InvalidParameter(name, value, "one of " + ", ".join(map(repr, options)))
    return value


def json_value(
    name: str, text: str | bytes, allowed: str, decimal: Callable[[str], Any] = float
) -> Any:
    """The value of a JSON text. Raises InvalidParameter for invalid or too deeply nested JSON.

    allowed: what the text must be, for the message. decimal: converts the text of a number that is
    not an integer.
    """
    try:
        return json.loads(text, parse_float=decimal)
    except (ValueError, RecursionError):
        raise InvalidParameter(name, text, allowed) from None


def decimal_text(value: Fraction) -> str:
    """A rational number as people write it: an exact decimal if there is one, else a fraction.

    >>> [decimal_text(x) for x in (Fraction(7, 20), Fraction(1, 3), Fraction(1, 10**5))]
    ['0.35', '1/3', '1e-5']
    """
    decimal = as_decimal(value)
    if isinstance(decimal, Fraction):
        # by way of Decimal: Python limits the number of digits in str(int)
        return f"{Decimal(value.numerator):f}/{Decimal(value.denominator):f}"
    return shortest(decimal)


def exact_text(name: str, value: Real) -> str:
    """The text of a parameter that a record keeps: a text as it is, a number without rounding.

    >>> exact_text("delta", "1e-5"), exact_text("sigma", 0.35), exact_text("monotone", True)
    ('1e-5', '0.35', 'True')
    """
    as_it_is = isinstance(value, str | bool)
    return str(value) if as_it_is else decimal_text(rational(name, value))


def short_text(value: Fraction, digits: int = 4) -> str:
    """The exact number if that takes at most 24 characters, else a few digits of it.

    >>> short_text(Fraction(1, 7**40)), short_text(Fraction(10) ** 5000 / 3)
    ('1.571e-34', '3.333e4999')
    """
    text = decimal_text(value)
    if len(text) <= 24:
        return text
    context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return shortest(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def as_decimal(value: Fraction) -> Decimal | Fraction:
    """The same number as a Decimal if it has a finite decimal expansion, else unchanged.

    >>> as_decimal(Fraction(7, 20)), as_decimal(Fraction(1, 3))
    (Decimal('0.35'), Fraction(1, 3))
    """
    twos, rest = _strip(value.denominator, 2)
    fives, rest = _strip(rest, 5)
    if rest != 1:
        return value
    places = max(twos, fives)
    scaled = Decimal(abs(value.numerator) * 10**places // value.denominator)
    return Decimal((value < 0, scaled.as_tuple().digits, -places))


def shortest(value: Decimal) -> str:
    """The text of a Decimal without trailing zeros; an exponent only where there are many zeros.

    >>> shortest(Decimal("2222.700")), shortest(Decimal("1E-400"))
    ('2222.7', '1e-400')
    """
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0") or "0"
    stripped = text.rstrip("0") or "0"
    if not isinstance(exponent, int):
        raise InvalidParameter("value", value, "a finite number")
    exponent = exponent + len(text) - len(stripped) if stripped != "0" else 0
    minus = "-" if sign else ""
    point = len(stripped) + exponent
    if -4 < point <= 0:
        return f"{minus}0.{'0' * -point}{stripped}"
    if 0 < point <= 21:
        body = stripped.ljust(point, "0")
        return f"{minus}{body[:point]}" + (f".{body[point:]}" if body[point:] else "")
    mantissa = stripped[0] + (f".{stripped[1:]}" if stripped[1:] else "")
    return f"{minus}{mantissa}e{point - 1}"


def _within(name: str, value: Real, allowed: str, test: Callable[[Fraction], bool]) -> Fraction:
    try:
        number = _read(value)
    except _Unreadable as error:
        raise InvalidParameter(name, value, f"{error.noun} {allowed}{error.more}") from None
    if not test(number):
        raise InvalidParameter(name, value, allowed)
    return number


def _read(value: Real) -> Fraction:
    number = value if isinstance(value, Fraction) else _converted(value)
    top, bottom = abs(number.numerator), number.denominator
    inside = top <= _TOO_LARGE >= bottom  # the usual case, without long products
    if number and not (inside or (bottom <= top * _TOO_LARGE and top <= bottom * _TOO_LARGE)):
        raise _wrong_size()
    return number


def _converted(value: Any) -> Fraction:
    if isinstance(value, bool):
        raise _Unreadable
    if isinstance(value, float):
        return _from_decimal(float.__repr__(value))
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, Decimal):
        return _from_decimal(value)
    if isinstance(value, int):
        return Fraction(int(value))
    return _from_foreign(value)


def _from_text(text: str) -> Fraction:
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return _from_decimal(text)
    below = _from_decimal(denominator)
    if not below:
        raise _Unreadable
    return _from_decimal(numerator) / below


def _from_foreign(value: Any) -> Fraction:
    number = foreign_number(value)
    if isinstance(number, Fraction):
        return number
    if isinstance(number, str):
        return _from_decimal(number)
    if number is None:
        raise _unknown(type(value))
    return _from_binary(*number)


def _unknown(kind: type) -> _Unreadable:
    if kind.__module__ == "builtins":
        return _Unreadable()
    note = f" (int, Fraction, Decimal, text or float, not {kind.__module__}.{kind.__qualname__})"
    return _Unreadable(more=note)


def _from_binary(mantissa: int, exponent: int) -> Fraction:
    if mantissa and abs(mantissa.bit_length() + exponent) > _MOST_BITS:
        raise _wrong_size()  # before the conversion: 2^e may not fit in memory
    return Fraction(mantissa) * Fraction(2) ** exponent if mantissa else Fraction(0)


def _from_decimal(text: str | Decimal) -> Fraction:
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        raise _Unreadable from None
    if not number.is_finite():
        raise _Unreadable("a finite number")
    if number and not -2 * MAX_EXPONENT <= number.adjusted() <= 2 * MAX_EXPONENT:
        # before the conversion: the integer behind 1e999999999 does not fit in memory
        raise _wrong_size()
    return Fraction(number)


def _strip(number: int, factor: int) -> tuple[int, int]:
    count = 0
    while number % factor == 0:
        number, count = number // factor, count + 1
    return count, number
