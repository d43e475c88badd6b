"""exactdp audit run and replay: outputs of one mechanism on two data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli.answers import Answer, answering
from exactdp.cli.audit.group import audit
from exactdp.cli.audit.mechanism import (
    Mechanism,
    bar,
    datasets,
    executor,
    from_json,
    mechanism,
    page_option,
    promise_options,
    show,
)
from exactdp.cli.options import options
from exactdp.cli.reading import text_in
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    from exactdp.audit.promises import Promise


@audit.command(
    epilog="Example: exactdp audit my_package.my_module:my_function --left '{\"a\": 1}' "
    "--right '{}' --epsilon 1 --delta 1e-5\n"
    "Any language: exactdp audit run --command 'python3 mech.py' --left '[1]' --right '[]' "
    "--epsilon 1"
)
@mechanism
@datasets
@page_option
@promise_options
@options("", "samples alpha workers")
@answering
def run(
    mechanism: Mechanism,
    data: tuple[Any, Any],
    page: Path | None,
    promise: Promise,
    samples: str | None,
    alpha: str | None,
    workers: str | None,
) -> Answer:
    """Search for a violation of a claim such as (epsilon, delta) in the outputs of a mechanism.

    TARGET: a name listed by 'exactdp audit targets', or package.module:function for a function
    run(dataset, n) that returns n outputs. --command audits a program instead. Exits 1 if a
    violation is certified, else 0.

    The --command is started for every batch. The program reads one line with the JSON object
    {"data": <data set>, "count": n} and writes n lines with the JSON of one output each. The
    program must draw its own randomness. A time-out, a crash, invalid JSON or a wrong number of
    lines are errors with exit code 2, never a verdict.
    """
    from exactdp.audit import audit as look

    count = integer("samples", samples or 1_000_000, least=1)
    with bar(count) as progress, executor(workers) as pool:
        report = look(
            mechanism.run,
            *data,
            promise=promise,
            samples=count,
            alpha=alpha or "0.01",
            executor=pool,
            progress=progress,
        )
    return show(report, mechanism.name, page)


@audit.command(
    epilog="Example: exactdp audit replay opendp:laplace REPORT.json --set scale=1 "
    "--left 0 --right 1"
)
@mechanism
@click.argument("report", required=False)
@datasets
@page_option
@options("", "samples alpha")
@answering
def replay(
    mechanism: Mechanism,
    report: str | None,
    data: tuple[Any, Any],
    page: Path | None,
    samples: str | None,
    alpha: str | None,
) -> Answer:
    """Repeat an audit: count the event of an earlier --json REPORT on new outputs of TARGET."""
    from exactdp.audit import AuditReport
    from exactdp.audit import replay as count_again

    if report is None or not Path(report).is_file():
        raise InvalidParameter(
            "report", report or "nothing", "a file written by 'exactdp audit ... --json'"
        )
    earlier = AuditReport.from_dict(from_json("report", text_in(Path(report))))
    drawn, level = samples or 100_000, alpha or "0.01"
    again = count_again(earlier, mechanism.run, *data, samples=drawn, alpha=level)
    return show(again, mechanism.name, page)
