"""exactdp delta | calibrate | check | compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from exactdp import accounting
from exactdp.cli.options import json_option, options
from exactdp.cli.output import print_json, print_table
from exactdp.parameters import integer

__all__ = ["calibrate", "check", "compare", "delta"]

_EXIT = {"proved": 0, "refuted": 1, "undecided": 3}
_TITLES = {
    "gaussian": "the analytic Gaussian mechanism",
    "gshm": "the Gaussian sparse histogram mechanism",
    "csh": "the correlated sparse histogram",
    "discrete-gaussian": "one integer query with discrete Gaussian noise",
    "discrete-csh": "the correlated sparse histogram with discrete noise",
}
_PARAMETERS = {
    "gaussian": ("sigma epsilon", "sensitivity"),
    "gshm": ("k sigma tau epsilon", "analysis"),
    "csh": ("k sigma tau epsilon", "analysis correlation contributions"),
    "discrete-gaussian": ("sigma2 epsilon", "sensitivity"),
    "discrete-csh": ("k sigma tau epsilon", "analysis"),
}
_ANALYSES = {
    "gaussian": "exact",
    "gshm": "exact (default) or add-the-deltas",
    "csh": "exact (default), published or add-the-deltas",
    "discrete-gaussian": "exact",
    "discrete-csh": "exact-parts (default), by-cases, published or renyi",
}
_EXAMPLES = {
    "gaussian": "--sigma 3.8 --epsilon 1",
    "gshm": "--k 51914 --sigma 2222.7 --tau 13914 --epsilon 0.35",
    "csh": "--k 10 --sigma 17.8 --tau 97.1 --epsilon 0.35",
    "discrete-gaussian": "--sigma2 16 --epsilon 1",
    "discrete-csh": "--k 10 --sigma 18.25 --tau 104 --epsilon 0.35",
}


@click.group(no_args_is_help=True)
def delta() -> None:
    """Certified delta for given noise and threshold."""


@click.group(no_args_is_help=True)
def calibrate() -> None:
    """The smallest noise or threshold for a given (epsilon, delta)."""


@click.group(no_args_is_help=True)
def check() -> None:
    """Decide a claimed (epsilon, delta): exit 0 proved, 1 refuted, 3 undecided."""


@click.command(epilog="Example: exactdp compare --k 51914 --epsilon 0.35 --delta 1e-5")
@options("k epsilon delta")
@json_option
def compare(as_json: bool, **given: str) -> None:
    """Calibrate every mechanism and analysis for one target, side by side."""
    from exactdp.accounting.sparse_histograms.comparison import compare as compare_all

    sparsity = integer("k", given["k"], least=1)
    rows = compare_all(k=sparsity, epsilon=given["epsilon"], delta=given["delta"])
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    title = f"k = {given['k']}, epsilon = {given['epsilon']}, delta = {given['delta']}"
    header = ["mechanism", "analysis", "sigma", "total noise", "tau", "delta <=", "tau saved"]
    cells = [
        [
            row.calibration.mechanism,
            row.calibration.analysis,
            str(row.calibration.sigma),
            row.noise.decimal_upper(7),
            str(row.calibration.tau),
            row.calibration.delta.decimal_upper(10),
            f"{100 * float(row.saving):.1f} %",
        ]
        for row in rows
    ]
    print_table(title, header, cells)
    click.echo(
        "tau saved: against the exact analysis of the GSHM. Counters above 1 + tau are kept."
    )


def _add(verb: click.Group, mechanism: str, required: str, optional: str, example: str) -> None:
    run: Callable[..., Any] = {"delta": _delta, "calibrate": _calibrate, "check": _check}[
        str(verb.name)
    ]

    @verb.command(
        mechanism,
        help=f"{_summary(verb)} For {_TITLES[mechanism]}.",
        epilog=f"Example: exactdp {verb.name} {mechanism} {example}",
    )
    @options(required, optional, analyses=_ANALYSES[mechanism])
    @json_option
    def command(as_json: bool, **given: str | None) -> int:
        module = getattr(accounting, mechanism.replace("-", "_"))
        present = {name: value for name, value in given.items() if value is not None}
        code: int = run(mechanism, module, present, as_json)
        return code


def _summary(verb: click.Group) -> str:
    return str(verb.help).split(":")[0].rstrip(".") + "."


def _delta(mechanism: str, module: Any, given: dict[str, str], as_json: bool) -> int:
    found = module.delta(**given)
    report = _report(mechanism, module, given)
    worst = {}
    shared = given.get("correlation") != "infinity"
    if mechanism == "csh" and report["analysis"] == "exact" and shared:
        case = module.worst_case(**{n: v for n, v in given.items() if n != "analysis"})
        worst = {"j": case.j, "a": case.a, "r": case.r, "side": case.side}
    if as_json:
        more = {"worst_case": worst} if worst else {}
        print_json({**report, "delta": found.as_dict(), **more})
        return 0
    rows = {"delta": str(found)}
    if worst:
        rows["worst case"] = (
            f"{worst['j']} shared counters of which {worst['a']} change, {worst['r']} on one side"
        )
    print_table(_title(report), [], _rows(report, rows))
    return 0


def _calibrate(mechanism: str, module: Any, given: dict[str, str], as_json: bool) -> int:
    found = module.calibrate(**given)
    report = found.as_dict()
    if as_json:
        print_json(report)
        return 0
    rows = {"delta": str(found.delta)}
    if found.refuted:
        name = "sigma" if found.tau is None else "tau"
        rows["refuted"] = f"{name} = {report['refuted'][name]}: delta {found.refuted.delta}"
    if found.tau_bound is not None:
        rows["any sigma"] = f"no tau <= {report['tau_bound']} is enough"
    rows["guarantee"] = str(found.guarantee)
    print_table(_title(report), [], _rows(report, rows))
    return 0


def _check(mechanism: str, module: Any, given: dict[str, str], as_json: bool) -> int:
    found = module.check(**given)
    claimed = given.pop("delta")
    report = {**_report(mechanism, module, given), "target": claimed, "verdict": found.verdict}
    if as_json:
        print_json({**report, "delta": found.delta.as_dict()})
    else:
        relation = {"proved": "<=", "refuted": ">", "undecided": "around"}[found.verdict]
        what = "delta" if found.tight else "its bound on delta"
        click.echo(f"{found.verdict} ({_title(report)}): {what} {found.delta} {relation} {claimed}")
    return _EXIT[found.verdict]


def _report(mechanism: str, module: Any, given: dict[str, str]) -> dict[str, Any]:
    parameters = {n: v for n, v in given.items() if n not in ("epsilon", "analysis")}
    return {
        "mechanism": mechanism,
        "analysis": given.get("analysis", getattr(module, "DEFAULT_ANALYSIS", "exact")),
        "parameters": parameters,
        "epsilon": given["epsilon"],
    }


def _title(report: dict[str, Any]) -> str:
    return f"{report['mechanism']}, {report['analysis']} analysis"


def _rows(report: dict[str, Any], extra: dict[str, str]) -> list[list[str]]:
    shown = {**report.get("given", {}), "epsilon": report["epsilon"], **report["parameters"]}
    return [[name, value] for name, value in {**shown, **extra}.items()]


for _name, (_required, _optional) in _PARAMETERS.items():
    _add(delta, _name, _required, _optional, _EXAMPLES[_name])
    _claim = f"{_EXAMPLES[_name]} --delta 1e-5"
    _add(check, _name, f"{_required} delta", _optional, _claim)
_add(
    calibrate,
    "gaussian",
    "epsilon delta",
    "sensitivity resolution",
    "--epsilon 1 --delta 1e-5 --sensitivity 2",
)
for _name, _more in (("gshm", ""), ("csh", " correlation contributions")):
    _add(
        calibrate,
        _name,
        "k epsilon delta",
        f"sigma analysis resolution{_more}",
        "--k 51914 --epsilon 0.35 --delta 1e-5",
    )
