"""Write a release with its privacy statement beside it, and report what was released."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactdp.cli.answers import Answer, facts
from exactdp.cli.output import new_file, write_file, written
from exactdp.cli.reading import existing
from exactdp.errors import Described, InvalidParameter
from exactdp.extras import optional
from exactdp.parameters import decimal_text

if TYPE_CHECKING:
    from exactdp.accounting.pld import Budget
    from exactdp.statement import Statement

#: Endings of files that hold a table.
TABLES = (".csv", ".parquet", ".json")


def report(
    mechanism: str, released: tuple[int, str], about: dict[str, str], promise: Any
) -> Answer:
    """What was released (number and unit), the facts about the release, and the guarantee."""
    number, unit = released
    head = {"mechanism": mechanism, "released": number, "unit": unit}
    text = facts(f"released by {mechanism}", {"released": f"{number} {unit}", **about})
    return Answer(
        {**head, **about, "guarantee": promise.as_dict()}, f"{text}\nguarantee: {promise}"
    )


def opened(file: str) -> Budget:
    """The budget in a file; raises InvalidParameter."""
    from exactdp.accounting import pld

    return pld.Budget.open(existing(file, "budget"))


def settle(budget: Budget | None, outcome: str) -> None:
    """Say in a budget's ledger what became of the release that was paid, if one was."""
    if budget is not None:
        budget.settle(outcome)


def check_files(path: Path, others: Mapping[str, str | None], *, overwrite: bool) -> None:
    """Raise InvalidParameter if a release to this path, or its statement, cannot be written, or
    would replace one of the other files of the command. This is done before anything is paid."""
    beside = statement_path(path)
    new_file("statement", str(beside), (".json",), overwrite=overwrite)
    for name, other in others.items():
        if other is not None and Path(other).resolve() in (path.resolve(), beside.resolve()):
            raise InvalidParameter("output", str(path), f"another file than --{name}")


def statement_path(path: Path) -> Path:
    """Where the privacy statement of a released file is written."""
    return path.with_name(path.name + ".statement.json")


def save(
    path: Path,
    promise: Any,
    mechanism: Any,
    overwrite: bool,
    write: Callable[[Path], object],
    more: dict[str, Any] | None = None,
) -> None:
    """Write the released file and its privacy statement beside it: both or none.

    The statement also records the mechanism, its parameters, the name of the file and the time.
    more: bounds, further facts and a loss for the statement.
    """
    from exactdp.statement import released

    details = {"bounds": (), "about": {}, "loss": None, **(more or {})}
    time = datetime.now(UTC).isoformat(timespec="seconds")
    about = {**details["about"], "file": path.name, "time": time}
    privacy_statement = released(promise, mechanism, **{**details, "about": about})
    with written(path, statement_path(path), overwrite=overwrite) as (part, statement):
        statement.write_text(privacy_statement.to_json(), encoding="utf-8")
        write(part)


def save_statement(path: Path | None, make: Callable[[], Statement]) -> None:
    """Write a privacy statement, if there is a path for it."""
    if path is not None:
        write_file(path, make().to_json())


def write_csv(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def table_writer(
    ending: str, header: list[str], rows: Sequence[Sequence[Any]]
) -> Callable[[Path], object]:
    """What writes a table of texts, numbers and dates in the format of a file's ending."""
    if ending == ".csv":
        return lambda part: write_csv(part, header, rows)
    if ending == ".json":
        named = [dict(zip(header, row, strict=True)) for row in rows]
        return lambda part: part.write_text(
            json.dumps(named, indent=0, default=str) + "\n", encoding="utf-8"
        )
    pa, columns = optional("pyarrow"), [*zip(*rows, strict=True)] or [()] * len(header)
    try:
        table = pa.table([list(column) for column in columns], names=header)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        allowed = "a .csv or .json file for these elements"
        raise InvalidParameter("output", Described("a .parquet file"), allowed) from None
    return lambda part: optional("pyarrow.parquet").write_table(table, part)


def relation_writer(ending: str, relation: Any, rows: Sequence[Sequence[Any]]) -> Any:
    """What writes a released relation of DuckDB: Parquet in its own types, which do not depend on
    the values; the other formats from rows, whose numbers are spelt shortly."""
    if ending != ".parquet":
        return table_writer(ending, relation.columns, rows)
    table, parquet = relation.fetch_arrow_table(), optional("pyarrow.parquet")
    return lambda part: parquet.write_table(table, part)


def accuracy(mechanism: Any) -> dict[str, str]:
    """The errors of counts by noise, for the report; empty if failure alone exceeds 5 %."""
    try:
        bound = mechanism.accuracy("0.05")
    except InvalidParameter:  # the failure probability alone is above 5 %
        return {}
    limit, one, every = (
        decimal_text(Fraction(n))
        for n in (bound.per_query_above, bound.per_query, bound.simultaneous)
    )
    above = f", for counts > {limit}" if bound.per_query_above >= 0 else ""
    return {
        "error of one count (95 %)": f"<= {one}{above}",
        "error of all counts (95 %)": f"<= {every}",
    }
