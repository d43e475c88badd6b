"""exactdp release: the group, and what its commands have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering
from exactdp.cli.help import Sections
from exactdp.cli.options import options, overwrite_option
from exactdp.cli.output import new_file
from exactdp.cli.publishing import check_files, opened, report, save, settle


class _ByTask(Sections):
    sections: ClassVar[Mapping[str, Iterable[str]]] = {
        "Before a release": ("advise", "cut", "budget", "plan"),
        "Counts of users, and sums; neighbours: one user more or less": (
            "counts",
            "gshm",
            "csh",
            "top-k",
        ),
        "Keys without counts; neighbours: one user more or less": ("keys",),
        "Histograms over numbers or short texts; neighbours: one row replaced": (
            *("basic", "stability", "sparse", "padded", "fixed-time-sparse", "compact"),
        ),
        "Values and sketches of sparse vectors; neighbours: an l1 distance of 1": (
            *("threshold", "alp", "signed-alp", "histogram-alp", "log-alp", "threshold-alp"),
            *("max-projection", "dense-laplace"),
        ),
        "After a release": ("query",),
    }


@click.group(cls=_ByTask, no_args_is_help=True)
def release() -> None:
    """Publish counts, sums, keys or sketches, with noise.

    The input is a CSV file of counts (element,count), or a file of rows.

    With --user and --by, rows are read from CSV or Parquet, one per user and key. --delimiter,
    --quote and --no-header set how CSV is read; an empty cell is a missing value. The privacy
    statement is written beside the release, to OUTPUT.statement.json.
    """


@dataclass(frozen=True)
class Publication:
    """What a command releases. size: a number and its unit. write: a function that writes the file.
    facts: for the report. more: bounds and facts for the statement. then: a function to call after
    the file was written."""

    mechanism: Any
    promise: Any
    size: tuple[int, str]
    write: Callable[[Path], object]
    facts: dict[str, str]
    more: dict[str, Any] = field(default_factory=dict)
    then: Callable[[], object] = lambda: None


def releasing(
    name: str,
    required: tuple[opt.Option, ...],
    optional: tuple[opt.Option, ...],
    text: str,
    example: str,
    *endings: str,
    more: Callable[[Any], Any] = lambda command: command,
) -> Callable[[Callable[..., Publication]], None]:
    """A decorator that adds a command: it reads DATA, and writes what the function returns.

    The function gets the path of DATA as text, the new file, and the values of the options.
    example: what follows the name of the command in an example. endings: of the new file. more:
    adds further options.
    """

    def decorate(make: Callable[..., Publication]) -> None:
        @release.command(name, help=text, epilog=f"Example: exactdp release {name} {example}")
        @click.argument("data")
        @options(*required, opt.OUTPUT, optional=optional)
        @more
        @overwrite_option
        @answering
        def command(data: str, output: str, overwrite: bool, **arguments: Any) -> Answer:
            target = new_file("output", output, endings, overwrite=overwrite)
            files = {name: arguments.get(name) for name in ("budget", "public", "picture")}
            check_files(target, {"data": data, **files}, overwrite=overwrite)
            budget = None if files["budget"] is None else opened(files["budget"])
            if budget is not None:
                arguments["budget"] = budget
            try:
                publication = make(data, target, **arguments)
                save(
                    target,
                    publication.promise,
                    publication.mechanism,
                    overwrite,
                    publication.write,
                    publication.more,
                )
            except BaseException:  # signals as well
                settle(budget, "nothing was released")
                raise
            settle(budget, f"written to {target.name}")
            publication.then()
            facts = {**publication.facts, "output": output}
            return report(name, publication.size, facts, publication.promise)

    return decorate
