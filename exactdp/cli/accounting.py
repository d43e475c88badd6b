"""exactdp delta | calibrate | check | compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from exactdp import accounting
from exactdp.cli.options import json_option, options
from exactdp.cli.output import print_json, print_table
from exactdp.parameters import integer
from exactdp.progress import counted

_EXIT = {"proved": 0, "refuted": 1, "undecided": 3}


@dataclass(frozen=True)
class _Mechanism:
    """What the command line knows about a mechanism: its options, and the modules behind it.

    given: the options of delta and check beside epsilon. optional: those that may be left out.
    fitted: required options of calibrate beside epsilon and delta; None: it has no calibrate.
    """

    title: str
    module: str
    given: str
    optional: str
    example: str
    analyses: str = "exact"
    fitted: str | None = None
    fitted_optional: str = ""


_BY_PARTS = "by-cases (default), exact-parts, published or renyi"
_CSH_EXAMPLE = "--k 10 --sigma 18.25 --tau 104 --epsilon 0.35"
_MECHANISMS = {
    "gaussian": _Mechanism(
        "the analytic Gaussian mechanism",
        "gaussian",
        "sigma",
        "sensitivity",
        "--sigma 3.8 --epsilon 1",
        fitted="",
        fitted_optional="sensitivity resolution",
    ),
    "gshm": _Mechanism(
        "the Gaussian sparse histogram mechanism with continuous noise",
        "gshm",
        "k sigma tau",
        "analysis",
        "--k 51914 --sigma 2222.7 --tau 13914 --epsilon 0.35",
        "exact (default) or add-the-deltas",
        fitted="k",
        fitted_optional="sigma analysis resolution",
    ),
    "csh": _Mechanism(
        "the correlated sparse histogram with continuous noise",
        "csh",
        "k sigma tau",
        "analysis correlation contributions",
        "--k 10 --sigma 17.8 --tau 97.1 --epsilon 0.35",
        "exact (default), published or add-the-deltas",
        fitted="k",
        fitted_optional="sigma analysis resolution correlation contributions",
    ),
    "discrete-gaussian": _Mechanism(
        "one integer query with discrete Gaussian noise",
        "discrete_gaussian",
        "sigma2",
        "sensitivity",
        "--sigma2 16 --epsilon 1",
        fitted="",
        fitted_optional="sensitivity resolution",
    ),
    "discrete-gshm": _Mechanism(
        "the Gaussian sparse histogram mechanism as it is released, with discrete noise",
        "discrete_gshm",
        "k sigma tau",
        "analysis",
        "--k 51914 --sigma 2222.7 --tau 13914 --epsilon 0.35",
        "exact (default) or add-the-deltas",
        fitted="k",
        fitted_optional="sigma analysis",
    ),
    "discrete-csh": _Mechanism(
        "the correlated sparse histogram as it is released, with discrete noise",
        "discrete_csh",
        "k sigma tau",
        "analysis",
        _CSH_EXAMPLE,
        _BY_PARTS,
        fitted="k",
        fitted_optional="sigma analysis",
    ),
    "top-k": _Mechanism(
        "the k heaviest counters, with discrete noise",
        "discrete_csh",
        "k sigma tau",
        "analysis",
        _CSH_EXAMPLE,
        _BY_PARTS,
        fitted="k",
        fitted_optional="sigma analysis",
    ),
    "top-k-with-base": _Mechanism(
        "the k heaviest counters and the one after them, with discrete noise",
        "discrete_top_k",
        "k sigma tau",
        "",
        "--k 10 --sigma 28.3 --tau 217 --epsilon 0.35",
        fitted="k",
    ),
    "sums": _Mechanism(
        "the discrete Gaussian sparse histogram with sums of users' values",
        "gshm_sums",
        "k columns sigma tau",
        "spread",
        "--k 10 --columns 1 --sigma 50 --tau 243 --epsilon 0.35",
        fitted="k columns",
        fitted_optional="sigma spread",
    ),
    "stability": _Mechanism(
        "the stability histogram of n rows",
        "stability",
        "n threshold",
        "",
        "--n 1000 --threshold 23 --epsilon 1",
        fitted="n",
    ),
}


@click.group(no_args_is_help=True)
def delta() -> None:
    """Certified delta for given noise and threshold."""


@click.group(no_args_is_help=True)
def calibrate() -> None:
    """The smallest noise or threshold for a given (epsilon, delta)."""


@click.group(no_args_is_help=True)
def check() -> None:
    """Decide whether parameters keep (epsilon, delta).

    Exits 0 when that is proved, 1 when it is refuted, 3 when it is undecided.
    """


@click.command(epilog="Example: exactdp compare --k 51914 --epsilon 0.35 --delta 1e-5")
@options("k epsilon delta")
@json_option
def compare(as_json: bool, **given: str) -> None:
    """Calibrate every mechanism for one target.

    The table has one line for each mechanism and analysis.
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
        "tau saved: against the exact analysis of the GSHM. Counters above 1 + tau are kept.\n"
        "The discrete mechanisms are what exactdp release draws."
    )


def _add(verb: click.Group, name: str, required: str, optional: str, example: str) -> None:
    run: Callable[..., Any] = {"delta": _delta, "calibrate": _calibrate, "check": _check}[
        str(verb.name)
    ]
    mechanism = _MECHANISMS[name]

    @verb.command(
        name,
        help=f"{_summary(verb)} For {mechanism.title}.",
        epilog=f"Example: exactdp {verb.name} {name} {example}",
    )
    @options(required, optional, analyses=mechanism.analyses)
    @json_option
    def command(as_json: bool, **given: str | None) -> int:
        present = {key: value for key, value in given.items() if value is not None}
        code: int = run(name, getattr(accounting, mechanism.module), present, as_json)
        return code


def _summary(verb: click.Group) -> str:
    return str(verb.help).partition("\n")[0]


def _delta(mechanism: str, module: Any, given: dict[str, str], as_json: bool) -> int:
    report = _report(mechanism, module, given)
    worst, case = {}, None
    shared = given.get("correlation") != "infinity"
    with counted("certifying"):
        found = module.delta(**given)
        if mechanism == "csh" and report["analysis"] == "exact" and shared:
            case = module.worst_case(**{n: v for n, v in given.items() if n != "analysis"})
    if case is not None:
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
    with counted("calibrating"):
        found = module.calibrate(**given)
    report = {**found.as_dict(), "mechanism": mechanism}
    if as_json:
        print_json(report)
        return 0
    rows = {"delta": str(found.delta)}
    if found.refuted:
        ((name, value),) = ((n, v) for n, v in report["refuted"].items() if n != "delta")
        rows["refuted"] = f"{name} = {value}: delta {found.refuted.delta}"
    if report.get("tau_bound") is not None:
        rows["any sigma"] = f"no tau <= {report['tau_bound']} is enough"
    rows["guarantee"] = str(found.guarantee)
    print_table(_title(report), [], _rows(report, rows))
    return 0


def _check(mechanism: str, module: Any, given: dict[str, str], as_json: bool) -> int:
    with counted("certifying"):
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
    analysis = report.get("analysis", "exact")
    return f"{report['mechanism']}, {analysis} analysis"


def _rows(report: dict[str, Any], extra: dict[str, str]) -> list[list[str]]:
    shown = {**report.get("given", {}), "epsilon": report["epsilon"], **report["parameters"]}
    return [[name, value] for name, value in {**shown, **extra}.items()]


for _name, _made in _MECHANISMS.items():
    _add(delta, _name, f"{_made.given} epsilon", _made.optional, _made.example)
    _claim = f"{_made.example} --delta 1e-5"
    _add(check, _name, f"{_made.given} epsilon delta", _made.optional, _claim)
    if _made.fitted is not None:
        _kept = [o for o in _made.example.split("--") if o.split(" ")[0] in _made.fitted.split()]
        _wanted = " ".join(f"--{o.strip()}" for o in [*_kept, "epsilon 0.35", "delta 1e-5"])
        _add(calibrate, _name, f"{_made.fitted} epsilon delta", _made.fitted_optional, _wanted)
