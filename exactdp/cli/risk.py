"""exactdp risk: what an attacker can do, and the noise, runs or epsilon that keep a risk."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.accounting.calculator import CALCULATORS
from exactdp.accounting.calculator import calculator as calculator_named
from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering
from exactdp.cli.composition import SCHEME, training
from exactdp.cli.options import options
from exactdp.cli.prepared import prepared
from exactdp.cli.reading import existing, text_in
from exactdp.cli.risk_answers import QUESTIONS, Calibrate, Case, answer, own_values
from exactdp.cli.steps import steps_of
from exactdp.errors import Described, InvalidParameter, Undecided

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld
    from exactdp.accounting.risk import Risk, RiskCalibration

#: Parameters of calculators that a risk falls with, and that calibrations find.
_NOISE = ("sigma", "scale", "tau")

#: A threshold of this many standard deviations hides counters of one user.
_FAR = 100


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


@risk.command(
    epilog="Example: exactdp risk sgd --noise-multiplier 1 --rate 0.01 --steps 1000 "
    "--false-alarms 1e-6\nExample: exactdp risk sgd --rate 0.01 --steps 1000 --at-most "
    "advantage=0.1"
)
@options(
    opt.RATE_PHASES, optional=(opt.NOISE_MULTIPLIER_PHASES, opt.STEPS_PHASES, *SCHEME, *QUESTIONS)
)
@answering
def sgd(**texts: str | None) -> Answer:
    """Training with noise (DP-SGD); the noise or the steps for a risk.

    Give --noise-multiplier and --steps, or one of them and --at-most.
    """
    from exactdp.accounting import risk as risks

    values = own_values(texts)
    missing = [name for name in ("noise_multiplier", "steps") if name not in values]
    if "steps" in missing and any("," in value for value in values.values()):
        raise InvalidParameter("steps", Described("nothing"), "given for each phase")
    if "steps" in missing and "matrix" in values:
        raise InvalidParameter("steps", Described("nothing"), "given with --matrix")
    calibrate: dict[str, Calibrate] = {
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
    case = Case("sgd", values, lambda: training(values), parameter, calibrate.get(parameter))
    return answer(case, texts)


@risk.command(epilog="Example: exactdp risk compose steps.jsonl --false-alarms 1e-4")
@click.argument("file")
@options(optional=(opt.NEIGHBOURS_COMPOSED, opt.GROUP, *QUESTIONS))
@answering
def compose(file: str, **texts: str | None) -> Answer:
    """The mechanisms in a file, as for exactdp compose; with --at-most, how often they may run."""
    from exactdp.accounting import risk as risks

    path, values = existing(file), own_values(texts)
    loss = steps_of(
        text_in(path), path.name, values.get("neighbours", "add-remove"), values.get("group", "1")
    )
    calibrate = partial(risks.calibrate_runs, loss=loss)
    runs = "runs" if texts["at_most"] else ""
    return answer(
        Case("composition", {"file": file, **values}, lambda: loss, runs, calibrate), texts
    )


@risk.command(epilog="Example: exactdp risk promise --epsilon 1 --delta 1e-6")
@options(optional=(opt.EPSILON, opt.DELTA_OR_0, *QUESTIONS))
@answering
def promise(**texts: str | None) -> Answer:
    """Any (epsilon, delta)-DP mechanism; with --at-most, the largest epsilon."""
    from exactdp.accounting import pld
    from exactdp.accounting import risk as risks

    values = own_values(texts)
    delta = values.get("delta", "0")
    calibrate = partial(risks.calibrate_epsilon, delta=delta)
    case = Case(
        "promise",
        values,
        lambda: pld.approximate(epsilon=values["epsilon"], delta=delta),
        "" if "epsilon" in values else "epsilon",
        calibrate,
    )
    return answer(case, texts)


@risk.command(epilog="Example: exactdp risk zcdp --rho 2.56")
@options(opt.RHO, optional=QUESTIONS)
@answering
def zcdp(**texts: str | None) -> Answer:
    """Any rho-zCDP mechanism, at most; several releases are one with the sum of their rho."""
    from exactdp.accounting.pld.calculators import zcdp_loss

    values = own_values(texts)
    return answer(Case("zcdp", values, lambda: zcdp_loss(values["rho"])), texts)


@risk.command(epilog="Example: exactdp risk budget month.json")
@click.argument("file")
@options(optional=QUESTIONS)
@answering
def budget(file: str, **texts: str | None) -> Answer:
    """All that a budget allows: its limit, which later releases may reach."""
    from exactdp.accounting import pld

    limit = pld.Budget.open(file).guarantee
    worst = pld.approximate(epsilon=limit.epsilon, delta=limit.delta.upper)
    loss = pld.Pld(worst.steps, limit.neighbours, worst.source)
    return answer(Case("budget", {"file": file}, lambda: loss), texts)


@risk.command(epilog="Example: exactdp risk statement counts.csv.statement.json")
@click.argument("file")
@options(optional=QUESTIONS)
@answering
def statement(file: str, **texts: str | None) -> Answer:
    """The releases of a privacy statement, all together."""
    from exactdp.statement import Statement
    from exactdp.statement.risks import loss_of_all

    document = Statement.read(Path(existing(file)).read_bytes())
    return answer(Case("statement", {"file": file}, lambda: loss_of_all(document)), texts)


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
        optional=(*map(opt.of_parameter, optional), *QUESTIONS),
    )
    @answering
    def command(**texts: str | None) -> Answer:
        from exactdp.accounting import risk as risks
        from exactdp.accounting.pld.calculators import loss_of

        values = own_values(texts)

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
        return answer(Case(name, values, loss, missing, calibrate if noise else None), texts)

    return command
