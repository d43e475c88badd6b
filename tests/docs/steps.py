"""What a page tells its reader to do: files to save, Python to type, commands with their output.

- A Python block whose first line is ``# name.py`` is a file of that name.
- Other Python blocks are typed one after the other; with ``>>>`` they show what is printed.
- A console block has commands after ``$``, each followed by what it prints; ``...`` is anything.
- A ``{download}`` is a file that the reader saves beside the others.

``<!--- skip: next ... -->`` before a block leaves it out, as sybil says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

from sybil import Document, Region
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

from tools import notebooks

__all__ = ["OPTIONS", "Command", "File", "Python", "blocks", "commands", "downloads", "matches"]

OPTIONS = ELLIPSIS | NORMALIZE_WHITESPACE
_LEXER = FencedCodeBlockLexer(
    language="python|console", mapping={"language": "arguments", "source": "source"}
)


@dataclass(frozen=True)
class File:
    """To be saved under a name."""

    name: str
    text: str


@dataclass(frozen=True)
class Python:
    """To be typed into one session."""

    source: str


@dataclass(frozen=True)
class Command:
    """To be typed into a terminal, and what it prints; nothing: whatever it prints."""

    line: str
    printed: str


def blocks(document: Document) -> Iterable[Region]:
    """A sybil parser: every block of a page, parsed into its steps."""
    for region in _LEXER(document):
        source = str(region.lexemes["source"])
        name = re.match(r"# (\w+\.py)\n", source)
        if region.lexemes["arguments"] == "console":
            region.parsed = commands(source)
        else:
            region.parsed = [File(name[1], source) if name else Python(source)]
        yield region


def commands(source: str) -> list[Command]:
    """The commands of a console block; a backslash at the end continues one."""
    return [Command(line, printed) for line, printed in notebooks.commands(source)]


def downloads(page: Path) -> list[Path]:
    """The files that a page offers."""
    named = re.findall(r"\{download\}`[^`<]*<([^`>]+)>`", page.read_text(encoding="utf-8"))
    return [(page.parent / name).resolve() for name in named]


def matches(expected: str, printed: str) -> bool:
    """Whether a command printed what the page says."""
    return not expected.strip() or OutputChecker().check_output(
        expected.strip() + "\n", printed.strip() + "\n", OPTIONS
    )
