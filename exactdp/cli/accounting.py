"""exactdp delta | epsilon | calibrate | check: commands for every calculator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from exactdp.accounting.calculator import CALCULATORS, Calculator, parameters
from exactdp.accounting.calculator import calculator as calculator_named
from exactdp.cli import parameters as opt
from exactdp.cli.answers import ALREADY_MET, Answer, answering, facts, table
from exactdp.cli.options import options, statement_option
from exactdp.cli.prepared import prepared
from exactdp.cli.publishing import save_statement
from exactdp.enclosure import Enclosure
from exactdp.parameters import integer
from exactdp.progress import counted

_TARGETS = ("epsilon", "delta")
_EXIT = {"proved": 0, "refuted": 1, "undecided": 3}


class _Verb(click.Group):
    """A group of commands: one for every calculator, made on first use, and a few others."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.more: dict[str, click.Command] = {}

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command that belongs to no calculator."""
        self.more[str(name or cmd.name)] = cmd

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The calculators' names, and the other commands of the group."""
        return [*filter(self._answers, CALCULATORS), *self.more]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        if cmd_name not in self.more and not (cmd_name in CALCULATORS and self._answers(cmd_name)):
            return None
        command = self.more.get(cmd_name) or _command(str(self.name), cmd_name)
        return prepared(command, f"{self.name} {cmd_name}")

    def _answers(self, name: str) -> bool:
        """Whether a calculator answers: epsilon is not asked of noise that is made for it."""
        return self.name != "epsilon" or "epsilon" in calculator_named(name).falls_with


@click.group(cls=_Verb, no_args_is_help=True)
def delta() -> None:
    """Compute delta for given noise and threshold.

    Data sets with one user more are compared (stability: with one row replaced); each command says
    what it assumes of the data.
    """


@click.group(cls=_Verb, no_args_is_help=True)
def epsilon() -> None:
    """Compute epsilon for given noise, threshold and delta.

    This converts any mechanism's promise: zcdp converts rho. Data sets with one user more are
    compared; each command says what it assumes of the data.
    """


@click.group(cls=_Verb, no_args_is_help=True)
def calibrate() -> None:
    """Find the least noise or threshold for a target (epsilon, delta).

    Data sets with one user more are compared (stability: with one row replaced); each command says
    what it assumes of the data.
    """


@click.group(cls=_Verb, no_args_is_help=True)
def check() -> None:
    """Prove or refute that given noise keeps (epsilon, delta).

    Data sets with one user more are compared (stability: with one row replaced); each command says
    what it assumes of the data.

    Exits with 0 when this is proved, 1 when it is refuted, and 3 when it is undecided.
    """


@calibrate.command(
    "sparse-histograms",
    epilog="Example: exactdp calibrate sparse-histograms --contributions 10 --epsilon 1 --delta "
    "1e-6\nExample: exactdp calibrate sparse-histograms --sparsity 51914 --epsilon 0.35 --delta "
    "1e-5",
)
@options(opt.EPSILON, opt.DELTA, optional=(opt.CONTRIBUTIONS, opt.SPARSITY))
@answering
def sparse_histograms(
    epsilon: str, delta: str, contributions: str | None, sparsity: str | None
) -> Answer:
    """All sparse histograms for one target, side by side.

    The table has one line for each mechanism and analysis that the given bounds allow. The Gaussian
    sparse histogram mechanism (GSHM) needs --contributions alone: a bound on each user. The
    correlated sparse histogram (CSH) needs --sparsity: a bound on the whole histogram, which no
    data set may exceed, however many users it has.
    """
    from exactdp.accounting.sparse_histograms.comparison import compare

    whole = {
        name: integer(name, text, least=1)
        for name, text in {"contributions": contributions, "sparsity": sparsity}.items()
        if text is not None
    }
    with counted("calibrating"):
        rows = compare(**whole, epsilon=epsilon, delta=delta)
    title = ", ".join(
        f"{name} = {value}" for name, value in {**whole, "epsilon": epsilon, "delta": delta}.items()
    )
    header = ["mechanism", "analysis", "assumes", "sigma", "total noise", "tau", "delta <="]
    text = table(title, [*header, "tau saved"], [row.cells() for row in rows])
    return Answer([row.as_dict() for row in rows], f"{text}\n{_explained(sparsity is not None)}")


def _explained(sparse: bool) -> str:
    """What the lines of the table assume and answer."""
    said = [
        "Every line answers: noisy counts of users, of the counters above 1 + tau; neighbours: one "
        "user added or removed.",
        "contributions: counters of one user; the histogram may have any number of them.",
    ]
    if sparse:
        said += [
            "sparsity: non-zero counters of the whole histogram, in any data set; a bound on users "
            "does not ensure it.",
            "Where contributions are at most a quarter of the sparsity, the GSHM is better than a "
            "CSH that is made for any user.",
        ]
    said.append("tau saved: compared with the exact analysis of the GSHM.")
    return "\n".join([*said, "exactdp release uses the mechanisms with discrete noise."])


@delta.command("zcdp", epilog="Example: exactdp delta zcdp --rho 0.5 --epsilon 3")
@options(opt.RHO, opt.EPSILON, optional=(opt.RULE,))
@answering
def delta_zcdp(rho: str, epsilon: str, rule: str | None) -> Answer:
    """Any mechanism with rho-zCDP: the delta that its rho implies."""
    from exactdp.accounting import zcdp

    used = rule or zcdp.DEFAULT_RULE
    delta_bounds = zcdp.delta(rho=rho, epsilon=epsilon, rule=used)
    named = {"mechanism": "zcdp", "analysis": used, "parameters": {"rho": rho}, "epsilon": epsilon}
    text = facts(f"zcdp, {used} rule", {"epsilon": epsilon, "rho": rho, "delta": delta_bounds})
    return Answer({**named, "delta": delta_bounds.as_dict()}, text)


@epsilon.command("zcdp", epilog="Example: exactdp epsilon zcdp --rho 2.56 --delta 1e-10")
@options(opt.RHO, opt.DELTA, optional=(opt.RULE,))
@answering
def epsilon_zcdp(rho: str, delta: str, rule: str | None) -> Answer:
    """Any mechanism with rho-zCDP: the epsilon that its rho implies."""
    from exactdp.accounting import zcdp

    used = rule or zcdp.DEFAULT_RULE
    least_epsilon = zcdp.epsilon(rho=rho, delta=delta, rule=used)
    named = {"mechanism": "zcdp", "analysis": used, "parameters": {"rho": rho}, "target": delta}
    text = _with_epsilon(f"zcdp, {used} rule", {"rho": rho, "delta": delta}, least_epsilon)
    return Answer({**named, "epsilon": least_epsilon.as_dict()}, text)


@calibrate.command("zcdp", epilog="Example: exactdp calibrate zcdp --epsilon 1 --delta 1e-6")
@options(opt.EPSILON, opt.DELTA, optional=(opt.RULE,))
@answering
def calibrate_zcdp(epsilon: str, delta: str, rule: str | None) -> Answer:
    """Any mechanism with rho-zCDP: the largest rho that implies the target."""
    from exactdp.accounting import zcdp

    used = rule or zcdp.DEFAULT_RULE
    largest_rho = zcdp.rho(epsilon=epsilon, delta=delta, rule=used)
    named = {"mechanism": "zcdp", "analysis": used, "epsilon": epsilon, "target": delta}
    text = facts(f"zcdp, {used} rule", {"epsilon": epsilon, "delta": delta, "rho": largest_rho})
    return Answer({**named, "rho": largest_rho.as_dict()}, text)


def _command(verb: str, name: str) -> click.Command:
    """The command of a calculator; its options are the parameters of the function behind it."""
    calculator = calculator_named(name)
    run, sentence = _VERBS[verb]
    takes = parameters(calculator.calibrate) if verb == "calibrate" else calculator.parameters()
    free = ["delta"] if calculator.pure and verb != "delta" else []
    targets = [target for target in _TARGETS if target not in (verb, *free)]
    ordered = [each for each, needed in takes.items() if needed and each not in _TARGETS] + targets
    optional = [each for each, needed in takes.items() if not needed and each not in free] + free

    @click.command(
        name,
        help=sentence.format(calculator.title),
        short_help=f"{calculator.title[0].upper()}{calculator.title[1:]}.",
        epilog=f"Example: exactdp {verb} {name} {_example(calculator, ordered)}",
    )
    @options(
        *map(opt.of_parameter, ordered),
        optional=tuple(_optional(parameter, calculator) for parameter in optional),
    )
    @answering
    def command(statement: Path | None = None, **texts: str | None) -> Answer:
        present = {key: value for key, value in texts.items() if value is not None}
        values, answer = run(calculator, present)
        save_statement(statement, lambda: _statement(calculator, values))
        return answer

    return command if verb == "check" else statement_option(command)


def _optional(parameter: str, calculator: type[Calculator]) -> opt.Option:
    """The option of a parameter; --analysis lists the calculator's analyses, the default first."""
    if parameter == "delta":
        return opt.DELTA_OR_0
    option, analyses = opt.of_parameter(parameter), calculator.analyses
    if option is not opt.ANALYSIS:
        return option
    return replace(option, allowed=" or ".join(analyses), default=analyses[0])


def _statement(calculator: type[Calculator], values: dict[str, Any]) -> Any:
    """The statement about delta at these values of the parameters of `delta`."""
    from exactdp.statement import calculated

    taken = {each: values[each] for each in calculator.parameters() if values.get(each) is not None}
    with counted("deriving the statement"):
        return calculated(calculator.name, **taken)


def _example(calculator: type[Calculator], required: list[str]) -> str:
    values = {"epsilon": "0.35", "delta": "1e-5", **calculator.example}
    names = [option for option in calculator.example if option in required]
    names += [option for option in required if option not in names]
    return " ".join(f"--{option.replace('_', '-')} {values[option]}" for option in names)


def _delta(calculator: type[Calculator], values: dict[str, str]) -> tuple[dict[str, Any], Answer]:
    report = _report(calculator, values)
    with counted("certifying"):
        mechanism = calculator(**values)
        delta_bounds, worst = mechanism.delta(), mechanism.worst_case()
    more = {} if worst is None else {"worst_case": worst.as_dict()}
    rows = {"delta": delta_bounds, **({} if worst is None else {"worst case": worst.text()})}
    text = facts(_title(report), {**_inputs_of(report), **rows})
    return values, Answer({**report, "delta": delta_bounds.as_dict(), **more}, text)


def _epsilon(calculator: type[Calculator], values: dict[str, str]) -> tuple[dict[str, Any], Answer]:
    target = values.pop("delta", "0")
    with counted("certifying"):
        least = calculator.least_epsilon(**values, delta=target)
    report = {**_report(calculator, values), "target": target}
    text = _with_epsilon(_title(report), {**report["parameters"], "delta": target}, least)
    answer = Answer({**report, "epsilon": least.as_dict()}, text)
    return {**values, "epsilon": least.decimal_upper(10)}, answer


def _with_epsilon(title: str, inputs: dict[str, str], epsilon: Enclosure) -> str:
    note = "" if epsilon.upper else ALREADY_MET
    return facts(title, {**inputs, "epsilon": epsilon}) + note


def _calibrate(
    calculator: type[Calculator], values: dict[str, str]
) -> tuple[dict[str, Any], Answer]:
    with counted("calibrating"):
        calibration = calculator.calibrate(**values)
    report = calibration.as_dict()
    return {**values, **report["parameters"]}, Answer(report, str(calibration))


def _check(calculator: type[Calculator], values: dict[str, str]) -> tuple[dict[str, Any], Answer]:
    claimed = values.pop("delta", "0")
    with counted("certifying"):
        outcome = calculator(**values).check(claimed)
    report = {**_report(calculator, values), "target": claimed, "verdict": outcome.verdict}
    relation = {"proved": "<=", "refuted": ">", "undecided": "around"}[outcome.verdict]
    what = "delta" if outcome.tight else "the upper bound on delta"
    text = f"{outcome.verdict} ({_title(report)}): {what} {outcome.delta} {relation} {claimed}"
    return values, Answer(
        {**report, "delta": outcome.delta.as_dict()}, text, _EXIT[outcome.verdict]
    )


#: Verb -> what it does, and its sentence about a calculator.
_VERBS: dict[
    str,
    tuple[Callable[[type[Calculator], dict[str, str]], tuple[dict[str, Any], Answer]], str],
] = {
    "delta": (_delta, "Compute delta of a mechanism with given noise: {}."),
    "epsilon": (_epsilon, "Compute epsilon of a mechanism with given noise: {}."),
    "calibrate": (_calibrate, "Find the least noise or threshold for a target: {}."),
    "check": (_check, "Prove or refute that given noise keeps (epsilon, delta): {}."),
}


def _report(calculator: type[Calculator], values: dict[str, str]) -> dict[str, Any]:
    return {
        "mechanism": calculator.name,
        "analysis": values.get("analysis", calculator.analyses[0]),
        "parameters": {n: v for n, v in values.items() if n not in ("epsilon", "analysis")},
        **{n: v for n, v in values.items() if n == "epsilon"},
    }


def _title(report: dict[str, Any]) -> str:
    return f"{report['mechanism']}, {report['analysis']} analysis"


def _inputs_of(report: dict[str, Any]) -> dict[str, Any]:
    return {**report.get("given", {}), "epsilon": report["epsilon"], **report["parameters"]}
