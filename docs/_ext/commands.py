"""A page for each command, with the examples of --help in blocks that can be copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from exactdp.cli.commands import MAP
from exactdp.cli.main import cli
from exactdp.cli.prepared import examples

_PAGES = "reference/commands"


def __getattr__(name: str) -> click.Command:
    """A command of the library by its name; the directive ``click`` looks for an attribute."""
    context = click.Context(cli)
    command = cli.get_command(context, name)
    if command is None:
        raise AttributeError(name)
    if isinstance(command, click.Group):  # some commands below may be made when they are asked for
        below = {
            each: command.get_command(context, each) for each in command.list_commands(context)
        }
        command.commands = {each: sub for each, sub in below.items() if sub is not None}
    return command


def write_pages(app: Sphinx) -> None:
    """Write a page for each command, and the index by tasks."""
    folder = Path(app.srcdir, _PAGES)
    folder.mkdir(exist_ok=True)
    for names in MAP.values():
        for name in names:
            page = f".. click:: commands:{name}\n   :prog: exactdp {name}\n   :nested: full\n"
            _write(folder / f"{name}.rst", page)


def _write(path: Path, text: str) -> None:
    """Write a page that has changed; a page that has not is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def as_blocks(_: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """The examples of a command's epilog: each under its label, after a prompt."""
    lines[:] = []
    for label, example in examples(ctx.command):
        lines += [f"{label}:", "", ".. code-block:: console", "", f"   $ {example}", ""]


class Command(SphinxRole):
    """A link to the reference of a command: {command}`release gshm`, options may follow."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        words = [word for word in self.text.split() if not word.startswith("-")]
        up = "../" * self.env.docname.count("/")
        anchor = "-".join(["exactdp", *words])
        target = f"{up}{_PAGES}/{words[0]}.html#{anchor}"
        literal = nodes.literal("", self.text)
        return [nodes.reference("", "", literal, refuri=target, internal=True)], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.add_role("command", Command(), override=True)
    app.connect("sphinx-click-process-epilog", as_blocks)
    return {"parallel_read_safe": True}
