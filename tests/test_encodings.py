"""Texts are read and written as UTF-8, also where the locale says otherwise."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Method -> the number of arguments with which the encoding is among them.
_ARGUMENTS = {"read_text": 1, "write_text": 2}


@pytest.mark.parametrize(
    "folder", ["exactdp", "proofs_check", "tests", "tools", "vectors", "lab", "docs", "checker"]
)
def test_every_text_has_an_encoding(folder: str) -> None:
    """Ruff finds those whose path has a type that it knows; this finds the others."""
    without = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in (ROOT / folder).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and len(call.args) < _ARGUMENTS.get(call.func.attr, 0)
        and "encoding" not in {keyword.arg for keyword in call.keywords}
    ]
    assert without == []
