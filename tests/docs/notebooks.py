"""Run the notebooks of the tutorials, and compare every output with the page.

``python -m tests.docs.notebooks [NAME ...]``. Cells that install are left out: this environment
has what they install. Exits 1 if a cell prints something else.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.docs.follow import ROOT, TUTORIALS
from tests.docs.steps import downloads, matches
from tools.notebooks import notebook


def _text(outputs: list[Any]) -> str:
    """What a cell prints, returns and raises."""
    texts = []
    for each in outputs:
        if each["output_type"] == "error":
            texts.append(f"Traceback (most recent call last):\n    ...\n{each['ename']}: ")
        texts.append(each.get("text") or each.get("evalue") or each["data"]["text/plain"])
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(texts))  # notebooks have colours


def run(page: Path) -> list[str]:
    """What went wrong in the notebook of a page."""
    book = nbformat.from_dict(notebook(page))  # type: ignore[no-untyped-call]
    book.cells = [cell for cell in book.cells if not cell.source.startswith("%pip")]
    expected = [_text(cell.get("outputs", ())) for cell in book.cells]
    with tempfile.TemporaryDirectory() as folder:
        for file in downloads(page):
            shutil.copy(file, folder)
        resources = {"metadata": {"path": folder}}
        NotebookClient(book, timeout=600, kernel_name="python3", resources=resources).execute()
    printed = [_text(cell.get("outputs", ())) for cell in book.cells]
    return [
        f"{page.name}:\n{cell.source}\nprinted\n{said}"
        for cell, wanted, said in zip(book.cells, expected, printed, strict=True)
        if not matches(wanted, said)
    ]


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names = sys.argv[1:] or TUTORIALS
    problems = [each for name in names for each in run(ROOT / f"docs/tutorials/{name}.md")]
    print("\n".join(problems) or f"{len(names)} notebooks print what their pages say")
    sys.exit(bool(problems))
