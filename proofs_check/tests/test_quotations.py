"""A quotation is found word by word at its line, or named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exactdp_proofs.quotations import lines_of, unfounded
from exactdp_proofs.statements import Printed
from parts import failing
from test_runner import printed

_TEXT = "Title\n\nLemma 1. Every  cat\nis grey, and no dog is.\n\nEvery cat is grey (again).\n"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("Every cat is grey", [3, 6]),
        ("Every cat is grey, and no", [3]),
        ("no dog ... (again)", [4]),
        ("(again)", [6]),
        ("Every cat is white", []),
        ("every cat", []),
        ("(again) ... Lemma", []),
    ],
)
def test_lines(words: str, lines: list[int]) -> None:
    assert lines_of(Printed(words, "Section 1", 1), _TEXT) == lines


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "BV.txt").write_text(_TEXT, encoding="utf-8")
    claim = failing(printed)
    quoted = [("Every cat is grey", 3), ("Every cat is grey", 4), ("Every cat is white", 3)]
    parts = [replace(claim, printed=Printed(words, "Lemma 1", line)) for words, line in quoted]
    assert list(unfounded(parts, tmp_path)) == [
        "BV-Lemma-0: line 4 given, found at [3, 6]",
        "BV-Lemma-0: line 3 given, found at no line",
    ]
