"""Exact distances between recorded values, and equality of released outputs."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.plain import plain_text, type_name
from exactdp.audit.values import common, types_of
from exactdp.errors import InvalidParameter, NotPlain, Undecided, one_line
from exactdp.parameters import short_text

#: A distance: an exact number, or infinite (a value is not finite, or the shapes differ).
Exact = Fraction | None

#: Norm -> its name in reports.
NORMS = {"l1": "L1", "l2": "L2", "linf": "L-infinity"}


def norm_power(differences: Iterable[Fraction], norm: str) -> Fraction:
    """The norm of exact differences; for "l2" its square, which is rational."""
    sizes = [abs(each) for each in differences]
    if norm == "l1":
        return sum(sizes, Fraction(0))
    if norm == "l2":
        return sum((each * each for each in sizes), Fraction(0))
    return max(sizes, default=Fraction(0))


def exceeds(power: Exact, bound: Fraction, norm: str) -> bool:
    """Whether a norm (as returned by norm_power; None: infinite) is larger than a bound."""
    return power is None or power > (bound * bound if norm == "l2" else bound)


def ratio(power: Exact, bound: Fraction, norm: str) -> float:
    """The norm divided by the bound, as a float, to order findings."""
    if power is None or (not bound and power):
        return math.inf
    if not power:
        return 0.0
    return math.sqrt(power / bound**2) if norm == "l2" else float(power / bound)


def norm_text(power: Exact, norm: str) -> str:
    """A norm as people write it.

    >>> norm_text(Fraction(2), "l2"), norm_text(Fraction(1, 2), "l1"), norm_text(None, "l1")
    ('sqrt(2) = 1.41421', '0.5', 'infinite')
    """
    if power is None:
        return "infinite"
    if norm != "l2":
        return number_text(power)
    top, bottom = math.isqrt(power.numerator), math.isqrt(power.denominator)
    if (top * top, bottom * bottom) == (power.numerator, power.denominator):
        return number_text(Fraction(top, bottom))
    return f"sqrt({number_text(power)}) = {math.sqrt(power):.6g}"


def number_text(value: Fraction) -> str:
    """An exact number: in full if it is short, else also its approximation."""
    return short_text(value, 17)


def exact(value: Any) -> Exact:
    """The rational number that a number is, or None if it is not finite."""
    if isinstance(value, np.number) and not isinstance(value, np.timedelta64):
        value = value.item()  # a duration has a unit, and is no number
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return None
    if isinstance(value, numbers.Rational | float | Decimal) and not isinstance(value, np.generic):
        return Fraction(value)
    raise Undecided(f"{one_line(value)} enters a noise call and is not a real number")


def array(value: Any) -> np.ndarray[Any, Any]:
    """The numbers of a value as an array: of numpy, pandas, torch, or nested lists and mappings."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, list | tuple) and any(hasattr(each, "detach") for each in value):
        return np.concatenate([array(each).ravel() for each in value])
    entries = np.asarray(value)
    return entries.astype(int) if entries.dtype == bool else entries


def differences(
    left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]
) -> dict[int, Fraction | None]:
    """The exact differences of two arrays of one shape, by flat index, where they differ.

    None stands for a difference that is not finite: one of the two values is NaN or infinite.
    """
    a, b = left.ravel(), right.ravel()
    by_index: dict[int, Fraction | None] = {}
    for i in np.flatnonzero(~_equal(a, b)):
        one, two = exact(a[i]), exact(b[i])
        by_index[int(i)] = None if one is None or two is None else two - one
    return by_index


def _equal(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    same = np.asarray(a == b, dtype=bool)
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        same |= np.isnan(a) & np.isnan(b)
    return same


@dataclass(frozen=True)
class Output:
    """What a run returned. text: all that a reader sees of it, or "" if its type, untold, is not on
    the list of plain values."""

    value: Any
    text: str
    untold: str

    @classmethod
    def of(cls, value: Any) -> Output:
        """An output, which later runs may change."""
        try:
            text, untold = plain_text(value), ""
        except NotPlain as error:
            text, untold = "", error.kind
        return cls(deepcopy(value), text, untold)

    def equals(self, other: Output) -> bool:
        """Whether a reader sees the same; of types that are not plain, only values and types of
        what they hold are compared. Raises Undecided if they cannot be."""
        if self.text or other.text:
            return self.text == other.text
        alike = same(self.value, other.value)
        return alike and types_of(self.value) == types_of(other.value)


def same(left: Any, right: Any) -> bool:
    """Whether two released outputs are equal; NaN equals NaN. Raises Undecided if not comparable.

    Containers, arrays, tables and data classes are compared part by part, other objects by their
    own equality, or else by their attributes.
    """
    try:
        return left is right or bool(_comparable(left) == _comparable(right))
    except InvalidParameter as error:
        raise Undecided(f"the outputs cannot be compared: {error}") from None


def _comparable(value: Any) -> Any:
    return common(value, unknown=_attributes)


def _attributes(value: Any) -> Any:
    if hasattr(value, "detach"):  # of torch
        return _comparable(array(value))
    if type(value).__eq__ is not object.__eq__:  # type: ignore[comparison-overlap]
        return value
    if hasattr(value, "__dict__"):
        return type_name(type(value)), _comparable(vars(value))
    raise Undecided(
        f"the output holds a {type(value).__name__}, which cannot be compared: "
        "return numbers, arrays, tables or containers"
    )
