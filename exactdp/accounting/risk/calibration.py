"""Calibration to a risk: the least noise, the most runs or the largest epsilon that keeps it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import least_multiple, read_resolution, unit_of
from exactdp.accounting.certify.hints import exp2
from exactdp.accounting.pld import Pld, approximate
from exactdp.accounting.risk.measures import Risk
from exactdp.bisection import halved, least
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, as_decimal, decimal_text, rational

__all__ = ["RiskCalibration", "calibrate_epsilon", "calibrate_noise", "calibrate_runs"]

#: Widths of enclosures that are tried, one after the other, until a risk is decided.
_WIDTHS = ("1e-2", "1e-3", "1e-5", "1e-7", "1e-9")

#: The search for a first value covers 2^_MOST_DOUBLINGS around 1, in parts of 2^-_FINE doublings.
_MOST_DOUBLINGS, _FINE = 60, 4

_MOST_RUNS = 10**18


@dataclass(frozen=True)
class RiskCalibration:
    """A value that provably keeps a risk, next to one that provably does not.

    measure: the risk. at_most: the target. parameter: "noise", "runs" or "epsilon". value: of it.
    risk: an enclosure at the value, at most the target. refuted: the next value on the grid that
    leaks more; refuted_risk: an enclosure there, above the target. Both are None where no value is
    refuted.
    """

    measure: Risk
    at_most: Fraction
    parameter: str
    value: Decimal | Fraction | int
    risk: Enclosure
    refuted: Decimal | Fraction | int | None
    refuted_risk: Enclosure | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: numbers as decimal strings, rounded outward."""
        text = None if self.refuted is None else decimal_text(Fraction(self.refuted))
        return {
            "risk": self.measure.name,
            "at_most": decimal_text(self.at_most),
            self.parameter: decimal_text(Fraction(self.value)),
            "enclosure": self.risk.as_dict(),
            "refuted": text and {self.parameter: text, "enclosure": self._refuted_dict()},
        }

    def _refuted_dict(self) -> dict[str, str] | None:
        return None if self.refuted_risk is None else self.refuted_risk.as_dict()


def calibrate_noise(
    measure: Risk, at_most: Real, run: Callable[[Fraction], Pld], *, resolution: Real = "1e-3"
) -> RiskCalibration:
    """The least noise, on a decimal grid, with which a risk is at most a target.

    at_most: above the risk where nothing is published, and < 1. run: returns the loss of a noise;
    more noise has to leak less. resolution: relative step of the noise, in [1e-15, 0.1].
    The noise provably keeps the target; the next smaller noise provably does not (where the loss is
    not `exact`: its upper bound does not show it). Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import pld, risk
    >>> calibration = risk.calibrate_noise(
    ...     risk.Advantage(), "0.1", lambda noise: pld.gaussian(sigma=noise), resolution="1e-2"
    ... )
    >>> print(calibration.value, calibration.refuted)
    3.98 3.97
    """
    question = _Question(measure, _target(measure, at_most), run)
    unit = read_resolution(resolution)

    def keeps(doublings: float) -> bool:
        return question.is_about_kept(exp2(doublings))

    low, high = _bracket(keeps, "noise")
    low, high = halved(low, high, keeps, times=_FINE)
    start = exp2((low + high) / 2)
    noise, refuted = least_multiple(question.decide, start, unit_of(start, unit), lowest=1)
    return RiskCalibration(
        measure,
        question.target,
        "noise",
        as_decimal(noise),
        question.decide(noise).delta,
        None if refuted is None else refuted.value,
        None if refuted is None else refuted.delta,
    )


def calibrate_runs(measure: Risk, at_most: Real, loss: Pld) -> RiskCalibration:
    """The largest number of runs of a loss, such as steps of a training, that keep a risk.

    at_most: above the risk where nothing is published, and < 1. loss: of one run. The answer may be
    0 runs. One more run provably exceeds the target (where the loss is not `exact`: its upper bound
    does). Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import pld, risk
    >>> step = pld.gaussian(sigma=10)
    >>> calibration = risk.calibrate_runs(risk.Power(false_alarms="0.01"), "0.05", step)
    >>> print(calibration.value, calibration.refuted)
    46 47
    """
    question = _Question(measure, _target(measure, at_most), lambda n: loss.composed(int(n)))

    def exceeds(runs: int) -> bool:
        if runs > _MOST_RUNS:
            raise Undecided(f"the target is still kept after {_MOST_RUNS:.0e} runs")
        return not question.is_kept(Fraction(runs))

    too_many = least(1, None, exceeds)
    kept = Enclosure.exact(measure.least)
    if too_many > 1:
        kept = question.decide(Fraction(too_many - 1)).delta
    refuted = question.decide(Fraction(too_many)).delta
    return RiskCalibration(measure, question.target, "runs", too_many - 1, kept, too_many, refuted)


def calibrate_epsilon(
    measure: Risk, at_most: Real, *, delta: Real = 0, resolution: Real = "1e-3"
) -> RiskCalibration:
    """The largest epsilon, on a decimal grid, with which every (epsilon, delta)-DP mechanism keeps
    a risk.

    at_most: above the risk of (0, delta), and < 1. delta: >= 0 and < 1. resolution: relative step
    of epsilon, in [1e-15, 0.1]. For the next larger epsilon some mechanism exceeds the target.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import risk
    >>> calibration = risk.calibrate_epsilon(risk.Accuracy(prior="1/2"), "0.6")
    >>> print(calibration.value, calibration.refuted)
    0.4054 0.4055
    """
    question = _Question(
        measure, _target(measure, at_most), lambda x: approximate(epsilon=x, delta=delta)
    )
    if not question.is_kept(Fraction(0)):
        raise InvalidParameter("at_most", at_most, "above the risk that delta alone allows")

    def exceeds(doublings: float) -> bool:
        return not question.is_about_kept(exp2(doublings))

    low, _ = halved(*_bracket(exceeds, "epsilon"), exceeds, times=_FINE)
    unit = unit_of(exp2(low), read_resolution(resolution))
    first = math.floor(exp2(low) / unit)
    while not question.is_kept(first * unit):
        first -= max(first // 4, 1)
    refuted = least(first, None, lambda n: not question.is_kept(n * unit))
    return RiskCalibration(
        measure,
        question.target,
        "epsilon",
        as_decimal((refuted - 1) * unit),
        question.decide((refuted - 1) * unit).delta,
        as_decimal(refuted * unit),
        question.decide(refuted * unit).delta,
    )


class _Question:
    """Whether a value keeps a risk; every answer is kept."""

    def __init__(self, measure: Risk, target: Fraction, run: Callable[[Fraction], Pld]) -> None:
        self.target = target
        self._measure, self._run = measure, run
        self._checks: dict[Fraction, Check] = {}

    def decide(self, value: Fraction) -> Check:
        """The risk at a value, beside the target."""
        if value not in self._checks:
            loss = self._run(value)
            for width in _WIDTHS:
                risk = self._measure.of(loss.bound(), relative_width=width)
                self._checks[value] = Check(risk, self.target, tight=loss.exact)
                if self._checks[value].verdict != "undecided":
                    break
        return self._checks[value]

    def is_kept(self, value: Fraction) -> bool:
        """Whether the target is kept. Raises Undecided."""
        verdict = self.decide(value).verdict
        if verdict == "undecided":
            raise Undecided(f"whether {decimal_text(value)} keeps the target is not decided")
        return verdict == "proved"

    def is_about_kept(self, value: Fraction) -> bool:
        """Whether about the target is kept; nothing is certified."""
        risk = self._measure.of(self._run(value).bound(), relative_width=_WIDTHS[0])
        return risk.lower + risk.upper <= 2 * self.target


def _target(measure: Risk, at_most: Real) -> Fraction:
    if not isinstance(measure, Risk):
        raise InvalidParameter("measure", measure, "a measure of exactdp.accounting.risk")
    target = rational("at_most", at_most)
    if not measure.least < target < 1:
        allowed = f"> {decimal_text(measure.least)}, the risk of a guess without outputs, and < 1"
        raise InvalidParameter("at_most", at_most, allowed)
    return target


def _bracket(holds: Callable[[float], bool], name: str) -> tuple[float, float]:
    """The logarithms of two neighbouring powers of 2 between which the condition begins to hold."""
    high, move = 0.0, -1.0 if holds(0.0) else 1.0
    while holds(high) != (move > 0):
        high += move
        if abs(high) > _MOST_DOUBLINGS:
            raise Undecided(
                f"the {name} that meets the target is too small or too large to be found"
            )
    return (high - 1, high) if move > 0 else (high, high + 1)
