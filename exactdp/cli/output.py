"""Printing: tables for people, one JSON value for machines."""

from __future__ import annotations

import json
from pathlib import Path

import click

from exactdp.errors import InvalidParameter

__all__ = ["new_file", "print_json", "print_table"]


def new_file(parameter: str, name: str, endings: tuple[str, ...]) -> Path:
    """The path of a file that can be written without overwriting anything."""
    path = Path(name)
    if path.suffix not in endings:
        raise InvalidParameter(parameter, name, f"a file name ending in {' or '.join(endings)}")
    if path.exists():
        raise InvalidParameter(parameter, name, "a file that does not exist yet")
    if not path.parent.is_dir():
        raise InvalidParameter(parameter, name, "in a folder that exists")
    return path


def print_json(value: object) -> None:
    """One JSON value on one line."""
    click.echo(json.dumps(value))


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """A plain table under a title; without a header, name and value pairs."""
    from tabulate import tabulate

    click.echo(title)
    style = "simple" if header else "plain"
    click.echo(tabulate(rows, headers=header, tablefmt=style, disable_numparse=True))
