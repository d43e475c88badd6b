"""exactdp local: compare mechanisms, randomize values, aggregate reports, and estimate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from exactdp.cli.options import json_option, options, statement_option
from exactdp.cli.output import new_file, print_json, print_table, written
from exactdp.cli.publishing import save_statement
from exactdp.cli.reading import column, existing
from exactdp.errors import Described, InvalidParameter, shown
from exactdp.parameters import decimal_text, integer
from exactdp.progress import counted

_MECHANISM = (
    "randomized-response, rappor, permanent-rappor, unary, hashing, subset, hadamard or compressive"
)


@click.group(no_args_is_help=True)
def local() -> None:
    """The local model: report, aggregate, estimate, compare.

    Each report is private by itself, so nobody has to trust the server.
    """


@local.command(epilog="Example: exactdp local compare --k 10000 --epsilon 0.5 --n 100000")
@options("k:values epsilon n")
@json_option
def compare(k: str, epsilon: str, n: str, as_json: bool) -> None:
    """Compare the exact errors of the mechanisms for k values, n users and the same epsilon."""
    from exactdp.local.comparison import compare as rows_of

    values, users = integer("k", k, least=2), integer("n", n, least=1)
    with counted("comparing"):
        rows = rows_of(values, epsilon, users)
    best = rows[0].square_error
    if as_json:
        print_json([_compared(row, best) for row in rows])
        return
    table = [
        [
            row.name,
            f"{float(row.square_error / values) ** 0.5:.4g}",
            f"{float(row.square_error):.5g}",
            f"{float(row.square_error / best):.4f}",
            str(row.mechanism.bits),
        ]
        for row in rows
    ]
    header = ["mechanism", "error of a share", "square error", "of the best", "bits a report"]
    given = f"{shown(values)} shares from {shown(users)} reports"
    title = f"unbiased estimates of {given}, epsilon {epsilon}"
    print_table(title, header, table)
    click.echo(
        "error of a share: root mean square over all values. compressive is missing here: its "
        "estimate is biased, and better if few values are frequent (see the documentation)"
    )


def _compared(row: Any, best: Fraction) -> dict[str, Any]:
    return {
        "mechanism": row.name,
        "square_error": decimal_text(row.square_error),
        "of_the_best": float(row.square_error / best),
        "bits": row.mechanism.bits,
        "configuration": dict(row.mechanism.configuration()),
    }


@local.command(
    epilog="Example: exactdp local report VALUES.csv --mechanism hadamard --k 100 --epsilon 1 "
    "--output reports.edl"
)
@click.argument("values")
@options("mechanism epsilon output", "k:values m seed:matrix limit public:values")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
@statement_option
@json_option
def report(
    values: str,
    output: str,
    overwrite: bool,
    as_json: bool,
    statement: Path | None,
    **given: str | None,
) -> None:
    """Randomize values, one per line: 0 to k - 1, or elements of the list --public.

    The randomness is the operating system's. In a deployment, every user runs this command on
    their own value.
    """
    from exactdp.local.report_files import MECHANISMS, made
    from exactdp.samplers import SystemSource
    from exactdp.statement import released

    target = new_file("output", output, (".edl",), overwrite=overwrite)
    public, name = given.pop("public"), given.pop("mechanism")
    if name not in MECHANISMS:
        raise InvalidParameter("mechanism", name, _MECHANISM)
    listed = None if public is None else column(existing(public, "public"))
    present: dict[str, Any] = {key: x for key, x in given.items() if x is not None}
    if listed is not None:
        present.setdefault("k", len(listed))
    mechanism = made(MECHANISMS[name], present)
    with counted("randomizing"):
        numbers = _numbers(column(existing(values, "values")), listed)
        reports = mechanism.report_many(numbers, SystemSource())
        _write(target, mechanism.reports_to_bytes(reports), overwrite)
    promise = mechanism.guarantee()
    save_statement(statement, lambda: released(promise, mechanism))
    facts = {"reports": len(reports), "bits of each": mechanism.bits, "output": output}
    if as_json:
        print_json({"mechanism": name, **facts, "guarantee": promise.as_dict()})
        return
    print_table(f"randomized by {name}", [], [[key, str(x)] for key, x in facts.items()])
    click.echo(f"guarantee of each: {promise}")


@local.command(epilog="Example: exactdp local aggregate monday.edl tuesday.edl --output state.edl")
@click.argument("files", nargs=-1, required=True)
@options("output")
@click.option("--overwrite", is_flag=True, help="Replace the state if it exists.")
@json_option
def aggregate(files: tuple[str, ...], output: str, overwrite: bool, as_json: bool) -> None:
    """Merge files of reports and of states, all with the same configuration, into one state."""
    from exactdp.local.report_files import mechanism_of, state_of

    target = new_file("output", output, (".edl",), overwrite=overwrite)
    paths = [existing(name) for name in files]
    mechanism = mechanism_of(paths[0].read_bytes())
    total = mechanism.aggregate()
    with counted("adding up"):
        for path in paths:
            total = total + state_of(path.read_bytes(), mechanism)
    _write(target, total.to_bytes(), overwrite)
    facts = {"reports": total.n, "counters": mechanism.cells, "output": output}
    if as_json:
        print_json({**facts, "configuration": dict(mechanism.configuration())})
        return
    print_table("aggregated", [], [[key, str(x)] for key, x in facts.items()])


@local.command(epilog="Example: exactdp local estimate state.edl --method projected --top 10")
@click.argument("file")
@options("", "method top public:values")
@json_option
def estimate(
    file: str, method: str | None, top: str | None, public: str | None, as_json: bool
) -> None:
    """Estimate the shares of the values from a file of reports or a state, largest first."""
    from exactdp.local.report_files import mechanism_of, state_of

    data = existing(file).read_bytes()
    mechanism = mechanism_of(data)
    with counted("estimating"):
        state = state_of(data, mechanism)
        found = state.estimate(method or "projected")
    names = [str(x) for x in range(len(found))]
    if public is not None:
        names = column(existing(public, "public"))
        if len(names) != len(found):
            raise InvalidParameter(
                "public", Described(f"{len(names)} elements"), f"{len(found)} elements"
            )
    shown = (-found).argsort(kind="stable")[: integer("top", top or len(found), least=1)].tolist()
    errors = _errors(mechanism, state, shown)
    if as_json:
        print_json([{"value": names[x], "share": float(found[x]), **errors[x]} for x in shown])
        return
    header = ["value", "share", "standard error (unbiased)"]
    rows = [[names[x], f"{found[x]:.6f}", *(f"{e:.6f}" for e in errors[x].values())] for x in shown]
    print_table(f"shares of {len(found)} values, from {state.n} reports", header, rows)


def _errors(mechanism: Any, state: Any, shown: list[int]) -> dict[int, dict[str, float]]:
    """The standard error of the unbiased estimate at the projected shares, if it is known."""
    from exactdp.local import FrequencyOracle

    if not isinstance(mechanism, FrequencyOracle):
        return {x: {} for x in shown}
    shares = [Fraction(float(share)) for share in state.estimate("projected")]
    return {
        x: {"standard_error": float(mechanism.variance(x, shares) / state.n) ** 0.5} for x in shown
    }


def _numbers(cells: list[str], listed: list[str] | None) -> list[int]:
    if listed is None:
        return [integer("value", cell, least=0) for cell in cells]
    place = {element: x for x, element in enumerate(listed)}
    if len(place) != len(listed):
        raise InvalidParameter(
            "public", Described("an element twice"), "a list of distinct elements"
        )
    for cell in cells:
        if cell not in place:
            raise InvalidParameter("value", cell, "an element of the public list")
    return [place[cell] for cell in cells]


def _write(path: Path, data: bytes, overwrite: bool) -> None:
    with written(path, overwrite=overwrite) as (part,):
        part.write_bytes(data)
