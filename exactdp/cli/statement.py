"""exactdp statement: check, show and add privacy statements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering
from exactdp.cli.options import one_pair_option, options, overwrite_option
from exactdp.cli.output import new_file, write_file
from exactdp.cli.publishing import statement_path
from exactdp.cli.reading import existing
from exactdp.errors import InvalidParameter
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.statement import Statement


@click.group(no_args_is_help=True)
def statement() -> None:
    """Check, show, compose and lint privacy statements.

    A privacy statement is a JSON file: what was released, what is claimed of its privacy, and the
    choices with which anybody can recompute the claims. Many commands write one with --statement,
    and every release has one beside it.
    """


@statement.command(epilog="Example: exactdp statement check counts.csv.statement.json")
@click.argument("file")
@answering
def check(file: str) -> Answer:
    """Recompute every claim of a statement with the stand-alone checker.

    The checker dpcheck.py shares no code with the rest of exactdp and takes at most a minute.
    Prints valid, not proved or malformed; the exit status is 0, 1 or 2.
    """
    from exactdp import statement as statements

    with counted("checking"):
        verdict = statements.check(_content(file))
    data = {"verdict": verdict.verdict, "reason": verdict.reason, "sha256": verdict.sha256}
    return Answer(data, str(verdict), verdict.status)


@statement.command(epilog="Example: exactdp statement show counts.csv.statement.json --for subject")
@click.argument("file")
@click.option(
    "--for",
    "reader",
    type=click.Choice(["subject", "reviewer", "engineer", "registry"]),
    default="reviewer",
    show_default=True,
    help="Whose data it is about, who reviews it, or who re-checks it; registry prints YAML for a "
    "record of the deployments registry.",
)
@answering
def show(file: str, reader: str) -> Answer:
    """Print a statement in plain English.

    The claims are recomputed, as by check, and the first line says whether they follow.
    """
    from exactdp.statement.explaining import explain

    document = _read(file)
    with counted("checking"):
        verdict = document.check()
    if reader == "registry":
        from exactdp.registry import fields_for

        text = fields_for(document, verdict).rstrip("\n")
    else:
        text = explain(document, reader, verdict)
    return Answer({"for": reader, "verdict": verdict.verdict, "text": text}, text)


@statement.command(
    epilog="Example: exactdp statement add monday.json tuesday.json --delta 1e-6 --output both.json"
)
@click.argument("files", nargs=-1, required=True)
@options(opt.OUTPUT, optional=(opt.EPSILON, opt.DELTA))
@one_pair_option
@overwrite_option
@answering
def add(
    files: tuple[str, ...],
    output: str,
    epsilon: str | None,
    delta: str | None,
    one_pair: bool,
    overwrite: bool,
) -> Answer:
    """Compose statements about the same unit into one statement about all releases together.

    Claims the delta at --epsilon, the epsilon at --delta, or both. By default it claims the epsilon
    at the sum of all deltas. A delta is claimed from below only with --one-pair: two counts of
    disjoint groups have no user who is in both.
    """
    target = new_file("output", output, (".json",), overwrite=overwrite)
    first, *others = [_read(name) for name in files]
    if not others:
        raise click.UsageError("give at least two statements")
    with counted("composing"):
        total = first.together(others, epsilon=epsilon, delta=delta, one_pair=one_pair)
    write_file(target, total.to_json(), overwrite=overwrite)
    return Answer({"output": output, "statement": json.loads(total.to_json())}, str(total))


@statement.command(epilog="Example: exactdp statement theorem counts.json --output counts.v")
@click.argument("file")
@options(opt.OUTPUT)
@overwrite_option
@answering
def theorem(file: str, output: str, overwrite: bool) -> Answer:
    """Write the claims of a statement as theorems for Rocq, the proof assistant.

    coqc accepts the file by computing, with the definitions and rules of the folder checker/rocq:
    coqc -Q checker/rocq DP FILE.v. It refuses the file if a claim does not hold.
    """
    from exactdp.statement.theorem import left_out
    from exactdp.statement.theorem import theorem as as_theorem

    target = new_file("output", output, (".v",), overwrite=overwrite)
    claims = _read(file)
    text = as_theorem(claims)
    write_file(target, text, overwrite=overwrite)
    numbers = ", ".join(str(number) for _, number in left_out(claims))
    without = (
        f"; without the bound from below of claim {numbers}: no theorem yet" if numbers else ""
    )
    return Answer({"output": output, "theorem": text}, f"wrote {output}{without}")


def _read(name: str) -> Statement:
    from exactdp.statement import Statement

    return Statement.read(_content(name))


def _content(name: str) -> bytes:
    """The bytes of a statement; a release is refused, and its statement named."""
    path = Path(existing(name))
    beside = statement_path(path)
    if beside.is_file():
        raise InvalidParameter("file", name, f"a statement; that of this release is {beside}")
    return path.read_bytes()
