"""exactdp audit watch: an audit without a fixed end, whose bound holds at any time."""

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
    mechanism,
    page_option,
    promise_options,
    show,
)
from exactdp.cli.options import options
from exactdp.cli.stopping import Terminated
from exactdp.errors import InvalidParameter

if TYPE_CHECKING:
    from exactdp.audit import AuditReport
    from exactdp.audit.promises import Promise


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
@options("", "alpha workers")
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
        with bar(None) as progress, executor(workers) as pool:
            for report in look(
                mechanism.run,
                *data,
                promise=promise,
                samples=samples,
                alpha=alpha or "0.01",
                executor=pool,
                progress=progress,
            ):
                last = report
    except (KeyboardInterrupt, Terminated):
        if last is None:
            raise
    if last is None:
        raise InvalidParameter("samples", samples, "enough for a first report")
    return show(last, mechanism.name, page)
