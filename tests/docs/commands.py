"""Whether a command of the documentation would be accepted, without running it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from exactdp.cli.main import cli

__all__ = ["all_commands", "calls", "refusal"]


def all_commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words by which it is called."""
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            yield from all_commands(inner, (*path, name))


def calls(line: str) -> list[list[str]]:
    """The arguments of each call of exactdp in a line of a shell."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    words.whitespace_split = True
    groups: list[list[str]] = [[]]
    for word in words:
        if set(word) & set("|&;<>") and not set(word) - set("|&;<>"):
            groups.append([])
            # after > or <, the name of a file
            groups[-1] += ["file"] if set(word) & set("<>") else []
        else:
            groups[-1].append(word)
    return [call[1:] for call in groups if call[:1] == ["exactdp"]]


def refusal(line: str) -> str:
    """Why click refuses a call in this line, or nothing."""
    if re.search("[\u2013\u2014\u2018\u2019\u201c\u201d\u2026]", line):
        return "typographic dashes, quotes or dots"
    for arguments in calls(line):
        try:
            _parse(cli, click.Context(cli), "exactdp", arguments)
        except click.exceptions.NoArgsIsHelpError:
            return "a group without a command"
        except click.ClickException as error:
            return error.format_message()
        except click.exceptions.Exit:
            pass  # --help
    return ""


def _parse(command: click.Command, parent: click.Context, name: str, arguments: list[str]) -> None:
    context = command.make_context(name, list(arguments), parent=parent)
    if isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        if not rest and command.invoke_without_command:
            return
        inner_name, inner, left = command.resolve_command(context, rest)
        assert inner is not None
        _parse(inner, context, str(inner_name), left)
