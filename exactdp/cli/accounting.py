"""exactdp delta | calibrate | check | compare: commands for every calculator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.accounting.calculator import CALCULATORS, Calculator, calculator, parameters
from exactdp.cli.examples import unwrapped
from exactdp.cli.options import json_option, options, statement_option
from exactdp.cli.output import print_json, print_table
from exactdp.cli.publishing import save_statement
from exactdp.parameters import integer
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.statement import Statement

_EXIT = {"proved": 0, "refuted": 1, "undecided": 3}


class _Verb(click.Group):
    """A group with one command for every calculator."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The calculators' names."""
        return list(CALCULATORS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command for the calculator of this name, or None."""
        return _command(self, cmd_name) if cmd_name in CALCULATORS else None


@click.group(cls=_Verb, no_args_is_help=True)
def delta() -> None:
    """Certified delta for given noise and threshold."""


@click.group(cls=_Verb, no_args_is_help=True)
def calibrate() -> None:
    """The smallest noise or threshold for a given (epsilon, delta)."""


@click.group(cls=_Verb, no_args_is_help=True)
def check() -> None:
    """Decide whether a mechanism keeps (epsilon, delta).

    Exits with 0 when this is proved, 1 when it is refuted, and 3 when it is undecided.
    """


@click.command(epilog="Example: exactdp compare --k 51914 --epsilon 0.35 --delta 1e-5")
@options("k epsilon delta")
@json_option
def compare(as_json: bool, **given: str) -> None:
    """Calibrate and compare the sparse histograms for one target.

    The table has one line for each mechanism and analysis: the Gaussian sparse histogram mechanism
    (GSHM) and the correlated sparse histogram (CSH), with continuous and with discrete noise.
    """
    from exactdp.accounting.sparse_histograms.comparison import compare as compare_all

    sparsity = integer("k", given["k"], least=1)
    with counted("calibrating"):
        rows = compare_all(k=sparsity, epsilon=given["epsilon"], delta=given["delta"])
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    title = f"k = {given['k']}, epsilon = {given['epsilon']}, delta = {given['delta']}"
    header = ["mechanism", "analysis", "sigma", "total noise", "tau", "delta <=", "tau saved"]
    print_table(title, header, [row.cells() for row in rows])
    click.echo(
        "tau saved: compared with the exact analysis of the GSHM. Counters above 1 + tau are "
        "released.\nexactdp release uses the mechanisms with discrete noise."
    )


def _command(verb: click.Group, name: str) -> click.Command:
    """The command of a calculator; its options are the parameters of the function behind it."""
    made = calculator(name)
    run: Callable[[str, Calculator[Any], dict[str, str], bool], tuple[int, dict[str, Any]]]
    run = {"delta": _delta, "calibrate": _calibrate, "check": _check}[str(verb.name)]
    takes = parameters(made.calibrate if verb.name == "calibrate" else made.delta)
    required = [option for option, needed in takes.items() if needed]
    ordered = [option for option in required if option not in ("epsilon", "delta")]
    ordered += ["epsilon"] if verb.name == "delta" else ["epsilon", "delta"]
    optional = [option for option, needed in takes.items() if not needed]

    @click.command(
        name,
        help=f"{str(verb.help).partition(chr(10))[0]} For {made.title}.",
        short_help=f"{made.title[0].upper()}{made.title[1:]}.",
        epilog=f"Example: exactdp {verb.name} {name} {_example(made, ordered)}",
    )
    @options(" ".join(ordered), " ".join(optional), analyses=_choices(made.analyses))
    @json_option
    def command(as_json: bool, statement: Path | None = None, **given: str | None) -> int:
        present = {key: value for key, value in given.items() if value is not None}
        status, values = run(name, made, present, as_json)
        save_statement(statement, lambda: _statement(name, made, values))
        return status

    return unwrapped(command if verb.name == "check" else statement_option(command))


def _statement(name: str, made: Calculator[Any], given: dict[str, Any]) -> Statement:
    """The statement about delta at these values of the parameters of `delta`."""
    from exactdp.statement import calculated

    taken = {each: given[each] for each in parameters(made.delta) if given.get(each) is not None}
    with counted("deriving the statement"):
        return calculated(name, **taken)


def _example(made: Calculator[Any], required: list[str]) -> str:
    values = {"epsilon": "0.35", "delta": "1e-5", **made.example}
    names = [option for option in made.example if option in required]
    names += [option for option in required if option not in names]
    return " ".join(f"--{option.replace('_', '-')} {values[option]}" for option in names)


def _choices(analyses: tuple[str, ...]) -> str:
    first, *others = analyses
    *middle, last = [f"{first} (default)", *others]
    return f"{', '.join(middle)} or {last}" if middle else last


def _delta(
    name: str, made: Calculator[Any], given: dict[str, str], as_json: bool
) -> tuple[int, dict[str, Any]]:
    report = _report(name, made, given)
    with counted("certifying"):
        instance = made.instance(**given)
        found = instance.delta()
        worst = None if instance.worst_case is None else instance.worst_case()
    if as_json:
        more = {} if worst is None else {"worst_case": worst.as_dict()}
        print_json({**report, "delta": found.as_dict(), **more})
        return 0, given
    rows = {"delta": str(found), **({} if worst is None else {"worst case": worst.text()})}
    print_table(_title(report), [], _rows(report, rows))
    return 0, given


def _calibrate(
    name: str, made: Calculator[Any], given: dict[str, str], as_json: bool
) -> tuple[int, dict[str, Any]]:
    with counted("calibrating"):
        found = made.calibrate(**given)
    report = {**found.as_dict(), "mechanism": name}
    values = {**given, **report["parameters"]}
    if as_json:
        print_json(report)
        return 0, values
    rows = {"delta": str(found.delta)}
    if found.refuted:
        ((least, value),) = ((n, v) for n, v in report["refuted"].items() if n != "delta")
        rows["refuted"] = f"{least} = {value}: delta {found.refuted.delta}"
    if report.get("tau_bound") is not None:
        rows["any sigma"] = f"no tau <= {report['tau_bound']} is enough"
    rows["guarantee"] = str(found.guarantee)
    print_table(_title(report), [], _rows(report, rows))
    return 0, values


def _check(
    name: str, made: Calculator[Any], given: dict[str, str], as_json: bool
) -> tuple[int, dict[str, Any]]:
    claimed = given.pop("delta")
    with counted("certifying"):
        found = made.check(claimed, **given)
    report = {**_report(name, made, given), "target": claimed, "verdict": found.verdict}
    if as_json:
        print_json({**report, "delta": found.delta.as_dict()})
    else:
        relation = {"proved": "<=", "refuted": ">", "undecided": "around"}[found.verdict]
        what = "delta" if found.tight else "the upper bound on delta"
        click.echo(f"{found.verdict} ({_title(report)}): {what} {found.delta} {relation} {claimed}")
    return _EXIT[found.verdict], given


def _report(name: str, made: Calculator[Any], given: dict[str, str]) -> dict[str, Any]:
    return {
        "mechanism": name,
        "analysis": given.get("analysis", made.analyses[0]),
        "parameters": {n: v for n, v in given.items() if n not in ("epsilon", "analysis")},
        "epsilon": given["epsilon"],
    }


def _title(report: dict[str, Any]) -> str:
    return f"{report['mechanism']}, {report['analysis']} analysis"


def _rows(report: dict[str, Any], extra: dict[str, str]) -> list[list[str]]:
    shown = {**report.get("given", {}), "epsilon": report["epsilon"], **report["parameters"]}
    return [[name, value] for name, value in {**shown, **extra}.items()]
