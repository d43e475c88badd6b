"""Pages as Jupyter notebooks: their prose, Python and commands as cells, with what pages print.

The site offers a notebook beside each tutorial (docs/_ext/notebooks.py). A cell of a notebook ends
where the page shows an output; ``...`` in an output stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from doctest import DocTestParser
from pathlib import Path
from typing import Any

__all__ = ["commands", "notebook"]

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\w+\.py)\n")


def notebook(page: Path) -> dict[str, Any]:
    """The notebook of a page, in version 4.5 of the format."""
    text, cells, end = page.read_text(encoding="utf-8"), [], 0
    for block in _BLOCK.finditer(text):
        cells += _prose(text[end : block.start()])
        cells += _typed(block[2]) if block[1] == "python" else _console(block[2])
        end = block.end()
    cells += _prose(text[end:])
    named = [{**cell, "id": f"cell-{i}"} for i, cell in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": named,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def commands(source: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block with their outputs; a backslash joins a line to the next."""
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        line, _, printed = re.sub(r"\\\n\s*", "", part).partition("\n")
        yield line.strip(), printed


def _prose(text: str) -> list[dict[str, Any]]:
    """A cell of text, without pictures, index and comments; links to other pages as words."""
    text = re.sub(r"```\{(?:image|index)\}.*?```\n|<!---.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\{\w+\}`([^`<]*?) *(?:<[^`]*)?`", r"`\1`", text)
    text = re.sub(r"\[([^]]*)\]\((?!http)[^)]*\)", r"\1", text).strip()
    return [{"cell_type": "markdown", "metadata": {}, "source": text}] if text else []


def _typed(source: str) -> list[dict[str, Any]]:
    """The cells of a Python block: one that saves a file, or one cell per output."""
    if name := _FILE.match(source):
        return [_code(f"%%writefile {name[1]}\n{source}")]
    if ">>>" not in source:
        return [_code(source)]
    cells, held = [], ""
    for example in DocTestParser().get_examples(source):
        held += example.source
        if example.want:
            cells.append(_code(held, example.want))
            held = ""
    return [*cells, _code(held)] if held else cells


def _console(source: str) -> list[dict[str, Any]]:
    """One cell per command. %%bash keeps braces and dollars, which ! would replace; an exit code
    other than 0 may be a verdict and is no error.
    """
    return [
        _code(f"%{line}")
        if line.startswith("pip ")
        else _code(f"%%bash --no-raise-error\n{line}", printed)
        for line, printed in commands(source)
    ]


def _code(source: str, printed: str = "") -> dict[str, Any]:
    stream = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": ["raises-exception"]} if printed.startswith("Traceback") else {},
        "source": source.strip("\n"),
        "outputs": [stream] if printed else [],
    }
