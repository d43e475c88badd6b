"""exactdp release budget: a limit on all releases about the same data, kept in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import options
from exactdp.cli.output import new_file
from exactdp.parameters import short_text


@click.command(epilog="Example: exactdp release budget month.json --epsilon 3 --delta 1e-6")
@click.argument("file")
@options(optional=(opt.EPSILON, opt.DELTA, opt.COUNTING))
@answering
def budget(file: str, epsilon: str | None, delta: str | None, counting: str | None) -> Answer:
    """Make a budget for all releases about the same data, or show what was spent of it.

    With --epsilon and --delta a new budget is made. `release counts` and `release keys` pay from it
    with --budget FILE. Deleting the file forgets what was spent. An expense says what became of its
    release: written to a file, or nothing was released; "begun" or "returned" alone are left by a
    command that was killed before it wrote its file.
    """
    from exactdp.accounting import pld

    if epsilon is None:
        kept = pld.Budget.open(file)
    else:
        path: Path = new_file("file", file, (".json",))
        kept = pld.Budget(epsilon=epsilon, delta=delta, by=counting or "sums", file=path)
    rows = [
        [name, short_text(kept.spent[name]), short_text(kept.remaining[name]), short_text(limit)]
        for name, limit in kept.limits.items()
    ]
    notes: list[dict[str, Any]] = [
        {"note": each.note, **{name: short_text(cost) for name, cost in each.cost.items()}}
        | ({"outcome": each.outcome} if each.outcome else {})
        for each in kept.expenses
    ]
    lines = [", ".join(f"{name} {value}" for name, value in note.items()) for note in notes]
    header = ["spent", "left", "limit"]
    limits = {name: dict(zip(header, numbers, strict=True)) for name, *numbers in rows}
    text = "\n".join([table(file, ["", *header], rows), *lines])
    return Answer({"file": file, "limits": limits, "expenses": notes}, text)
