"""Numbers that pages quote are those of the code, everywhere the same."""

from __future__ import annotations

import re

import pytest
from exactdp_proofs.registry import ledger

from exactdp import __version__
from exactdp.oracle.vectors import load_all
from tests.docs.written import PAGES, ROOT
from vectors.adapters import ADAPTERS

#: The changelog quotes numbers of its time; pages that programs write quote today's.
WRITTEN = [
    ROOT / "ARTIFACT.md",
    *(page for page in PAGES if page.name != "changelog.md"),
    ROOT / "docs" / "conformance.md",
]
TEXTS = [(page, " ".join(page.read_text(encoding="utf-8").split())) for page in WRITTEN]

TOTAL = sum(len(group) for group in load_all())
VERDICTS = [part.verdict for part in ledger()]

#: Pattern with one group, and the number that it must be.
QUOTED = {
    r"\b(\d+) (?:\w+ )?questions with (?:exact|certified) answers": TOTAL,
    r"\((\d+) questions with exact answers": TOTAL,
    r"to (\d+) such questions": TOTAL,
    r"of the (\d+) questions": TOTAL,
    r"(\d+) other libraries": len(ADAPTERS) - 1,
    r"\b(\d+) proved, \d+ argued, \d+ verified on instances": VERDICTS.count("proved"),
    r"proved, (\d+) argued, \d+ verified on instances": VERDICTS.count("argued"),
    r"argued, (\d+) verified on instances": VERDICTS.count("verified"),
}


@pytest.mark.parametrize("pattern", QUOTED)
def test_a_number_is_quoted_and_everywhere_right(pattern: str) -> None:
    quoted = [(page.name, int(n)) for page, text in TEXTS for n in re.findall(pattern, text)]
    assert quoted
    assert [(page, n) for page, n in quoted if n != QUOTED[pattern]] == []


def rows(page: str) -> list[list[str]]:
    """The cells of the rows that begin with a library of the conformance table and its version."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    versions = rf"({'|'.join(ADAPTERS)}) \d[\d.]*"
    return [cells for cells in lines if re.fullmatch(versions, cells[0])]


def test_every_library_has_a_row_in_the_conformance_table() -> None:
    named = [cells[0].split()[0] for cells in rows("conformance.md")]
    assert list(dict.fromkeys(named)) == list(ADAPTERS)


def test_the_comparison_counts_as_the_conformance_table_does() -> None:
    """Asked, below by rounding or underflow, below by more, no answer."""
    counts = {}
    for name, *cells in rows("conformance.md"):
        if cells[0].isdecimal():  # else a row of one group of questions
            _, _, rounding, underflow, material, _, _, unasked, silent = map(int, cells)
            counts[name] = [TOTAL - unasked, rounding + underflow, material, silent]
    compared = rows("guide/comparison.md")
    assert len(compared) > 5
    for name, *cells in compared:
        assert [int(cell) for cell in cells[:4]] == counts[name], name


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert f'"version": "{__version__}"' in (ROOT / "vectors" / "npm" / "package.json").read_text(
        encoding="utf-8"
    )
    assert f"| exactdp {__version__} |" in (ROOT / "docs" / "conformance.md").read_text(
        encoding="utf-8"
    )
