"""exactdp local: compare mechanisms, randomize values, aggregate reports, and estimate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, facts, table
from exactdp.cli.options import options, overwrite_option, statement_option
from exactdp.cli.output import new_file, write_file
from exactdp.cli.publishing import save_statement
from exactdp.cli.reading import column, existing
from exactdp.errors import Described, InvalidParameter, one_line
from exactdp.parameters import choice, decimal_text, integer
from exactdp.progress import counted


@click.group(no_args_is_help=True)
def local() -> None:
    """Collect values that users randomize themselves.

    Each report is private by itself, so nobody has to trust the server (the local model).
    """


@local.command(epilog="Example: exactdp local compare --k 10000 --epsilon 0.5 --n 100000")
@options(opt.K_VALUES, opt.EPSILON, opt.N)
@answering
def compare(k: str, epsilon: str, n: str) -> Answer:
    """Compare the exact errors of the mechanisms for k values, n users and the same epsilon."""
    from exactdp.local.comparison import compare as rows_of

    values, users = integer("k", k, least=2), integer("n", n, least=1)
    with counted("comparing"):
        rows = rows_of(values, epsilon, users)
    best = rows[0].square_error
    cells = [
        [
            row.name,
            row.mechanism.guarantee.neighbours.removesuffix(" (local model)"),
            f"{float(row.square_error / values) ** 0.5:.4g}",
            f"{float(row.square_error):.5g}",
            f"{float(row.square_error / best):.4f}",
            str(row.mechanism.bits),
        ]
        for row in rows
    ]
    header = ["mechanism", "neighbours of a report", "error of a share", "square error"]
    header += ["of the best", "bits a report"]
    subject = f"{one_line(values)} shares from {one_line(users)} reports"
    text = table(f"unbiased estimates of {subject}, epsilon {epsilon}", header, cells) + (
        "\nEvery line answers: the shares of all values, whatever the values of the users are.\n"
        "error of a share: root mean square over all values. compressive is missing here: its "
        "estimate is biased, and better if few values are frequent (see the documentation)"
    )
    return Answer([_compared(row, best) for row in rows], text)


@local.command(
    epilog="Example: exactdp local plan --k 10000 --epsilon 0.5 --sparsity 10 --error 0.2"
)
@options(
    opt.K_VALUES,
    opt.EPSILON,
    optional=(
        opt.SPARSITY_VALUES,
        opt.ERROR_SHARES,
        opt.NUMBER_OF_USERS,
        opt.BETA,
        opt.SEED_MATRIX,
    ),
)
@answering
def plan(k: str, epsilon: str, beta: str | None, seed: str | None, **texts: str | None) -> Answer:
    """Choose outputs and users for frequent values, by a proved error (compressive response).

    Give two of --sparsity, --error and --users; the third is found, and the number m of outputs.
    """
    from exactdp.local import CompressivePlan

    whole = {
        name: integer(name, text, least=1)
        for name, text in texts.items()
        if text is not None and name != "error"
    }
    with counted("planning"):
        compressive = CompressivePlan.for_target(
            k=integer("k", k, least=2),
            epsilon=epsilon,
            error=texts["error"],
            beta=beta or "0.05",
            seed=integer("seed", seed or 0, least=0),
            **whole,
        )
    fields = {
        "outputs": compressive.mechanism.m,
        "bits": compressive.mechanism.bits,
        "sparsity": compressive.sparsity,
        "users": compressive.users,
        "l1_error": compressive.error,
    }
    shown_facts = {
        "outputs (m)": compressive.mechanism.m,
        "bits of a report": compressive.mechanism.bits,
        "frequent values": compressive.sparsity,
        "users": compressive.users,
        "l1 error of all shares": (
            f"<= {compressive.error:.4g}, except with probability {beta or '0.05'}"
        ),
    }
    return Answer(fields, facts("plan of a compressive response", shown_facts))


@local.command(epilog="Example: exactdp local shuffled --k 10 --epsilon 1 --n 100000 --delta 1e-6")
@options(opt.K_VALUES, opt.EPSILON, opt.N, opt.DELTA)
@answering
def shuffled(k: str, epsilon: str, n: str, delta: str) -> Answer:
    """Bound the epsilon of n reports of randomized response in random order (the shuffle model).

    The upper bound holds for all values of the other users, the lower bound for some values.
    """
    from exactdp.local import RandomizedResponse, Shuffled

    one = RandomizedResponse(integer("k", k, least=2), epsilon)
    with counted("composing"):
        epsilon_bounds = Shuffled(one, integer("n", n, least=1)).epsilon(delta)
    setting = {"k": k, "epsilon of a report": epsilon, "n": n, "delta": delta}
    text = facts(
        "shuffled randomized response, certified", {**setting, "epsilon": str(epsilon_bounds)}
    )
    text += f"\nneighbours: {REPLACED_ROW}"
    return Answer(
        {"epsilon": epsilon_bounds.as_dict(), "delta": delta, "neighbours": REPLACED_ROW}, text
    )


def _compared(row: Any, best: Fraction) -> dict[str, Any]:
    return {
        "mechanism": row.name,
        "square_error": decimal_text(row.square_error),
        "of_the_best": float(row.square_error / best),
        "bits": row.mechanism.bits,
        "neighbours": row.mechanism.guarantee.neighbours,
        "configuration": dict(row.mechanism.configuration()),
    }


@local.command(
    epilog="Example: exactdp local report VALUES.csv --mechanism hadamard --k 100 --epsilon 1 "
    "--output reports.edl"
)
@click.argument("values")
@options(
    opt.MECHANISM,
    opt.EPSILON,
    opt.OUTPUT,
    optional=(opt.K_VALUES, opt.M, opt.SEED_MATRIX, opt.LIMIT, opt.PUBLIC_VALUES),
)
@overwrite_option
@statement_option
@answering
def report(
    values: str, output: str, overwrite: bool, statement: Path | None, **texts: str | None
) -> Answer:
    """Randomize values, one per line: 0 to k - 1, or elements of the list --public.

    The randomness is the operating system's. In a deployment, every user runs this command on
    their own value.
    """
    from exactdp.local.report_files import MECHANISMS, mechanism_from
    from exactdp.samplers import SystemSource
    from exactdp.statement import released

    target = new_file("output", output, (".edl",), overwrite=overwrite)
    public, name = texts.pop("public"), texts.pop("mechanism")
    chosen = MECHANISMS[choice("mechanism", str(name), tuple(MECHANISMS))]
    listed = None if public is None else column(existing(public, "public"))
    present: dict[str, Any] = {key: x for key, x in texts.items() if x is not None}
    if listed is not None:
        present.setdefault("k", len(listed))
    mechanism = mechanism_from(chosen, present)
    with counted("randomizing"):
        numbers = _numbers(column(existing(values, "values")), listed)
        reports = mechanism.report_many(numbers, SystemSource())
        write_file(target, mechanism.reports_to_bytes(reports), overwrite=overwrite)
    promise = mechanism.guarantee
    save_statement(statement, lambda: released(promise, mechanism))
    summary = {"reports": len(reports), "bits of each": mechanism.bits, "output": output}
    text = facts(f"randomized by {name}", summary) + f"\nguarantee of each: {promise}"
    return Answer({"mechanism": name, **summary, "guarantee": promise.as_dict()}, text)


@local.command(epilog="Example: exactdp local aggregate monday.edl tuesday.edl --output state.edl")
@click.argument("files", nargs=-1, required=True)
@options(opt.OUTPUT)
@overwrite_option
@answering
def aggregate(files: tuple[str, ...], output: str, overwrite: bool) -> Answer:
    """Add up reports: merge files of reports and of states into one state.

    All files have the same configuration.
    """
    from exactdp.local.report_files import mechanism_of, state_of

    target = new_file("output", output, (".edl",), overwrite=overwrite)
    paths = [existing(name) for name in files]
    mechanism = mechanism_of(paths[0].read_bytes())
    total = mechanism.aggregate()
    with counted("adding up"):
        for path in paths:
            total = total + state_of(path.read_bytes(), mechanism)
    write_file(target, total.to_bytes(), overwrite=overwrite)
    summary = {"reports": total.n, "counters": mechanism.cells, "output": output}
    configuration = dict(mechanism.configuration())
    return Answer({**summary, "configuration": configuration}, facts("aggregated", summary))


@local.command(epilog="Example: exactdp local estimate state.edl --method projected --top 10")
@click.argument("file")
@options(optional=(opt.METHOD, opt.TOP_ESTIMATES, opt.PUBLIC_VALUES))
@answering
def estimate(file: str, method: str | None, top: str | None, public: str | None) -> Answer:
    """Estimate the shares of the values from a file of reports or a state, largest first."""
    from exactdp.local.report_files import mechanism_of, state_of

    data = existing(file).read_bytes()
    mechanism = mechanism_of(data)
    with counted("estimating"):
        state = state_of(data, mechanism)
        shares = state.estimate(method or "projected")
    names = [str(x) for x in range(len(shares))]
    if public is not None:
        names = column(existing(public, "public"))
        if len(names) != len(shares):
            raise InvalidParameter(
                "public", Described(f"{len(names)} elements"), f"{len(shares)} elements"
            )
    order = (-shares).argsort(kind="stable")[: integer("top", top or len(shares), least=1)].tolist()
    errors = _errors(mechanism, state, order)
    header = ["value", "share", "standard error (unbiased)"]
    rows = [
        [names[x], f"{shares[x]:.6f}", *(f"{e:.6f}" for e in errors[x].values())] for x in order
    ]
    return Answer(
        [{"value": names[x], "share": float(shares[x]), **errors[x]} for x in order],
        table(f"shares of {len(shares)} values, from {state.n} reports", header, rows),
    )


def _errors(mechanism: Any, state: Any, values: list[int]) -> dict[int, dict[str, float]]:
    """The standard error of the unbiased estimate at the projected shares, if it is known."""
    from exactdp.local import FrequencyOracle

    if not isinstance(mechanism, FrequencyOracle):
        return {x: {} for x in values}
    shares = [Fraction(float(share)) for share in state.estimate("projected")]
    return {
        x: {"standard_error": float(mechanism.variance(x, shares) / state.n) ** 0.5} for x in values
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
