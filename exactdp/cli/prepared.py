"""What all commands have in common."""

from __future__ import annotations

import re

import click

from exactdp.cli.completion import completed
from exactdp.cli.help import coloured
from exactdp.cli.schemas import schema_option

#: Characters: more than any sentence about a command, so that lists of commands cut none off.
_WHOLE = 300


def prepared(command: click.Command, path: str) -> click.Command:
    """A command with examples on lines of their own, colours, completion and a schema of --json.

    path: the words that call the command, after exactdp. Its subcommands are prepared, too.
    """
    for step in (_unwrapped, coloured, completed):
        step(command)
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            prepared(below, f"{path} {name}").short_help = below.get_short_help_str(_WHOLE)
    else:
        schema_option(command, path)
    return command


def examples(command: click.Command) -> list[tuple[str, str]]:
    """The examples in a command's epilog, with their labels.

    An epilog is "Example: exactdp ..."; several are separated by line ends or by two spaces.
    """
    lines = re.split(r"(?: {2,}|\n)+", (command.epilog or "").replace("\b", "").strip())
    pairs = (line.partition(": ") for line in lines if line)
    return [(label, example) for label, _, example in pairs]


def _unwrapped(command: click.Command) -> None:
    """Put each example on a line of its own, never wrapped, so that users can paste it."""
    if command.epilog:
        lines = [f"{label}: {example}" for label, example in examples(command)]
        command.epilog = "\n".join(["\b", *lines])  # click wraps no paragraph after \b
