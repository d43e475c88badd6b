"""The least value of a parameter with which a calculator's mechanism keeps a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from exactdp.accounting.calculator import Instance, calculator
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.grid import least_multiple
from exactdp.accounting.certify.hints import log
from exactdp.enclosure import Enclosure
from exactdp.errors import ExactDPError
from exactdp.parameters import as_decimal, short_text
from exactdp.picture import curve

#: Around the value that was found, in percent of it: where else a picture shows delta.
_AROUND = (-10, -5, 0, 5, 10)


def calibrated(
    mechanism: str,
    analysis: str,
    at: Callable[[Fraction], Instance],
    *,
    target: Fraction,
    name: str,
    start: Fraction,
    step: Fraction,
    given: Mapping[str, Fraction],
    chosen: Mapping[str, Fraction] | None = None,
    lowest: int = 0,
) -> Calibration:
    """The least value of one parameter on a grid, by :func:`least_multiple`.

    at: the mechanism with a value of this parameter; some value must be enough.
    name: the name of this parameter. chosen: parameters whose values are fixed already.
    mechanism, analysis, given: are copied into the Calibration.
    """
    value, refuted = least_multiple(
        lambda value: at(value).check(target),
        start,
        step,
        lowest=lowest,
        name=name,
    )
    values = {n: as_decimal(v) for n, v in {**(chosen or {}), name: value}.items()}
    promise = at(value).kept(target)
    return CalculatorCalibration(mechanism, analysis, given, values, target, refuted, promise)


class CalculatorCalibration(Calibration):
    """A calibration by a calculator: a notebook shows delta around the value that was found."""

    def nearby(self) -> list[tuple[Fraction, Enclosure]]:
        """Enclosures of delta at five values of the last parameter, from 10 % below to 10 % above.

        The other parameters keep their values. The values are on the grid of the search; where the
        least possible value is enough, there is none. Raises Undecided.
        """
        if self.refuted is None:
            return []
        kind, name = calculator(self.mechanism), list(self.parameters)[-1]
        names = kind.parameters()
        known: dict[str, Any] = {**self.given, **self.parameters, "epsilon": self.epsilon}
        known |= {"analysis": self.analysis}
        value = Fraction(self.parameters[name])
        step = value - Fraction(self.refuted.value)
        values = [value + step * round(value / step * percent / 100) for percent in _AROUND]
        return [
            (v, kind(**{n: x for n, x in {**known, name: v}.items() if n in names}).delta())
            for v in dict.fromkeys(values)
        ]

    def _repr_html_(self) -> str:
        return super()._repr_html_() + _picture(self)


def _picture(calibration: CalculatorCalibration) -> str:
    """An SVG of delta over the last parameter; empty where the target or most deltas are 0."""
    try:
        points = [(value, delta) for value, delta in calibration.nearby() if delta.upper]
    except ExactDPError:  # a picture is no answer: the table stands alone
        return ""
    if len(points) < 2 or not calibration.target:
        return ""
    name = list(calibration.parameters)[-1]
    target = log(calibration.target)
    logs = [log(delta.upper) for _, delta in points]
    bottom, top = min(*logs, target), max(*logs, target)
    heights = [(each - bottom) / (top - bottom) for each in logs]
    least, most = points[0][0], points[-1][0]
    level = (target - bottom) / (top - bottom)
    return curve(
        [
            (float((v - least) / (most - least)), y)
            for (v, _), y in zip(points, heights, strict=True)
        ],
        title=f"delta over {name}",
        across=(f"{name} {short_text(least)}", short_text(most)),
        up={
            short_text(calibration.target): level,
            points[0][1].decimal_upper(2): heights[0],
            points[-1][1].decimal_upper(2): heights[-1],
        },
        level=level,
        chosen=[value for value, _ in points].index(Fraction(calibration.parameters[name])),
    )
