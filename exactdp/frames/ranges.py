"""Ranges of users' values: what is summed, in which steps, and what noise must hide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, positive, rational

#: Largest end of a range in steps: sums over 2^32 users stay below 2^63.
_LARGEST = 2**31


@dataclass(frozen=True)
class Range:
    """A user's value for a key is clipped to [low, high], in multiples of the step.

    Noise must hide the distance from the middle, at most `half` steps. mean: whether means are
    released in place of sums. step: the values of rows are rounded to multiples of it.
    """

    low: int
    high: int
    mean: bool = False
    step: Fraction = Fraction(1)

    @property
    def middle(self) -> int:
        """The middle, rounded down, in steps."""
        return (self.low + self.high) // 2

    @property
    def half(self) -> int:
        """The largest distance from the middle, in steps."""
        return self.high - self.middle

    @property
    def largest(self) -> int:
        """The largest absolute value, in steps."""
        return max(abs(self.low), abs(self.high))

    @property
    def whole(self) -> bool:
        """Whether integers are released."""
        return not self.mean and self.step == 1

    def released(self, total: int, count: int) -> int | float:
        """The sum or the mean to release.

        total: noisy sum of distances from the middle. count: noisy number of users.
        """
        if self.whole:
            return total + self.middle * count
        if not self.mean:
            return float((total + self.middle * count) * self.step)
        mean = self.middle + Fraction(total, max(count, 1))
        return float(min(max(mean, Fraction(self.low)), Fraction(self.high)) * self.step)

    def hidden(self, name: str) -> str:
        """The quantity of a column that noise must hide, in words, for a list of bounds."""
        middle = f", less {self.value(self.middle)}," if self.middle else ""
        return (
            f"{name}{middle}" if self.step == 1 else f"{name}{middle} in steps of {self.value(1)}"
        )

    def value(self, steps: int) -> str:
        """A number of steps, converted to the units of the column."""
        return decimal_text(steps * self.step)

    def __str__(self) -> str:
        if self.low == -self.high:
            text = self.value(self.half)
        else:
            text = f"[{self.value(self.low)}, {self.value(self.high)}]"
        return text if self.step == 1 else f"{text} in steps of {self.value(1)}"


def ranges(
    sums: Mapping[str, Any] | None, means: Mapping[str, Any] | None = None
) -> dict[str, Range]:
    """Column -> range, from a limit n (for -n to n), (low, high), (low, high, step) or a Range."""
    by_column: dict[str, Range] = {}
    for name, limit in (sums or {}).items():
        by_column[name] = _range(f"sums[{name!r}]", limit, mean=False)
    for name, limit in (means or {}).items():
        if name in by_column:
            raise InvalidParameter("means", name, "other columns than sums: a sum is mean * count")
        by_column[name] = _range(f"means[{name!r}]", limit, mean=True)
    return by_column


def _range(label: str, limit: Any, *, mean: bool) -> Range:
    if isinstance(limit, Range):
        return limit
    parts = limit if isinstance(limit, tuple) else (-rational(label, limit), limit)
    if len(parts) not in (2, 3):
        raise InvalidParameter(label, limit, "a limit, (low, high) or (low, high, step)")
    step = positive(label, parts[2]) if len(parts) == 3 else Fraction(1)
    low, high = (rational(label, end) / step for end in parts[:2])
    if low.denominator > 1 or high.denominator > 1:
        raise InvalidParameter(label, limit, "a range whose ends are multiples of its step")
    if not -_LARGEST <= low < high <= _LARGEST:
        raise InvalidParameter(label, limit, "(low, high) with low < high, within 2^31 steps of 0")
    return Range(int(low), int(high), mean, step)
