"""The result of a command, printed as text for people or with --json for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from exactdp.cli.help import painted
from exactdp.display import facts

__all__ = ["Answer", "answering", "facts", "table"]

#: A line about a target that is kept whatever epsilon is.
ALREADY_MET = "\ndelta is already met at epsilon 0"


@dataclass(frozen=True)
class Answer:
    """data: for --json. text: for people. code: of the exit."""

    data: Any
    text: str
    code: int = 0


def answering(command: Callable[..., Answer]) -> Callable[..., Any]:
    """Add --json to a command that returns an Answer."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @wraps(command)
    def wrapped(*, as_json: bool, **arguments: Any) -> int:
        answer = command(**arguments)
        click.echo(json.dumps(answer.data) if as_json else painted(answer.text))
        return answer.code

    return wrapped


def table(title: str, header: list[str], rows: list[list[str]]) -> str:
    """A table under a title."""
    from tabulate import tabulate

    return f"{title}\n{tabulate(rows, headers=header, tablefmt='simple', disable_numparse=True)}"
