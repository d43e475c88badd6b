"""Commands of distributions that are installed separately, found by their entry points."""

from __future__ import annotations

import click

from exactdp.errors import MissingExtra

#: Entry points through which a distribution adds a command; its name is that of the command.
_GROUP = "exactdp.commands"


def separate(name: str, extra: str) -> click.Command:
    """The command that a distribution adds; without it, one that names the extra to install."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    for point in entry_points(group=_GROUP, name=name):
        command: click.Command = point.load()
        return command
    needed = f"this needs exactdp-{extra}: pip install 'exactdp[{extra}]'"

    @click.command(
        name,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        help=f"Not installed: pip install 'exactdp[{extra}]'.",
    )
    def missing() -> None:
        raise MissingExtra(needed)

    return missing
