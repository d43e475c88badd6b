"""A quotation is found word by word at its line, or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactdp.proofs_check.claim import Fails, Printed, Quibble
from exactdp.proofs_check.quotations import lines_of, unfounded
from tests.proofs_check.test_runner import fails, holds

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


def entry(printed: Printed) -> Fails:
    return Quibble(
        paper="BV",
        item="Lemma 1",
        statement="All cats are grey.",
        printed=printed,
        method="enumeration",
        check=fails,
        extraction="no",
        corrected=holds(),
    )


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "BV.txt").write_text(_TEXT, encoding="utf-8")
    right = entry(Printed("Every cat is grey", "Section 1, Lemma 1", 3))
    elsewhere = entry(Printed("Every cat is grey", "Section 1, Lemma 1", 4))
    nowhere = entry(Printed("Every cat is white", "Section 1, Lemma 1", 3))
    found = list(unfounded([right, elsewhere, nowhere], tmp_path))
    assert found == [
        "BV-Lemma-1: line 4 given, found at [3, 6]",
        "BV-Lemma-1: line 3 given, found at no line",
    ]
