"""Examples at the end of --help, on lines that are never wrapped, so that users can paste them."""

from __future__ import annotations

import re

import click


def examples(command: click.Command) -> list[tuple[str, str]]:
    """The examples in a command's epilog, with their labels.

    An epilog is "Example: exactdp ..."; several are separated by line ends or by two spaces.
    """
    lines = re.split(r"(?: {2,}|\n)+", (command.epilog or "").replace("\b", "").strip())
    pairs = (line.partition(": ") for line in lines if line)
    return [(label, example) for label, _, example in pairs]


def unwrapped(command: click.Command) -> None:
    """Put each example of a command on a line of its own."""
    if command.epilog:
        lines = [f"{label}: {example}" for label, example in examples(command)]
        command.epilog = "\n".join(["\b", *lines])  # click wraps no paragraph after \b
