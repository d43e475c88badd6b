"""Help texts and results in colour, on a terminal; and the questions that exactdp alone asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

import click

QUESTIONS = """\
What do you want to do? (exactdp --help lists all commands, exactdp COMMAND --help explains one)
  publish counts:        exactdp release counts --help      exactdp release --help
  choose noise:          exactdp calibrate gaussian --epsilon 1 --delta 1e-6
  train with noise:      exactdp sgd --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5
  what can be attacked:  exactdp risk --help                exactdp epsilon --help
  test code or a claim:  exactdp audit --help               exactdp statement check FILE"""

_COLOURS = {
    "green": ("proved", "valid", "no violation", "not refuted"),
    "red": ("refuted", "violation", "unsafe", "not proved", "malformed", "NOT CONFIRMED"),
    "yellow": ("undecided", "loose"),
}
_VERDICT = re.compile("|".join(word for words in _COLOURS.values() for word in words))


class Sections(click.Group):
    """A group whose --help lists its commands by task."""

    #: Task -> names of commands, each under one task.
    sections: ClassVar[Mapping[str, Iterable[str]]] = {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their tasks."""
        for task, names in self.sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, each.get_short_help_str(300)) for name, each in commands if each]
            with formatter.section(task):
                formatter.write_dl(rows)


class _Formatter(click.HelpFormatter):
    def write_heading(self, heading: str) -> None:
        super().write_heading(click.style(heading, bold=True))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        styled = [(click.style(name, fg="cyan"), text) for name, text in rows]
        super().write_dl(styled, col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


def coloured(command: click.Command) -> None:
    """Show the help of a command in colours; click leaves them out where there is no terminal."""
    command.context_class = _Context


def painted(text: str) -> str:
    """A result with its first line in bold, and a verdict at the start of the text in colour."""
    verdict = _VERDICT.match(text)
    if verdict is None:
        first, rest = text.partition("\n")[::2]
        return click.style(first, bold=True) + "\n" + rest if rest else text
    colour = next(colour for colour, words in _COLOURS.items() if verdict[0] in words)
    return click.style(verdict[0], fg=colour, bold=True) + text[verdict.end() :]
