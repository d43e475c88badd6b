"""Inversion by a table that reads the same number of random bits, and takes the same steps, always.

A draw is a uniform integer u of T bits. From `whole` on, u selects a uniform outcome, 2^shift
values of u for each. Below, the outcome is the number of ends that are <= u. Both are computed for
every u. The table of ends is filled up to 2^j - 1 entries, so a binary search takes j comparisons.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers.integer_law import Integers, slices
from exactdp.samplers.source import Source

#: Integers as columns of 64-bit digits, the most significant first.
_Digits = NDArray[np.uint64]


class FixedTable:
    """ends: ascending integers >= 0. whole: < 2^bits. shift: >= 0.

    There must be fewer than 2^62 uniform outcomes, (2^bits - whole)/2^shift.
    """

    def __init__(self, bits: int, ends: Sequence[int], whole: int, shift: int) -> None:
        missing = (1 << len(ends).bit_length()) - 1 - len(ends)
        self.bits, self.ends, self.whole, self.shift = bits, ends, whole, shift
        # only an u that selects a uniform outcome reaches the entries added here
        self._filled = [*ends, *[(1 << bits) - 1] * missing]

    def at(self, u: int) -> tuple[int, int]:
        """The number of ends <= u, and the uniform outcome, which is negative if u < whole."""
        return bisect_right(self._filled, u), (u - self.whole) >> self.shift

    def draw_many(self, n: int, source: Source) -> tuple[Integers, Integers]:
        """The results of at(u) for n independent draws; a uniform outcome below 0 is -1."""
        counted, uniform = np.zeros(n, np.int64), np.empty(n, np.int64)
        for part in slices(n):
            passed = counted[part]
            digits = self._read(passed.size, source)
            for j in reversed(range(len(self.ends).bit_length())):
                ends = self._end_digits[:, passed + ((1 << j) - 1)]
                passed += _at_most(ends, digits).astype(np.int64) << j
            uniform[part] = self._uniform(digits)
        return counted, uniform

    def _read(self, n: int, source: Source) -> _Digits:
        if self.bits % 8:
            return _digits([source.bits(self.bits) for _ in range(n)], self.bits)
        sizes = [min(64, left) for left in range(self.bits, 0, -64)]
        return np.stack([source.words(n, size).astype(np.uint64) for size in reversed(sizes)])

    @cached_property
    def _end_digits(self) -> _Digits:
        return _digits(self._filled, self.bits)

    def _uniform(self, digits: _Digits) -> Integers:
        """(u - whole) >> shift, or -1, by subtraction with a borrow from the last digit on."""
        count = digits.shape[1]
        quotients, borrow = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        for i, whole in enumerate(_digits([self.whole], self.bits)[::-1]):
            digit, away = digits[-1 - i], 64 * i - self.shift
            rest = digit - whole - borrow
            borrow = ((digit < whole) | (digit == whole) & (borrow == 1)).astype(np.uint64)
            if -64 < away < 64:
                quotients |= rest << np.uint64(away) if away >= 0 else rest >> np.uint64(-away)
        return np.where(borrow == 1, -1, quotients.astype(np.int64))


def _digits(numbers: Sequence[int], bits: int) -> _Digits:
    places = range((bits - 1) // 64 * 64, -1, -64)
    return np.array([[x >> place & 2**64 - 1 for x in numbers] for place in places], np.uint64)


def _at_most(ends: _Digits, values: _Digits) -> NDArray[np.bool_]:
    """Whether ends <= values, column by column."""
    at_most = np.ones(values.shape[1], np.bool_)
    for end, digit in zip(ends[::-1], values[::-1], strict=True):
        at_most = (end < digit) | (end == digit) & at_most
    return at_most
