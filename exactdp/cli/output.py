"""Printing: tables for people, one JSON value for machines."""

from __future__ import annotations

import json

import click

__all__ = ["print_json", "print_table"]


def print_json(value: object) -> None:
    """One JSON value on one line."""
    click.echo(json.dumps(value))


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """A plain table under a title; without a header, name and value pairs."""
    from tabulate import tabulate

    click.echo(title)
    style = "simple" if header else "plain"
    click.echo(tabulate(rows, headers=header, tablefmt=style, disable_numparse=True))
