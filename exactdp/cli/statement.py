"""exactdp statement: check, show and add privacy statements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file, print_json, written
from exactdp.cli.reading import existing
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.statement import Statement

__all__ = ["statement"]


@click.group(no_args_is_help=True)
def statement() -> None:
    """Check, show and compose privacy statements.

    A privacy statement is a JSON file: what was released, what is claimed of its privacy, and the
    choices with which anybody can recompute the claims. Many commands write one with --statement,
    and every release has one beside it.
    """


@statement.command(epilog="Example: exactdp statement check counts.csv.statement.json")
@click.argument("file")
@json_option
def check(file: str, as_json: bool) -> int:
    """Recompute every claim of a statement, in at most a minute.

    Runs the stand-alone checker dpcheck.py, which shares no code with the rest of exactdp. Prints
    valid, not proved or malformed; the exit status is 0, 1 or 2.
    """
    from exactdp import statement as statements

    with counted("checking"):
        found = statements.check(existing(file).read_bytes())
    if as_json:
        print_json({"verdict": found.verdict, "reason": found.reason, "sha256": found.sha256})
    else:
        click.echo(str(found))
    return found.status


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
def show(file: str, reader: str) -> None:
    """Print a statement in plain English. Its claims are not checked; see check."""
    from exactdp.statement.explaining import explain

    made = _read(file)
    if reader == "registry":
        from exactdp.registry import fields_for

        click.echo(fields_for(made), nl=False)
    else:
        click.echo(explain(made, reader))


@statement.command(
    epilog="Example: exactdp statement add monday.json tuesday.json --delta 1e-6 --output both.json"
)
@click.argument("files", nargs=-1, required=True)
@options("output", "epsilon delta")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
def add(
    files: tuple[str, ...], output: str, epsilon: str | None, delta: str | None, overwrite: bool
) -> None:
    """Compose statements about the same unit: one statement about all releases together.

    Claims the delta at --epsilon, the epsilon at --delta, or both. By default it claims the epsilon
    at the sum of all deltas.
    """
    target = new_file("output", output, (".json",), overwrite=overwrite)
    first, *others = [_read(name) for name in files]
    if not others:
        raise click.UsageError("give at least two statements")
    with counted("composing"):
        total = first.together(others, epsilon=epsilon, delta=delta)
    with written(target, overwrite=overwrite) as (part,):
        part.write_text(total.to_json(), encoding="utf-8")
    click.echo(str(total))


def _read(name: str) -> Statement:
    from exactdp.statement import Statement

    return Statement.read(Path(existing(name)).read_bytes())
