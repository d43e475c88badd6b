"""The certified end of a calibration: two neighbouring decimals, one proved and one refuted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, as_decimal, decimal_text, rational

__all__ = [
    "Calibrated",
    "Calibration",
    "Refuted",
    "calibrated",
    "read_resolution",
    "rounded_up",
    "smallest_on_grid",
]

Number: TypeAlias = Decimal | Fraction | int


@dataclass(frozen=True)
class Refuted:
    """The next smaller value on the grid, whose delta provably exceeds the target.

    delta: an enclosure; its lower end is above the target, its upper end may be far above.
    """

    value: Decimal | Fraction
    delta: Enclosure


class Calibrated(Protocol):
    """What every calibration has."""

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def target(self) -> Fraction: ...

    @property
    def delta(self) -> Enclosure: ...

    @property
    def refuted(self) -> Refuted | None: ...

    @property
    def guarantee(self) -> Guarantee: ...


def calibrated(
    found: Calibrated,
    mechanism: str,
    given: Mapping[str, Number],
    parameters: Mapping[str, Number],
    analysis: str = "exact",
) -> dict[str, object]:
    """A calibration for JSON: numbers as decimal strings, rounded outward.

    given: the mechanism's other parameters. parameters: those that were found; the next smaller
    value of the last one is refuted.
    """
    refuted = found.refuted and {
        list(parameters)[-1]: decimal_text(Fraction(found.refuted.value)),
        "delta": found.refuted.delta.as_dict(),
    }
    return {
        "mechanism": mechanism,
        "analysis": analysis,
        "given": _texts(given),
        "epsilon": decimal_text(found.epsilon),
        "target": decimal_text(found.target),
        "parameters": _texts(parameters),
        "delta": found.delta.as_dict(),
        "refuted": refuted,
        "guarantee": found.guarantee.as_dict(),
    }


def _texts(numbers: Mapping[str, Number]) -> dict[str, str]:
    return {name: decimal_text(Fraction(value)) for name, value in numbers.items()}


@dataclass(frozen=True)
class Calibration:
    """Noise, and threshold if there is one, for a target: proved to be enough, and least on a grid.

    sigma, tau: short exact decimals. A sigma that was given is unchanged; tau is None for a
    mechanism without a threshold.
    delta: enclosure at this sigma and tau; its upper end is at most the target.
    refuted: the next smaller tau (sigma where there is no tau), whose delta is above the target;
    None when the smallest possible value is enough.
    tau_bound: provably, no sigma is enough with a threshold this low; None when sigma was given.
    given: the mechanism's other parameters, such as k.
    """

    mechanism: str
    analysis: str
    given: dict[str, Fraction]
    epsilon: Fraction
    target: Fraction
    sigma: Decimal | Fraction
    tau: Decimal | Fraction | None
    delta: Enclosure
    refuted: Refuted | None
    guarantee: Guarantee = field(repr=False)
    tau_bound: Decimal | Fraction | None = None

    def as_dict(self) -> dict[str, object]:
        """For JSON: numbers as decimal strings, rounded outward."""
        found = (
            {"sigma": self.sigma} if self.tau is None else {"sigma": self.sigma, "tau": self.tau}
        )
        bound = self.tau_bound
        return {
            **calibrated(self, self.mechanism, self.given, found, self.analysis),
            "tau_bound": None if bound is None else decimal_text(Fraction(bound)),
        }


def read_resolution(resolution: Real) -> Fraction:
    """The relative grid step of a calibration."""
    step = rational("resolution", resolution)
    if not Fraction(1, 10**15) <= step <= Fraction(1, 10):
        raise InvalidParameter("resolution", resolution, "between 1e-15 and 0.1")
    return step


def rounded_up(value: Fraction, resolution: Fraction) -> Fraction:
    """The next value > 0 on the grid that :func:`smallest_on_grid` uses for it."""
    unit = _unit(value, resolution)
    return math.ceil(value / unit) * unit


def smallest_on_grid(
    check: Callable[[Fraction], Check], hint: Fraction, resolution: Fraction
) -> tuple[Fraction, Refuted | None]:
    """The smallest multiple of a power of ten that check proves, and the one below, refuted.

    check: refutes all values below some value and proves all above it.
    hint: where to start. The step of the grid is the largest power of ten <= resolution * hint.
    """
    if not hint:
        return Fraction(0), None
    unit = _unit(hint, resolution)
    seen: dict[int, Check] = {}

    def proved(n: int) -> bool:
        seen[n] = found = check(n * unit)
        if found.verdict == "undecided":
            value = decimal_text(n * unit)
            raise Undecided(f"whether {value} is enough is not decided; try another analysis")
        return found.verdict == "proved"

    low, high, stride = 0, math.ceil(hint / unit), 1
    while not proved(high):
        low, high, stride = high, high + stride, 2 * stride
    stride = 1
    while not low:
        lower = max(high - stride, 1)
        if proved(lower):
            high, stride = lower, 2 * stride
            if high == 1:
                return unit, None
        else:
            low = lower
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proved(middle) else (middle, high)
    return high * unit, Refuted(as_decimal(low * unit), seen[low].delta)


def _unit(value: Fraction, resolution: Fraction) -> Fraction:
    return Fraction(10) ** _decade(value * resolution)


def _decade(value: Fraction) -> int:
    """The largest d with 10^d <= value."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = bits * 30103 // 100000  # log10(2) = 0.30103, nearly
    while Fraction(10) ** guess > value:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= value:
        guess += 1
    return guess
