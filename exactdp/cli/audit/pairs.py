"""exactdp audit pairs: the worst of many pairs of data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exactdp.cli.answers import Answer, answering
from exactdp.cli.audit.group import audit
from exactdp.cli.audit.mechanism import (
    Mechanism,
    bar,
    executor,
    from_json,
    mechanism,
    promise_options,
)
from exactdp.cli.options import options
from exactdp.cli.reading import existing, standard_input, text_in
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    from exactdp.audit.promises import Promise


@audit.command(
    epilog="Example: exactdp audit pairs opendp:laplace --set scale=1 --epsilon 1 "
    "--pairs pairs.jsonl"
)
@mechanism
@click.option("--pairs", "file", metavar="FILE", help="File of pairs, one JSON array per line.")
@promise_options
@options("", "samples alpha workers")
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
    with bar(count) as progress, executor(workers) as pool:
        found = audit_pairs(
            mechanism.run,
            chosen,
            promise=promise,
            samples=count,
            alpha=alpha or "0.01",
            executor=pool,
            progress=progress,
        )
    data = {"target": mechanism.name, **found.as_dict()}
    return Answer(data, found.text(), int(found.violation))


def _pair(line: str) -> tuple[Any, Any]:
    value = from_json("pairs", line)
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidParameter("pairs", line, "lines of JSON arrays [left, right]")
    return value[0], value[1]
