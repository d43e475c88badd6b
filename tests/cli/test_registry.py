"""The table of commands: complete, and each command explains itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import click
import pytest

import exactdp.cli
from exactdp.cli.main import cli
from exactdp.cli.registry import COMMANDS
from tests.cli.test_accounting import run


def tree(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from tree(below, (*path, name))


EVERY = dict(tree(cli))


def test_the_table_reaches_every_command_in_the_package() -> None:
    reached = {id(command) for command in EVERY.values()}
    for found in pkgutil.walk_packages(exactdp.cli.__path__, "exactdp.cli."):
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, click.Command):
                assert id(value) in reached, f"{found.name}.{name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_a_whole_sentence_for_each(name: str) -> None:
    _, out, _ = run("--help")
    (line,) = [line for line in out.splitlines() if line.split()[:1] == [name]]
    assert line.endswith(".")
    assert not line.endswith("..")


@pytest.mark.parametrize("name", [name for name, x in EVERY.items() if type(x) is click.Command])
def test_a_command_has_a_help_text(name: str) -> None:
    code, out, _ = run(*name.split(), "--help")
    assert (code, "Usage: exactdp " + name in out) == (0, True)
    assert EVERY[name].help
