"""The questions and the answers of exactdp risk: measures, calibrations and a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactdp.accounting.neighbours import has_named_side
from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, facts, table
from exactdp.cli.pictures import Line, Picture, new_picture
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import choice, decimal_text
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld
    from exactdp.accounting.risk import Risk, RiskCalibration
    from exactdp.enclosure import Enclosure

#: Options of every command, after its own.
QUESTIONS = (
    opt.FALSE_ALARMS,
    opt.PRIOR_OF_USE,
    opt.BASELINE,
    opt.AT_MOST,
    opt.RELATIVE_WIDTH,
    opt.PICTURE_OF_POWER,
)

#: A calibration: of a measure, to a target.
Calibrate = Callable[["Risk", str], "RiskCalibration"]


@dataclass(frozen=True)
class Case:
    """A question. values: the parameters, as text. loss: what is attacked. parameter: what a
    calibration finds, by its name on the command line."""

    mechanism: str
    values: Mapping[str, str]
    loss: Callable[[], Pld]
    parameter: str = ""
    calibrate: Calibrate | None = None


def own_values(texts: Mapping[str, str | None]) -> dict[str, str]:
    """The values that were given for a mechanism's own parameters."""
    others = {each.name for each in QUESTIONS}
    return {name: text for name, text in texts.items() if text is not None and name not in others}


def answer(case: Case, texts: Mapping[str, str | None]) -> Answer:
    """The risks of a case; with --at-most, the parameter that keeps one of them."""
    if texts["at_most"] is None:
        if case.parameter:
            allowed = f"{opt.of_parameter(case.parameter).allowed}, or left out with --at-most"
            raise InvalidParameter(case.parameter, Described("nothing"), allowed)
        return _risks(case, texts)
    if case.calibrate is None:
        allowed = "left out: no parameter of this mechanism is calibrated to a risk"
        raise InvalidParameter("at_most", texts["at_most"], allowed)
    if not case.parameter:
        raise InvalidParameter("at_most", texts["at_most"], "given where a parameter is left out")
    name, _, target = texts["at_most"].partition("=")
    measures = {each.name: each for each in _measures(texts)}
    measure = measures[choice("at_most", name, tuple(measures))]
    with counted("calibrating"):
        calibration = case.calibrate(measure, target)
    return _calibrated(case, measure, calibration)


def _measures(texts: Mapping[str, str | None]) -> list[Risk]:
    """The measures at the rates and priors of the options, or at their defaults."""
    from exactdp.accounting.risk import MEASURES

    values = {each.name: texts[each.name] or each.default for each in QUESTIONS}
    return [
        kind(**{name: values[name] for name in signature(kind).parameters})
        for kind in MEASURES.values()
    ]


def _at(measure: Risk) -> dict[str, str]:
    """The rates and priors of a measure."""
    values: dict[str, Fraction] = vars(measure)
    return {name: decimal_text(value) for name, value in values.items()}


def _risks(case: Case, texts: Mapping[str, str | None]) -> Answer:
    picture = texts["picture"] and new_picture(texts["picture"])
    width = texts["relative_width"] or opt.RELATIVE_WIDTH.default
    with counted("certifying"):
        loss = case.loss()
        measures = [each for each in _measures(texts) if _is_meant(each, loss)]
        answers = [(each, each.of(loss, relative_width=width)) for each in measures]
    if picture:
        _draw(loss, case.mechanism, Path(picture), width)
    data = {
        "mechanism": case.mechanism,
        "given": dict(case.values),
        "risks": [_entry(measure, bounds) for measure, bounds in answers],
        "neighbours": loss.neighbours,
        "source": loss.source,
    }
    rows = []
    for measure, bounds in answers:
        least = decimal_text(measure.least)
        rows.append([measure.name, _words(measure), format(bounds, "5"), least])
        if measure.name == "accuracy":
            wrong = format(1 - bounds, "5"), decimal_text(1 - measure.least)
            rows.append(["Bayes risk", _words(measure), *wrong])
    title = ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in case.values.items())
    header = ["risk", "at", "with the outputs", "without"]
    lines = [table(f"{case.mechanism}: {title}", header, rows)]
    lines += [f"{measure.name}: {measure.definition} ({measure.source})" for measure, _ in answers]
    lines.append("Bayes risk: 1 - accuracy; the attacker knows everything but one user's data")
    lines.append(f"neighbours: {loss.neighbours}")
    return Answer(data, "\n".join(lines))


def _is_meant(measure: Risk, loss: Pld) -> bool:
    """Whether a measure has a meaning for the neighbours: reconstruction needs a side without the
    user's data."""
    return measure.name != "reconstruction" or has_named_side(loss.neighbours)


def _entry(measure: Risk, bounds: Enclosure) -> dict[str, Any]:
    return {
        "risk": measure.name,
        "at": _at(measure),
        "enclosure": bounds.as_dict(),
        "without_outputs": decimal_text(measure.least),
        "definition": measure.definition,
        "source": measure.source,
    }


def _words(measure: Risk) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in _at(measure).items())


def _calibrated(case: Case, measure: Risk, calibration: RiskCalibration) -> Answer:
    value = decimal_text(Fraction(calibration.value))
    data = {
        "mechanism": case.mechanism,
        "given": dict(case.values),
        "parameters": {case.parameter: value},
        "calibration": calibration.as_dict(),
    }
    rows = {**case.values, case.parameter: value}
    what = f"{measure.name}, {_words(measure)}".rstrip(", ")
    rows[what] = f"{format(calibration.risk, '5')} <= {decimal_text(calibration.at_most)}"
    if calibration.refuted is not None and calibration.refuted_risk is not None:
        more = f"{case.parameter} = {decimal_text(Fraction(calibration.refuted))}"
        rows["refuted"] = f"{more}: {measure.name} {format(calibration.refuted_risk, '5')}"
    return Answer(data, facts(f"{case.mechanism}, calibrated to a risk", rows))


def _draw(loss: Pld, name: str, path: Path, width: str) -> None:
    """The power at false-alarm rates from 1e-6 on, both ends of each enclosure."""
    rates = [10 ** (-6 + i / 4) for i in range(24)]
    with counted("drawing"):
        powers = [loss.power(f"{rate:.6e}", relative_width=width) for rate in rates]
    picture = Picture(None, x="false-alarm rate", y="largest power", title=name)
    picture.axes.set_xscale("log")
    picture.axes.set_yscale("log")
    upper = [power.float_upper() for power in powers]
    picture.draw([Line("with the outputs", rates, upper, 0), Line("a guess", rates, rates, 1, ":")])
    picture.save(path)
