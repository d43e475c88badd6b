"""What all commands have in common."""

from __future__ import annotations

import click

from exactdp.cli.completion import completed
from exactdp.cli.examples import unwrapped
from exactdp.cli.help import coloured
from exactdp.cli.schemas import schema_option

#: Characters: more than any sentence about a command, so that lists of commands cut none off.
_WHOLE = 300


def prepared(command: click.Command, path: str) -> click.Command:
    """A command with examples on lines of their own, colours, completion and a schema of --json.

    path: the words that call the command, after exactdp. Its subcommands are prepared, too.
    """
    for step in (unwrapped, coloured, completed):
        step(command)
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            prepared(below, f"{path} {name}").short_help = below.get_short_help_str(_WHOLE)
    else:
        schema_option(command, path)
    return command
