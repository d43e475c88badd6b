"""Checked sparse vectors: entries and values as exact numerators over a common denominator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.encoding import encode_bytes
from exactdp.parameters import Real, decimal_text, integer, rational
from exactdp.samplers import Source
from exactdp.vector import Vector, by_entry

#: An entry as users name it: a number, or a text in a domain of texts.
Entry: TypeAlias = int | str | bytes

#: Products below this fit int64 arrays.
_FITS = 1 << 62


@dataclass(frozen=True)
class NonzeroEntries:
    """The non-zero entries of a vector: x[ids[i]] = numerators[i] / denominator."""

    ids: NDArray[Any]
    numerators: NDArray[Any]
    denominator: int

    def __len__(self) -> int:
        return len(self.ids)

    def at_most(self, top: Fraction) -> NonzeroEntries:
        """The entries with values clamped to [-top, top], exactly; the denominator may grow."""
        largest = int(np.abs(self.numerators).max(initial=0))
        if largest <= top * self.denominator:
            return self
        factor = lcm(top.denominator, self.denominator) // self.denominator
        numerators = self.numerators.astype(object if largest * factor >= _FITS else np.int64)
        limit = int(top * self.denominator * factor)
        cut = np.clip(numerators * factor, -limit, limit)
        return NonzeroEntries(self.ids, cut, self.denominator * factor)

    def map(self, ids: NDArray[Any], numerators: NDArray[Any]) -> NonzeroEntries:
        """New entries over the same denominator, without zeros."""
        kept = numerators != 0
        return NonzeroEntries(ids[kept], numerators[kept], self.denominator)


def checked(
    vector: Vector, d: int, k: int, low: Fraction | None, high: Fraction | None
) -> NonzeroEntries:
    """The non-zero entries of a vector, in any order.

    d: entries are integers in [0, d). k: largest number of non-zero entries. low, high: range of
    the values (None: no bound). Raises InvalidParameter.
    """
    value_of = by_entry("vector", vector)
    ids = identifiers(list(value_of), d)
    if len(set(ids.tolist())) < len(value_of):
        raise InvalidParameter("vector", Described("an entry twice"), "one value per entry")
    numerators, denominator = _numbers(value_of)
    _within(ids, numerators, denominator, low, high)
    entries = NonzeroEntries(ids, numerators, denominator).map(ids, numerators)
    if len(entries) > k:
        raise InvalidParameter(
            "vector", Described(f"{len(entries)} non-zero entries"), f"at most k = {k}"
        )
    return entries


def _require_place(i: int, d: int) -> None:
    if not 0 <= i < d:
        raise InvalidParameter("id", i, f">= 0 and < d = {d}")


def _within(
    ids: NDArray[Any],
    numerators: NDArray[Any],
    denominator: int,
    low: Fraction | None,
    high: Fraction | None,
) -> None:
    """Refuse values outside [low, high]."""
    if not len(ids):
        return
    for place, bound, sign in ((numerators.argmin(), low, 1), (numerators.argmax(), high, -1)):
        value = Fraction(int(numerators[place]), denominator)
        if bound is not None and sign * value < sign * bound:
            allowed = f"{'>=' if sign > 0 else '<='} {decimal_text(bound)}"
            raise InvalidParameter(f"vector[{ids[place]}]", decimal_text(value), allowed)


def identifiers(ids: Any, d: int) -> NDArray[Any]:
    """Checked entries in [0, d), as uint64 if they fit. ids: integers, or texts of at most n bytes
    for d = 256^(n + 1). Raises InvalidParameter."""
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "ui" and d <= 1 << 64:
        for end in (ids.min(initial=0), ids.max(initial=0)):
            _require_place(int(end), d)
        return ids.astype(np.uint64)
    listed = list(ids)
    if not set(map(type, listed)) <= {int}:
        listed = [_number_of(x, d) for x in listed]
    for end in (min(listed, default=0), max(listed, default=0)):
        _require_place(end, d)
    return np.array(listed, np.uint64 if d <= 1 << 64 else object)


def _number_of(entry: Any, d: int) -> int:
    """The number of an entry; texts are encoded as by encode_bytes.

    Texts need a domain of texts: elsewhere "17" might be meant as the number 17.
    """
    if not isinstance(entry, str | bytes):
        return integer("id", entry, least=0)
    longest = (d.bit_length() - 1) // 8 - 1
    if longest < 0 or d != 256 ** (longest + 1):
        raise InvalidParameter("id", entry, "an integer: texts of n bytes need d = 256^(n + 1)")
    raw = entry if isinstance(entry, bytes) else entry.encode("utf-8", "surrogateescape")
    return encode_bytes(raw, longest)


def _numbers(vector: Mapping[int, Real]) -> tuple[NDArray[Any], int]:
    """Numerators of all values, and their common denominator; large integers as objects."""
    values: Any = list(vector.values())
    denominator = 1
    if not set(map(type, values)) <= {int}:
        exact = [rational(f"vector[{i}]", x) for i, x in vector.items()]
        denominator = lcm(*{x.denominator for x in exact})
        values = [x.numerator * (denominator // x.denominator) for x in exact]
    size = max(max(values, default=0), -min(values, default=0))
    return np.array(values, np.int64 if size < _FITS else object), denominator


def rounded(entries: NonzeroEntries, width: Fraction, source: Source) -> NDArray[np.int64]:
    """Each value/width, of either sign, rounded at random without bias to an adjacent integer.

    Source: ALP, Section 2, RandRound.
    """
    factor, whole = width.denominator, width.numerator * entries.denominator
    numerators = entries.numerators
    if max(int(np.abs(numerators).max(initial=0)) * factor, whole) >= _FITS:
        numerators = numerators.astype(object)
    scaled = numerators * factor
    below = scaled // whole
    up = source.uneven_coins(scaled - below * whole, whole)
    return below.astype(np.int64) + up
