"""Examples of commands, as --help shows them, in blocks that can be copied."""

from __future__ import annotations

from typing import Any

import click
from sphinx.application import Sphinx

from exactdp.cli.examples import examples


def as_blocks(_: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """The examples of a command's epilog: each under its label, after a prompt."""
    lines[:] = []
    for label, example in examples(ctx.command):
        lines += [f"{label}:", "", ".. code-block:: console", "", f"   $ {example}", ""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("sphinx-click-process-epilog", as_blocks)
    return {"parallel_read_safe": True}
