"""exactdp risk: what an attacker can do, and the noise, runs or epsilon that keep a risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.accounting.calculator import CALCULATORS
from exactdp.accounting.calculator import calculator as calculator_named
from exactdp.accounting.neighbours import has_named_side
from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, facts, table
from exactdp.cli.composition import SCHEME, training
from exactdp.cli.options import options
from exactdp.cli.pictures import Line, Picture, new_picture
from exactdp.cli.prepared import prepared
from exactdp.cli.reading import existing, text_in
from exactdp.cli.steps import steps_of
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.parameters import choice, decimal_text
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld
    from exactdp.accounting.risk import Risk, RiskCalibration
    from exactdp.enclosure import Enclosure

#: Options of every command, after its own.
_ASKED = (
    opt.FALSE_ALARMS,
    opt.PRIOR_OF_USE,
    opt.BASELINE,
    opt.AT_MOST,
    opt.RELATIVE_WIDTH,
    opt.PICTURE_OF_POWER,
)

#: Parameters of calculators that a risk falls with, and that calibrations find.
_NOISE = ("sigma", "scale", "tau")

#: A threshold of this many standard deviations hides counters of one user.
_FAR = 100

#: A calibration: of a measure, to a target.
_Calibrate = Callable[["Risk", str], "RiskCalibration"]


class _Risks(click.Group):
    """Commands of mechanisms, and one for every calculator."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, those of calculators last."""
        return [*self.commands, *CALCULATORS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in CALCULATORS:
            command = _of_calculator(cmd_name)
        return command and prepared(command, f"risk {cmd_name}")


@click.group(cls=_Risks, no_args_is_help=True)
def risk() -> None:
    """Compute what an attacker can do, or the noise that a risk allows.

    The risks are the advantage, power and precision of membership attacks, the best guess (Bayes
    risk), and reconstruction. The attacker knows everything but one user's data: all other users,
    the mechanism, and all that is published. Each number is enclosed from both sides.

    --at-most RISK=NUMBER finds the noise, the steps, the runs or the epsilon that is left out.
    """


@dataclass(frozen=True)
class _Case:
    """A question. values: the parameters, as text. loss: what is attacked. parameter: what a
    calibration finds, by its name on the command line."""

    mechanism: str
    values: Mapping[str, str]
    loss: Callable[[], Pld]
    parameter: str = ""
    calibrate: _Calibrate | None = None


@risk.command(
    epilog="Example: exactdp risk sgd --noise-multiplier 1 --rate 0.01 --steps 1000 "
    "--false-alarms 1e-6\nExample: exactdp risk sgd --rate 0.01 --steps 1000 --at-most "
    "advantage=0.1"
)
@options(
    opt.RATE_PHASES, optional=(opt.NOISE_MULTIPLIER_PHASES, opt.STEPS_PHASES, *SCHEME, *_ASKED)
)
@answering
def sgd(**texts: str | None) -> Answer:
    """Training with noise (DP-SGD); the noise or the steps for a risk.

    Give --noise-multiplier and --steps, or one of them and --at-most.
    """
    from exactdp.accounting import risk as risks

    values = _present(texts)
    missing = [name for name in ("noise_multiplier", "steps") if name not in values]
    if "steps" in missing and any("," in value for value in values.values()):
        raise InvalidParameter("steps", Described("nothing"), "given for each phase")
    if "steps" in missing and "matrix" in values:
        raise InvalidParameter("steps", Described("nothing"), "given with --matrix")
    calibrate: dict[str, _Calibrate] = {
        "noise_multiplier": partial(
            risks.calibrate_noise,
            run=lambda noise: training({**values, "noise_multiplier": str(noise)}),
        ),
        "steps": lambda measure, most: risks.calibrate_runs(
            measure, most, training({**values, "steps": "1"})
        ),
    }
    if len(missing) > 1:
        raise InvalidParameter("noise_multiplier", Described("nothing"), "given, or steps")
    parameter = missing[0] if missing else ""
    case = _Case("sgd", values, lambda: training(values), parameter, calibrate.get(parameter))
    return _answer(case, texts)


@risk.command(epilog="Example: exactdp risk compose steps.jsonl --false-alarms 1e-4")
@click.argument("file")
@options(optional=(opt.NEIGHBOURS_COMPOSED, opt.GROUP, *_ASKED))
@answering
def compose(file: str, **texts: str | None) -> Answer:
    """The mechanisms in a file, as for exactdp compose; with --at-most, how often they may run."""
    from exactdp.accounting import risk as risks

    path, values = existing(file), _present(texts)
    loss = steps_of(
        text_in(path), path.name, values.get("neighbours", "add-remove"), values.get("group", "1")
    )
    calibrate = partial(risks.calibrate_runs, loss=loss)
    runs = "runs" if texts["at_most"] else ""
    return _answer(
        _Case("composition", {"file": file, **values}, lambda: loss, runs, calibrate), texts
    )


@risk.command(epilog="Example: exactdp risk promise --epsilon 1 --delta 1e-6")
@options(optional=(opt.EPSILON, opt.DELTA_OR_0, *_ASKED))
@answering
def promise(**texts: str | None) -> Answer:
    """Any (epsilon, delta)-DP mechanism; with --at-most, the largest epsilon."""
    from exactdp.accounting import pld
    from exactdp.accounting import risk as risks

    values = _present(texts)
    delta = values.get("delta", "0")
    calibrate = partial(risks.calibrate_epsilon, delta=delta)
    case = _Case(
        "promise",
        values,
        lambda: pld.approximate(epsilon=values["epsilon"], delta=delta),
        "" if "epsilon" in values else "epsilon",
        calibrate,
    )
    return _answer(case, texts)


@risk.command(epilog="Example: exactdp risk zcdp --rho 2.56")
@options(opt.RHO, optional=_ASKED)
@answering
def zcdp(**texts: str | None) -> Answer:
    """Any rho-zCDP mechanism, at most; several releases are one with the sum of their rho."""
    from exactdp.accounting.pld.calculators import zcdp_loss

    values = _present(texts)
    return _answer(_Case("zcdp", values, lambda: zcdp_loss(values["rho"])), texts)


@risk.command(epilog="Example: exactdp risk budget month.json")
@click.argument("file")
@options(optional=_ASKED)
@answering
def budget(file: str, **texts: str | None) -> Answer:
    """All that a budget allows: its limit, which later releases may reach."""
    from exactdp.accounting import pld

    limit = pld.Budget.open(file).guarantee
    worst = pld.approximate(epsilon=limit.epsilon, delta=limit.delta.upper)
    loss = pld.Pld(worst.steps, limit.neighbours, worst.source)
    return _answer(_Case("budget", {"file": file}, lambda: loss), texts)


@risk.command(epilog="Example: exactdp risk statement counts.csv.statement.json")
@click.argument("file")
@options(optional=_ASKED)
@answering
def statement(file: str, **texts: str | None) -> Answer:
    """The releases of a privacy statement, all together."""
    from exactdp.statement import Statement
    from exactdp.statement.risks import loss_of_all

    document = Statement.read(Path(existing(file)).read_bytes())
    return _answer(_Case("statement", {"file": file}, lambda: loss_of_all(document)), texts)


def _of_calculator(name: str) -> click.Command:
    kind = calculator_named(name)
    # the risk is asked at every epsilon, but where the noise depends on epsilon
    at_any = {"epsilon", "analysis"} & {"analysis", *kind.falls_with}
    takes = {n: needed for n, needed in kind.parameters().items() if n not in at_any}
    noise = next((each for each in _NOISE if each in kind.falls_with), "")
    required = [each for each, needed in takes.items() if needed and each != noise]
    optional = [each for each, needed in takes.items() if not needed or each == noise]
    example = [f"--{n.replace('_', '-')} {v}" for n, v in kind.example.items() if n in takes]

    @click.command(
        name,
        help=f"Compute the risk of attacks on a mechanism: {kind.title}.",
        short_help=f"{kind.title[0].upper()}{kind.title[1:]}.",
        epilog=f"Example: exactdp risk {name} {' '.join(example)}",
    )
    @options(
        *map(opt.of_parameter, required),
        optional=(*map(opt.of_parameter, optional), *_ASKED),
    )
    @answering
    def command(**texts: str | None) -> Answer:
        from exactdp.accounting import risk as risks
        from exactdp.accounting.pld.calculators import loss_of

        values = _present(texts)

        def loss(**more: Any) -> Pld:
            return loss_of(kind(**{"epsilon": 0, **values, **more}))

        def calibrate(measure: Risk, most: str) -> RiskCalibration:
            try:
                return risks.calibrate_noise(measure, most, lambda value: loss(**{noise: value}))
            except Undecided:
                if noise == "tau":
                    far = loss(tau=_FAR * Fraction(values["sigma"]))
                    if measure.of(far.bound()).lower > Fraction(most):
                        allowed = "larger: at this one no tau is enough"
                        raise InvalidParameter("sigma", values["sigma"], allowed) from None
                raise

        missing = noise if noise and noise not in values else ""
        return _answer(_Case(name, values, loss, missing, calibrate if noise else None), texts)

    return command


def _present(texts: Mapping[str, str | None]) -> dict[str, str]:
    """The values that were given for a mechanism's own parameters."""
    others = {each.name for each in _ASKED}
    return {name: text for name, text in texts.items() if text is not None and name not in others}


def _answer(case: _Case, texts: Mapping[str, str | None]) -> Answer:
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

    values = {each.name: texts[each.name] or each.default for each in _ASKED}
    return [
        kind(**{name: values[name] for name in signature(kind).parameters})
        for kind in MEASURES.values()
    ]


def _at(measure: Risk) -> dict[str, str]:
    """The rates and priors of a measure."""
    values: dict[str, Fraction] = vars(measure)
    return {name: decimal_text(value) for name, value in values.items()}


def _risks(case: _Case, texts: Mapping[str, str | None]) -> Answer:
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


def _calibrated(case: _Case, measure: Risk, calibration: RiskCalibration) -> Answer:
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
