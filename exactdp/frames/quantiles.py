"""Quantiles of a column for every released key: what is asked for.

For each key the values of its users lie on a public grid, at most m of a user: see
exactdp.frames.cells. Each quantile is one choice of a point of the grid
(exactdp.mechanisms.GridQuantile); their privacy beside that of the counts is in
exactdp.frames.counts_and_quantiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, converted, flag, frozen, number, whole
from exactdp.frames.reading import Reading, read_missing
from exactdp.mechanisms import GridQuantile
from exactdp.parameters import Real, decimal_text, positive, rational

#: Of a released quantile, and of both bounds together, the error is exceeded with at most this
#: probability.
CHANCE = Fraction(1, 20)


def _levels(name: str, value: Any) -> tuple[Fraction, ...]:
    """Quantiles in increasing order."""
    listed = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else value
    levels = sorted({rational(name, each) for each in listed})
    if not levels or not all(0 <= q <= 1 and (10_000 * q).denominator == 1 for q in levels):
        raise InvalidParameter(name, value, 'one or more multiples of 0.0001 from 0 to 1, as "0.5"')
    return tuple(levels)


@frozen
class Quantile:
    """Quantiles of a column for every released key, on the grid low, low + step, ..., high.

    q: one or more multiples of 0.0001 from 0 to 1, such as "0.5", the median; each is released as a
    column NAME_q50. low, high, step: the grid; values are clipped to its ends, and rounded. of:
    "rows" (at most `most` rows of a user and key, evenly spread over the user's sorted rows),
    "users" (the mean of each user's rows) or "sums" (each user's sum). missing: "drop", or a number
    that takes the place of missing values. interval: True releases two bounds, too, NAME_q50_low
    and NAME_q50_high: for each key, the quantile lies outside of them with probability <= 5 %.
    Raises InvalidParameter.
    """

    q: Real | Iterable[Real] = converted(_levels)
    low: Number = number(rational)
    high: Number = number(rational)
    step: Number = number(positive, default=1)
    of: str | None = None
    missing: str | Real = converted(read_missing, default="drop")
    most: int | None = whole(least=1, default=None)
    interval: bool = flag(default=False)

    def __post_init__(self) -> None:
        _ = self.reading  # raises for impossible values

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The quantiles in increasing order."""
        held: Any = self.q
        return tuple(held)

    @cached_property
    def reading(self) -> Reading:
        """How the column is read."""
        return Reading(self.low, self.high, self.step, self.of, self.missing, self.most)

    @property
    def points(self) -> int:
        """The number of points of the grid."""
        low, high = self.reading.ends
        return high - low + 1

    @property
    def choices(self) -> int:
        """The number of points that are chosen for each key."""
        return len(self.levels) * (3 if self.interval else 1)

    def columns(self, name: str) -> dict[str, str]:
        """The released columns -> their types in narwhals."""
        kind = "Int64" if self.step == 1 else "Float64"
        return dict.fromkeys(self.mechanisms(name, Fraction(1)), kind)

    def mechanisms(self, name: str, epsilon: Fraction) -> dict[str, GridQuantile]:
        """The released columns -> what chooses their points. epsilon: of each choice."""
        chosen = {}
        for q in self.levels:
            column = f"{name}_q{decimal_text(100 * q).replace('.', '_')}"
            middle = GridQuantile(q, self.points, epsilon, self.reading.rows)
            chosen[column] = middle
            if self.interval:
                margin = middle.margin(CHANCE / 2)
                chosen[f"{column}_low"] = replace(middle, below=margin)
                chosen[f"{column}_high"] = replace(middle, above=margin)
        return chosen

    def released(self, point: int) -> float:
        """The value of a point of the grid."""
        value = (self.reading.ends[0] + point) * self.step
        return int(value) if self.step == 1 else float(value)


def quantiles_of(quantiles: Mapping[str, Quantile] | None) -> dict[str, Quantile]:
    """Column -> the quantiles that are asked for; raises InvalidParameter."""
    example = '{"column": Quantile("0.5", 0, 10, of="users")}'
    if not isinstance(quantiles, Mapping | None):
        raise InvalidParameter("quantiles", quantiles, f"a dict, as {example}")
    for column, value in (quantiles or {}).items():
        if not isinstance(value, Quantile):
            raise InvalidParameter(f"quantiles[{column!r}]", value, f"a Quantile, as {example}")
    return dict(quantiles or {})
