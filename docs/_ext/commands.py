"""Examples of commands, as --help shows them, in blocks that can be copied."""

from __future__ import annotations

from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from exactdp.cli.prepared import examples


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
        target = f"{up}reference/cli.html#{'-'.join(['exactdp', *words])}"
        literal = nodes.literal("", self.text)
        return [nodes.reference("", "", literal, refuri=target, internal=True)], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_role("command", Command(), override=True)
    app.connect("sphinx-click-process-epilog", as_blocks)
    return {"parallel_read_safe": True}
