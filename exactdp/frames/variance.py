"""The variance of users' means, or of users' sums, beside their mean.

Of N users with a value v, let d = v - c be its distance from the middle c of the range, in steps.
The variance is the mean of d^2 less the square of the mean of d. The mechanism gets one more total
than for the mean: of d^2, which lies between 0 and h^2 for half the range h, less the middle.

The rows of one user are not independent, and a user with many rows counts as rows with their mean:
a variance over rows would be too small. It is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.frames.reading import LARGEST
from exactdp.frames.values import Mean, Total, upwards


@frozen
class Variance(Mean):
    """The mean and the variance of a column for every released key, as NAME and NAME_variance.

    of: "users" (the variance over users of each user's mean) or "sums" (of each user's sum). Other
    parameters as of :class:`Mean`; half of the range is at most 46 340 steps. The variance is that
    of the users of the table: the sum of squared distances from their mean over their number.
    Raises InvalidParameter.
    """

    def __post_init__(self) -> None:
        if self.of == "rows":
            allowed = '"users" or "sums": rows of one user depend on each other'
            raise InvalidParameter("of", self.of, allowed)
        super().__post_init__()
        if self._half**2 > LARGEST:
            raise InvalidParameter("low, high", self._range, "at most 92 680 steps apart")

    def totals(self, name: str) -> tuple[Total, ...]:
        kind = "sum" if self.of == "sums" else "mean"
        what = f"squared distance of the {kind} of {name} from {self.value(self.middle)}"
        largest = self._half**2
        scale = f" in squared steps of one user for one key, less {largest // 2}"
        return (*super().totals(name), Total(what + scale, 0, largest, largest // 2))

    def parts(self, share: Any, weight: Any) -> tuple[Any, ...]:
        distance, *others = super().parts(share, weight)
        return distance, *others, distance * distance - self._half**2 // 2

    def columns(self, name: str) -> dict[str, str]:
        return {**super().columns(name), f"{name}_variance": "Float64"}

    def released(self, totals: Sequence[int], count: int) -> tuple[float, ...]:
        of_mean = super().released(totals[:-1], count)
        low, high = (end - self.middle for end in self.ends)
        values = max(self._number(totals[:-1], count), 1)
        distance = min(max(Fraction(totals[0], values), Fraction(low)), Fraction(high))
        variance = Fraction(self._squares(totals, count), values) - distance**2
        clipped = min(max(variance, Fraction(0)), self._largest)
        return (*of_mean, float(clipped * self.step**2))

    def error(self, totals: Sequence[int], count: int, noises: Sequence[int]) -> float:
        return super().error(totals[:-1], count, (*noises[:-2], noises[-1]))

    def errors(
        self, name: str, totals: Sequence[int], count: int, noises: Sequence[int]
    ) -> dict[str, float]:
        """The variance is s - d^2, with quotients s = S/N and d = D/N. With noise, S and N are off
        by at most x and y: |s - s'| <= (x + h^2 y)/N', and |d^2 - d'^2| <= 2 h |d - d'|."""
        of_mean = self.error(totals, count, noises)
        values, bound = self._number(totals[:-1], count), self._largest
        if values > 0:
            half = Fraction(self._half)
            x = noises[-2] + half**2 // 2 * noises[-1]
            y = noises[-1] if len(noises) == 3 else noises[1] + self._base * noises[-1]
            squares = (x + half**2 * y) / values
            bound = min(bound, squares + 2 * half * Fraction(of_mean) / self.step)
        return {name: of_mean, f"{name}_variance": upwards(bound * self.step**2)}

    def farthest(self, count: int) -> tuple[int, ...]:
        largest = self._half**2
        return (*super().farthest(count), count * (largest - largest // 2))

    def _squares(self, totals: Sequence[int], count: int) -> int:
        """The noisy sum of squares."""
        return totals[-1] + self._half**2 // 2 * count

    @cached_property
    def _half(self) -> int:
        """The largest distance from the middle of the range, in steps."""
        return self.ends[1] - self.middle

    @property
    def _largest(self) -> Fraction:
        """The largest variance of values in the range, in squared steps."""
        low, high = self.ends
        return Fraction((high - low) ** 2, 4)
