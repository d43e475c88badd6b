"""The least value on a grid that is enough: it is proved, and the value below it is refuted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.hints import log
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, as_decimal, decimal_text, rational

__all__ = ["Refuted", "least_multiple", "read_resolution", "unit_of"]

#: Strides grow by at most this factor beyond doubling.
_FASTEST = 64


@dataclass(frozen=True)
class Refuted:
    """The next smaller value on the grid, whose delta provably exceeds the target.

    delta: an enclosure; its lower end is above the target, its upper end may be far above.
    """

    value: Decimal | Fraction
    delta: Enclosure


def read_resolution(resolution: Real) -> Fraction:
    """The relative grid step of a calibration."""
    step = rational("resolution", resolution)
    if not Fraction(1, 10**15) <= step <= Fraction(1, 10):
        raise InvalidParameter("resolution", resolution, "between 1e-15 and 0.1")
    return step


def unit_of(value: Fraction, resolution: Fraction) -> Fraction:
    """The step of a decimal grid near a value > 0: the largest power of ten <= resolution value."""
    most = value * resolution
    bits = most.numerator.bit_length() - most.denominator.bit_length()
    guess = bits * 30103 // 100000  # log10(2) = 0.30103, nearly
    while Fraction(10) ** guess > most:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= most:
        guess += 1
    return Fraction(10) ** guess


def least_multiple(
    check: Callable[[Fraction], Check],
    start: Fraction,
    step: Fraction,
    *,
    lowest: int = 0,
    stride: int = 1,
    name: str = "the value",
) -> tuple[Fraction, Refuted | None]:
    """The least multiple of step that check proves, and the one below it, which check refutes.

    check: decides a value. Larger values have a smaller delta, and some are proved.
    start: where to look first, >= 0. stride: of the search, in steps; it grows.
    lowest: the least multiple that is tried; if it is proved, no value is refuted.
    Raises Undecided where check does not decide.
    """
    search = _Search(check, step, lowest, name)
    low, high = search.bracket(max(math.ceil(start / step), lowest), stride)
    halve = False
    while high - low > 1:
        width, middle = high - low, (low + high) // 2
        if low >= lowest and not halve:
            middle = min(max(search.meeting(low, high), low + 1), high - 1)
        low, high = (low, middle) if search.proved(middle) else (middle, high)
        halve = 2 * (high - low) > width  # the guess did worse than halving
    refuted = None if low < lowest else Refuted(as_decimal(low * step), search.seen[low].delta)
    return high * step, refuted


class _Search:
    """Values that were checked, as multiples of a step."""

    def __init__(
        self, check: Callable[[Fraction], Check], step: Fraction, lowest: int, name: str
    ) -> None:
        self._check, self._step, self._lowest, self._name = check, step, lowest, name
        self.seen: dict[int, Check] = {}

    def proved(self, n: int) -> bool:
        if n not in self.seen:
            self.seen[n] = self._check(n * self._step)
        if self.seen[n].verdict == "undecided":
            value = decimal_text(n * self._step)
            raise Undecided(f"whether {self._name} = {value} is enough is not decided")
        return self.seen[n].verdict == "proved"

    def bracket(self, first: int, stride: int) -> tuple[int, int]:
        """A multiple that is refuted, or below the lowest one, and a multiple that is proved.

        The search moves away from `first` in strides that double. Where the last two values of
        delta suggest a larger stride, it takes that one, within limits.
        """
        up, nowhere = not self.proved(first), self._lowest - 1
        last, here = first, max(first + stride if up else first - stride, nowhere)
        while here > nowhere and self.proved(here) != up:
            further = abs(self.meeting(last, here) - here)
            move = min(max(further + stride // 8, stride), _FASTEST * stride)
            last, here, stride = here, max(here + move if up else here - move, nowhere), 2 * stride
        return (last, here) if up else (here, last)

    def meeting(self, a: int, b: int) -> int:
        """A guess at where delta meets the target: the logarithm of delta is almost linear."""
        (one, target), (other, _) = self._seen(a), self._seen(b)
        share = (one - target) / (one - other) if one != other else 0.5
        return a + round(Fraction(min(max(share, -64.0), 64.0)) * (b - a))

    def _seen(self, n: int) -> tuple[float, float]:
        """The logarithms of delta, by the end that decided, and of the target."""
        check = self.seen[n]
        delta = check.delta.upper if check.verdict == "proved" else check.delta.lower
        target = check.target or Fraction(1)  # 0 has no logarithm: the guess is then a poor one
        return log(delta or target), log(target)


def rounded(value: Fraction, digits: int, rounding: str = ROUND_CEILING) -> Fraction:
    """The number to this number of significant digits, by default rounded up."""
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
