"""Decorators that add options to commands. Values stay text, which the library reads exactly."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from exactdp.cli.output import new_file
from exactdp.cli.parameters import CONTRIBUTIONS, KEYS, SPARSITY, TOP, Option
from exactdp.errors import one_line

_Command = TypeVar("_Command", bound=Callable[..., Any])

#: Options for numbers that could all be meant by --k.
_BOUNDS = (SPARSITY, KEYS, TOP, CONTRIBUTIONS)

#: How the allowed values of an option begin -> what --help shows in the place of the value.
_KINDS = {
    "an integer": "INTEGER",
    "a number": "NUMBER",
    "integers": "INTEGER,...",
    "a file": "FILE",
    "a column": "COLUMN",
    "column names": "COLUMN,...",
    "column:low..high:of": "COLUMN:LOW..HIGH:OF,...",
    "number:weight": "INTEGER:NUMBER,...",
    "a text": "TEXT",
    "the name": "NAME",
}


def options(*required: Option, optional: tuple[Option, ...] = ()) -> Callable[[_Command], _Command]:
    """A decorator that adds options; their values are text, or None if not given."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(optional):
            command = _option(option, option.default)(command)
        for option in reversed(required):
            command = _option(option)(command)
        if bounds := [bound.name for bound in _BOUNDS if bound in (*required, *optional)]:
            command = _without_k(bounds)(command)
        return command

    return decorate


def statement_option(command: _Command) -> _Command:
    """--statement: the path of a new file, or None."""

    def path(_context: click.Context, _option: click.Parameter, name: str | None) -> Path | None:
        return None if name is None else new_file("statement", name, (".json",))

    text = "New JSON file: a privacy statement, which anybody can check (see exactdp statement)."
    return click.option("--statement", metavar="FILE", callback=path, help=text)(command)


def one_pair_option(command: _Command) -> _Command:
    """--one-pair."""
    text = (
        "State that one pair of neighbours attains all releases; without it the statement of "
        "several releases claims upper bounds only."
    )
    return click.option("--one-pair", is_flag=True, help=text)(command)


def overwrite_option(command: _Command) -> _Command:
    """--overwrite."""
    text = "Replace output files that exist."
    return click.option("--overwrite", is_flag=True, help=text)(command)


def _option(option: Option, default: str | None = None) -> Callable[[_Command], _Command]:
    """Adds an option; default: what --help says is taken without it, None if it is required."""
    name, allowed = option.name, option.allowed
    flag = "--" + name.replace("_", "-")

    def once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
        if len(values) > 1:
            joined = " and ".join(one_line(value) for value in values)
            raise click.UsageError(f"{name} must be given once, got {joined}")
        if default is None and not values:
            raise click.UsageError(f"{name} must be {allowed}, got nothing (missing {flag})")
        return values[0] if values else None

    metavar, bounds = _kind(allowed)
    taken = "required" if default is None else default and f"default: {default}"
    notes = "; ".join(filter(None, (bounds, taken)))
    text = f"{option.help}  [{notes}]" if notes else option.help
    return click.option(flag, multiple=True, callback=once, metavar=metavar, help=text)


def _without_k(bounds: list[str]) -> Callable[[_Command], _Command]:
    """A hidden --k, whose error says that the number could be one of several bounds."""

    def refuse(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None:
            from exactdp.accounting.sparse_histograms.bounds import refuse_k

            takes = ["k" if name == "contributions" else name for name in bounds]
            refuse_k({"k": value}, *takes)

    return click.option("--k", hidden=True, expose_value=False, callback=refuse)


def _kind(allowed: str) -> tuple[str, str]:
    """What --help shows for the value of an option, and its bounds.

    >>> _kind("an integer >= 1"), _kind("event or user"), _kind("column names")
    (('INTEGER', '>= 1'), ('event|user', ''), ('COLUMN,...', ''))
    """
    for words, metavar in _KINDS.items():
        if allowed.startswith(words):
            rest = allowed.removeprefix(words).strip()
            return metavar, rest if metavar in ("INTEGER", "NUMBER") else ""
    return re.sub(r", | or ", "|", allowed), ""


def find_local_modules() -> None:
    """Make modules in the current folder importable, as ``python -m`` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")
