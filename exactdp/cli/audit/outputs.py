"""exactdp audit run, replay, watch and pairs: searches in outputs of one mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli import parameters as opt
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
from exactdp.cli.reading import existing, standard_input, text_in
from exactdp.cli.stopping import Terminated
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    from exactdp.audit import AuditReport
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
@options(optional=(opt.SAMPLES, opt.ALPHA, opt.WORKERS))
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
    with _searching(count, alpha, workers, count) as how:
        report = look(mechanism.run, *data, promise=promise, **how)
    return show(report, mechanism.name, page)


@audit.command(
    epilog="Example: exactdp audit replay opendp:laplace REPORT.json --set scale=1 "
    "--left 0 --right 1"
)
@mechanism
@click.argument("report", required=False)
@datasets
@page_option
@options(optional=(opt.SAMPLES, opt.ALPHA))
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
    number, level = samples or 100_000, alpha or "0.01"
    again = count_again(earlier, mechanism.run, *data, samples=number, alpha=level)
    return show(again, mechanism.name, page)


@audit.command(
    epilog="Example: exactdp audit watch opendp:laplace --set scale=1 --left 0 --right 1 "
    "--epsilon 1"
)
@mechanism
@datasets
@page_option
@promise_options
@click.option(
    "--samples", metavar="SAMPLES", help="Number of outputs to end after (default: never)."
)
@options(optional=(opt.ALPHA, opt.WORKERS))
@answering
def watch(
    mechanism: Mechanism,
    data: tuple[Any, Any],
    page: Path | None,
    promise: Promise,
    samples: str | None,
    alpha: str | None,
    workers: str | None,
) -> Answer:
    """Audit TARGET, or a --command, until a violation is certified or you press Ctrl-C.

    The audit may be stopped at any time, by Ctrl-C or SIGTERM; the printed report then holds with
    the stated confidence. Exits 1 if a violation is certified, else 0.
    """
    from exactdp.audit import watch as look

    last: AuditReport | None = None
    try:
        with _searching(samples, alpha, workers, None) as how:
            for report in look(mechanism.run, *data, promise=promise, **how):
                last = report
    except (KeyboardInterrupt, Terminated):
        if last is None:
            raise
    if last is None:
        raise InvalidParameter("samples", samples, "enough for a first report")
    return show(last, mechanism.name, page)


@audit.command(
    epilog="Example: exactdp audit pairs opendp:laplace --set scale=1 --epsilon 1 "
    "--pairs pairs.jsonl"
)
@mechanism
@click.option("--pairs", "file", metavar="FILE", help="File of pairs, one JSON array per line.")
@promise_options
@options(optional=(opt.SAMPLES, opt.ALPHA, opt.WORKERS))
@answering
def pairs(
    mechanism: Mechanism,
    file: str | None,
    promise: Promise,
    samples: str | None,
    alpha: str | None,
    workers: str | None,
) -> Answer:
    """Search many pairs of data sets for a violation by TARGET, or by a --command.

    FILE has one pair per line, a JSON array such as [0, 1]; - is standard input. Half of the
    outputs select the worst pairs, the other half certify. Exits 1 if a violation is certified,
    else 0.
    """
    from exactdp.audit import audit_pairs

    if file is None:
        raise InvalidParameter("pairs", Described("nothing"), "a file of pairs (missing --pairs)")
    lines = standard_input() if file == "-" else text_in(existing(file, "pairs")).splitlines()
    chosen = [_pair(line) for line in lines if line.strip()]
    count = integer("samples", samples or 1_000_000, least=1)
    with _searching(count, alpha, workers, count) as how:
        worst = audit_pairs(mechanism.run, chosen, promise=promise, **how)
    data = {"target": mechanism.name, **worst.as_dict()}
    return Answer(data, worst.text(), int(worst.violation))


def _pair(line: str) -> tuple[Any, Any]:
    value = from_json("pairs", line)
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidParameter("pairs", line, "lines of JSON arrays [left, right]")
    return value[0], value[1]


@contextmanager
def _searching(
    samples: Any, alpha: str | None, workers: str | None, total: int | None
) -> Iterator[dict[str, Any]]:
    """The arguments that all searches take, while a bar of `total` outputs is shown."""
    with bar(total) as progress, executor(workers) as pool:
        yield {
            "samples": samples,
            "alpha": alpha or "0.01",
            "executor": pool,
            "progress": progress,
        }
