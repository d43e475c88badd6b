"""How a column of values is read: which of a user's values for a key count, clipped and rounded.

See exactdp.frames.values for what is computed from them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.parameters import Real, decimal_text, positive, rational

#: Largest size of a user's share in steps: totals of 2^32 users stay below 2^63.
LARGEST = 2**31

#: Of steps from the inverse of this number to it, doubles hold the inverses and all totals.
_LARGEST_STEP = Fraction(10**100)

#: What a sum or a mean may be over -> how it reads a user with several rows.
READINGS = {
    "rows": "all rows, of which at most `most` count for a user and key; low and high of a row",
    "users": "users, with the mean of each user's rows; low and high of a row",
    "sums": "users, with the sum of each user's rows; low and high of this sum",
}


def read_missing(name: str, value: Any) -> str | Fraction:
    return value if isinstance(value, str) and value == "drop" else rational(name, value)


@frozen
class Reading:
    """How a column is read: the values of a user's rows for a key, and how many of them count."""

    low: Number = number(rational)
    high: Number = number(rational)
    step: Number = number(positive, default=1)
    of: str | None = None
    missing: str | Real = converted(read_missing, default="drop")
    most: int | None = whole(least=1, default=None)

    def __post_init__(self) -> None:
        if self.of not in READINGS:
            readings = "; ".join(f'"{name}": over {text}' for name, text in READINGS.items())
            raise InvalidParameter("of", self.of, f"one of {readings}")
        if self.most is not None and self.of != "rows":
            raise InvalidParameter("most", self.most, 'given with of="rows" alone')
        if self.most is None and self.of == "rows":
            allowed = 'given with of="rows": the number of rows of one user that count for a key; '
            allowed += 'of="users" takes the mean of each user\'s rows'
            raise InvalidParameter("most", Described("nothing"), allowed)
        if not 1 / _LARGEST_STEP <= self.step <= _LARGEST_STEP:
            raise InvalidParameter("step", self.step, "from 1e-100 to 1e100")
        low, high = self.low / self.step, self.high / self.step
        if low.denominator > 1 or high.denominator > 1:
            raise InvalidParameter("low, high", self._range, "multiples of the step")
        if not low < high or self.rows * max(abs(low), abs(high)) > LARGEST:
            allowed = "low < high, and `most` times both within 2^31 steps of 0"
            raise InvalidParameter("low, high", self._range, allowed)
        if isinstance(self.missing, Fraction):
            steps, (least, largest) = self.missing / self.step, self.row_range
            if steps.denominator > 1 or not least <= steps <= largest:
                allowed = f'"drop", or a multiple of the step that a row may have: {self._range}'
                raise InvalidParameter("missing", decimal_text(self.missing), allowed)

    @property
    def rows(self) -> int:
        """m: the largest weight of a user for a key."""
        return self.most or 1

    @cached_property
    def ends(self) -> tuple[int, int]:
        """low and high in steps."""
        return int(self.low / self.step), int(self.high / self.step)

    @property
    def middle(self) -> int:
        """The middle of low and high, rounded down, in steps."""
        return sum(self.ends) // 2

    @property
    def row_range(self) -> tuple[int, int]:
        """The range to which the values of rows are clipped, in steps."""
        largest = max(map(abs, self.ends))
        return (-largest, largest) if self.of == "sums" else self.ends

    @property
    def substitute(self) -> int | None:
        """What a missing value counts as, in steps; None if it is left out."""
        return (
            None
            if isinstance(self.missing, str)
            else int(rational("missing", self.missing) / self.step)
        )

    @property
    def kind(self) -> str:
        """What is released, in words."""
        return "quantiles"

    def described(self, name: str) -> str:
        """What is checked of a user's rows for a key, in words."""
        kind, step = self.kind, self._steps
        if self.of == "sums":
            return f"{kind} of {name} over users: sums within {self._range}{step}"
        if self.of == "users":
            return f"{kind} of {name} over users: means within {self._range}{step}"
        return f"{kind} of {name} over at most {self.rows} rows, each within {self._range}{step}"

    def value(self, steps: int) -> str:
        """A number of steps, converted to the units of the column."""
        return decimal_text(steps * self.step)

    @property
    def _range(self) -> str:
        return f"[{decimal_text(self.low)}, {decimal_text(self.high)}]"

    @property
    def _steps(self) -> str:
        return "" if self.step == 1 else f" in steps of {decimal_text(self.step)}"

    @property
    def _least_weight(self) -> int:
        """The least weight of a user with a row for a key."""
        return 0 if self.substitute is None else 1
