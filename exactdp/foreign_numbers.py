"""Numbers of other libraries: a closed list of types, each read as the number that the value holds.

The text that a value prints may have fewer digits than the number, so texts are not read. One
exception: numpy's floats are read as Python's, as the shortest decimal that has the same float.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

#: (m, e) stands for m 2^e, which need not fit into memory.
Binary = tuple[int, int]

_NOT_FINITE = "nan"


def foreign_number(value: Any) -> Fraction | Binary | str | None:
    """The number that a value of a listed type holds, "nan" if it is not finite; else None.

    Types are known by their names, so that no library is imported for a value of another library.

    >>> import gmpy2
    >>> foreign_number(gmpy2.mpfr("0.375"))
    (3, -3)
    """
    for parent in type(value).__mro__:
        if read := _READERS.get(f"{parent.__module__}.{parent.__qualname__}"):
            return read(value)
    return None


def is_numpy_integer(value: Any) -> bool:
    """Whether a value is an integer of numpy; a duration is none, although numpy derives the type
    from its integers."""
    names = [f"{parent.__module__}.{parent.__qualname__}" for parent in type(value).__mro__]
    return "numpy.integer" in names and "numpy.timedelta64" not in names


def _shortest(value: Any) -> str:
    import numpy as np  # numpy is imported already: the value is one of its floats

    text: str = np.format_float_scientific(value)  # str() depends on numpy's print options
    return text


def _integer(value: Any) -> Fraction:
    return Fraction(int(value))


def _numpy_integer(value: Any) -> Fraction | None:
    return _integer(value) if is_numpy_integer(value) else None


def _quotient(value: Any) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


def _mpmath(value: Any) -> Binary | str:
    sign, mantissa, exponent, _ = value._mpf_
    if not mantissa and exponent:
        return _NOT_FINITE
    return (-int(mantissa) if sign else int(mantissa)), int(exponent)


def _mpfr(value: Any) -> Binary | str:
    return _reduced(*value.as_mantissa_exp()) if value.is_finite() else _NOT_FINITE


def _arf(value: Any) -> Binary | str:
    return _reduced(*value.man_exp()) if value.is_finite() else _NOT_FINITE


def _reduced(mantissa: Any, exponent: Any) -> Binary:
    number = int(mantissa)
    zeros = (number & -number).bit_length() - 1 if number else 0
    return number >> zeros, int(exponent) + zeros


def _arrow(value: Any) -> Fraction | str | None:
    held = value.as_py()
    return None if held is None else str(held) if isinstance(held, float) else Fraction(held)


_ARROW = (
    "Double",
    "Decimal128",
    "Decimal256",
    *(f"{u}Int{n}" for u in ("", "U") for n in (8, 16, 32, 64)),
)

_READERS: dict[str, Callable[[Any], Fraction | Binary | str | None]] = {
    "numpy.integer": _numpy_integer,
    "numpy.floating": _shortest,
    "mpmath.rational.mpq": lambda value: Fraction(*map(int, value._mpq_)),
    "mpmath.ctx_mp_python.mpf": _mpmath,  # constants such as pi have no digits of their own
    "sympy.core.numbers.Float": _mpmath,
    "sympy.core.numbers.Rational": _quotient,  # among them sympy's integers
    "gmpy2.mpz": _integer,
    "gmpy2.xmpz": _integer,
    "gmpy2.mpq": _quotient,
    "gmpy2.mpfr": _mpfr,
    "flint.types.arf.arf": _arf,
    "flint.types.fmpz.fmpz": _integer,
    "flint.types.fmpq.fmpq": lambda value: Fraction(int(value.p), int(value.q)),
    **{f"pyarrow.lib.{kind}Scalar": _arrow for kind in _ARROW},
}
