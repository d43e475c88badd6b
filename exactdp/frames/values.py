"""What is read of a column of values: sums or means, over rows, over users' means or users' sums.

A user who joins moves, for each of at most k keys, the number of users by one and every *total* by
a bounded number of steps (:class:`Total`). The mechanism gets the totals with these bounds, so that
its guarantee covers them; the sums and means are computed from its noisy answers alone.

Of a user's rows for a key, let v_1, ..., v_n be the values, each clipped to [low, high] and rounded
to a step; a missing value is left out, or is the stated number. With at most m rows, w = min(n, m)
is the user's *weight*, and the user's share is w times the mean of v_1, ..., v_n, rounded to a
step: all rows if n <= m, and else what m of them, chosen at random, have on average. "users" is
"rows" with m = 1. For "sums" the share is v_1 + ... + v_n, clipped to [low, high], and
w = min(n, 1).

- Sums: the total of shares less the middle c of their range, an interval [a, b] that holds 0 if w
  may be 0. A user moves this total by at most max(b - c, c - a); c times the noisy number of users
  is added back.
- Means: the total of (share - c w), c the middle of [low, high]: at most m (high - c). And the
  total of weights, unless every user has the weight 1: at most m. The mean is c plus their
  quotient.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.frames.reading import READINGS, Reading


@dataclass(frozen=True)
class Total:
    """A number of steps that each user has for a key, from low to high.

    Added up over users are the distances from the middle, which noise must hide.
    what: the quantity in words, for a list of bounds.
    """

    what: str
    low: int
    high: int
    middle: int

    @property
    def half(self) -> int:
        """The largest distance from the middle."""
        return max(self.high - self.middle, self.middle - self.low)


@frozen
class Value(Reading):
    """A sum or a mean of a column; use :class:`Sum` or :class:`Mean`."""

    @property
    def kind(self) -> str:
        return f"{type(self).__name__.lower()}s"

    @abstractmethod
    def totals(self, name: str) -> tuple[Total, ...]:
        """The totals of a column of this name that the mechanism releases."""

    @abstractmethod
    def parts(self, share: Any, weight: Any) -> tuple[Any, ...]:
        """The distances of the totals from their middles, from a user's share and weight."""

    @abstractmethod
    def columns(self, name: str) -> dict[str, str]:
        """The released columns -> their types in narwhals."""

    @abstractmethod
    def released(self, totals: Sequence[int], count: int) -> tuple[float, ...]:
        """The values of the released columns. totals: with noise. count: noisy number of users."""

    @abstractmethod
    def error(self, totals: Sequence[int], count: int, noises: Sequence[int]) -> float:
        """A bound of the error of the first released value by noise, where the noise of the
        totals, and last that of the count, is at most `noises`."""

    def errors(
        self, name: str, totals: Sequence[int], count: int, noises: Sequence[int]
    ) -> dict[str, float]:
        """Released column -> a bound of its error by noise, for those that have one."""
        return {name: self.error(totals, count, noises)}

    @abstractmethod
    def farthest(self, count: int) -> tuple[int, ...]:
        """Totals of `count` users with a value each, which have the largest error."""

    def _hidden(self, what: str, less: str) -> str:
        """A quantity that noise must hide, in words. less: what is subtracted from it."""
        return f"absolute {what}{f', {less},' if less else ''}{self._steps} of one user for one key"


@frozen
class Sum(Value):
    """The sum of a column for every released key.

    low, high: clip rows, or a user's sum for a key (of="sums"); multiples of the step. step: 1e-100
    to 1e100; rows are rounded to multiples of it. of: "rows" (at most `most` rows of a user and key
    count; a user with more rows counts as `most` rows with their mean), "users" (each user's mean
    counts once) or "sums" (each user's sum). missing: "drop" leaves missing values out; a number
    takes their place. most: >= 1, with of="rows" alone. Raises InvalidParameter.
    """

    def totals(self, name: str) -> tuple[Total, ...]:
        (low, high), weights = self.ends, (self._least_weight, self.rows)
        least, largest = min(w * low for w in weights), max(w * high for w in weights)
        middle = (least + largest) // 2
        what = {"rows": f"sum of rows of {name}", "users": f"mean of {name}"}
        less = f"less {self.value(middle)}" if middle else ""
        hidden = self._hidden(what.get(self.of or "", f"sum of {name}"), less)
        return (Total(hidden, least, largest, middle),)

    def parts(self, share: Any, weight: Any) -> tuple[Any, ...]:
        (total,) = self.totals("")
        return (share - total.middle,)

    def columns(self, name: str) -> dict[str, str]:
        return {name: "Int64" if self.step == 1 else "Float64"}

    def released(self, totals: Sequence[int], count: int) -> tuple[float, ...]:
        total = totals[0] + self._centre * count
        return (total if self.step == 1 else float(total * self.step),)

    def error(self, totals: Sequence[int], count: int, noises: Sequence[int]) -> float:
        return upwards((noises[0] + abs(self._centre) * noises[-1]) * self.step)

    def farthest(self, count: int) -> tuple[int, ...]:
        return (0,)

    @cached_property
    def _centre(self) -> int:
        return self.totals("")[0].middle


@frozen
class Mean(Value):
    """The mean of a column for every released key; parameters as of :class:`Sum`.

    of: "rows" averages rows, "users" averages users' means, "sums" averages users' sums. Where the
    number of values is not the number of users, it is released, too, as the column NAME_values.
    """

    def totals(self, name: str) -> tuple[Total, ...]:
        return self._distances_and_weights(name)

    def _distances_and_weights(self, name: str) -> tuple[Total, ...]:
        """The totals of a mean: the second one is missing if each user has the weight 1."""
        low, high = (self.rows * (end - self.middle) for end in self.ends)
        less = f"less {self.value(self.middle)}" if self.middle else ""
        if self.of == "rows":
            hidden = self._hidden(f"sum of rows of {name}", less and f"each {less}")
        else:
            hidden = self._hidden(f"{'sum' if self.of == 'sums' else 'mean'} of {name}", less)
        distances = Total(hidden, low, high, 0)
        if self._least_weight == self.rows:
            return (distances,)
        what = f"number of values of {name} of one user for one key"
        middle = (self._least_weight + self.rows) // 2
        less = f", less {middle}" if middle else ""
        return distances, Total(what + less, self._least_weight, self.rows, middle)

    def parts(self, share: Any, weight: Any) -> tuple[Any, ...]:
        distances = share - weight * self.middle
        return (distances, *(weight - self._base for _ in self._distances_and_weights("")[1:]))

    def columns(self, name: str) -> dict[str, str]:
        number = {f"{name}_values": "Int64"} if len(self._distances_and_weights("")) > 1 else {}
        return {name: "Float64", **number}

    def released(self, totals: Sequence[int], count: int) -> tuple[float, ...]:
        values = self._number(totals, count)
        mean = self.middle + Fraction(totals[0], max(values, 1))
        low, high = self.ends
        clipped = float(min(max(mean, Fraction(low)), Fraction(high)) * self.step)
        return (clipped, values) if len(totals) > 1 else (clipped,)

    def error(self, totals: Sequence[int], count: int, noises: Sequence[int]) -> float:
        """A mean is the middle plus d = D/N. With noise, D and N are off by at most x and y, and
        d' = D'/N': |d - d'| <= (x + |d| y)/N' <= (x + half y)/N', and (x + |d'| y)/(N' - y) if
        N' > y. Both differences are quotients of D N' - D' N."""
        low, high = self.ends
        values, bounds = self._number(totals, count), [Fraction(high - low)]
        x = noises[0]
        y = noises[-1] if len(totals) == 1 else noises[1] + abs(self._base) * noises[-1]
        if values > 0:
            bounds.append((x + (high - self.middle) * Fraction(y)) / values)
        if values > y:
            bounds.append((x + abs(Fraction(totals[0], values)) * y) / (values - y))
        return upwards(min(bounds) * self.step)

    def farthest(self, count: int) -> tuple[int, ...]:
        distances = (self.ends[1] - self.middle) * count
        return distances, *(count - self._base * count for _ in self._distances_and_weights("")[1:])

    def _number(self, totals: Sequence[int], count: int) -> int:
        """The noisy number of values."""
        return count if len(totals) == 1 else totals[1] + self._base * count

    @cached_property
    def _base(self) -> int:
        """The middle of the total of weights; 0 if there is none."""
        return sum(total.middle for total in self._distances_and_weights("")[1:])


def noises_of(values: Mapping[str, Value], mechanism: Any) -> dict[str, tuple[int, ...]]:
    """Column -> bounds of the noise of its totals, and last of the count. The probability that a
    key is released and the noise exceeds a bound is at most 5 %."""
    noises, place = {}, 0
    for name, value in values.items():
        width = len(value.totals(name))
        chance = Fraction(1, 20 * (width + 1))
        of_totals = mechanism.sum_errors(chance)[place : place + width]
        noises[name] = (*of_totals, mechanism.accuracy(chance).per_query)
        place += width
    return noises


def upwards(number: Fraction) -> float:
    return nextafter(float(number), inf) if number else 0.0


def values_of(
    sums: Mapping[str, Sum] | None, means: Mapping[str, Mean] | None = None
) -> dict[str, Value]:
    """Column -> what is read of it; raises InvalidParameter."""
    return dict(_read("sums", sums, Sum)) | dict(_read("means", means, Mean, sums or {}))


def _read(
    label: str, values: Any, kind: type[Value], taken: Mapping[str, Any] | tuple[()] = ()
) -> Iterator[tuple[str, Value]]:
    name = kind.__name__
    if not isinstance(values, Mapping | None):
        raise InvalidParameter(label, values, f'a dict, as {{"column": {name}(0, 10, of="users")}}')
    for column, value in (values or {}).items():
        if not isinstance(value, kind):
            more = {"rows": ", most=m"}
            calls = [
                f'{name}(low, high, of="{of}"{more.get(of, "")}), over {text}'
                for of, text in READINGS.items()
            ]
            raise InvalidParameter(f"{label}[{column!r}]", value, f"one of {'; '.join(calls)}")
        if column in taken:
            raise InvalidParameter(label, column, "other columns than sums: a sum is mean * count")
        yield column, value
