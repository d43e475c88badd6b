"""Write a release with its guarantee beside it, and report what was released."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from exactdp import __version__
from exactdp.cli.output import new_file, print_json, print_table, written
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text


def overwrite_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--overwrite."""
    text = "Replace the release and its guarantee if they exist."
    return click.option("--overwrite", is_flag=True, help=text)(command)


def print_report(
    mechanism: str, released: tuple[int, str], facts: dict[str, str], promise: Any, as_json: bool
) -> None:
    """Print what was released (number and unit), the facts about it, and the guarantee."""
    number, unit = released
    if as_json:
        head = {"mechanism": mechanism, "released": number, "unit": unit}
        print_json({**head, **facts, "guarantee": promise.as_dict()})
        return
    rows = {"released": f"{number} {unit}", **facts}
    print_table(f"released by {mechanism}", [], [[k, v] for k, v in rows.items()])
    click.echo(f"guarantee: {promise}")


def save(
    path: Path,
    promise: Any,
    mechanism: Any,
    overwrite: bool,
    write: Callable[[Path], object],
    read: dict[str, object] | None = None,
) -> None:
    """Write the released file and the file of its guarantee beside it: both or none.

    The guarantee's file also records the mechanism and its parameters. read: the columns that were
    read.
    """
    told = {
        **promise.as_dict(),
        "release": {"file": path.name, **_described(mechanism), **(read or {})},
        "made_by": {"name": "exactdp", "version": __version__},
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    beside = path.with_name(path.name + ".guarantee.json")
    new_file("output", str(beside), (".json",), overwrite=overwrite)
    with written(beside, path, overwrite=overwrite) as (guarantee, part):
        guarantee.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        write(part)


def _described(mechanism: Any) -> dict[str, object]:
    """The name and the parameters of a mechanism: numbers as exact decimals, for JSON."""
    return {"mechanism": type(mechanism).__name__, "parameters": _parameters(mechanism)}


def _parameters(mechanism: Any) -> dict[str, object]:
    values = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.repr}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> object:
    if isinstance(value, bool | int):
        return value
    if is_dataclass(value):
        return {"name": type(value).__name__, **_parameters(value)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return decimal_text(value) if isinstance(value, Fraction) else str(value)


def write_csv(path: Path, header: list[str], rows: Iterable[Iterable[str]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


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
