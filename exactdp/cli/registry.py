"""The table of all commands and their modules. To add a command, write its function and a line.

The help, the page of the site and the tests of the command line follow from this table.
"""

from __future__ import annotations

from importlib import import_module

import click

from exactdp.cli.examples import unwrapped

#: Command -> modules of exactdp.cli: the first has a click command of that name, the others add
#: subcommands. Modules are imported when the command is used or listed.
COMMANDS = {
    "delta": "accounting",
    "calibrate": "accounting",
    "check": "accounting",
    "sgd": "composition",
    "compose": "composition",
    "statement": "statement",
    "lint": "lint",
    "release": "release release_counters release_keys sketches",
    "cut": "cut",
    "local": "local",
    "sparse": "sparse",
    "query": "query",
    "sample": "sample",
    "figure": "figure sketch_figures",
    "proofs": "proofs",
    "audit": "audit.group audit.outputs audit.pairs audit.watch audit.numbers",
    "vectors": "vectors",
    "explain": "explain",
    "compare": "accounting",
}


class Commands(click.Group):
    """A group of the commands in the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        first, *_ = [import_module(f"exactdp.cli.{name}") for name in COMMANDS[cmd_name].split()]
        command: click.Command = getattr(first, cmd_name)
        return unwrapped(command)
