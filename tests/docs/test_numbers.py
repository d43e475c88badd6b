"""Numbers that pages quote are those of the code, everywhere the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exactdp import __version__
from exactdp.oracle.vectors import load_all
from exactdp.proofs_check.registry import ledger

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARTIFACT.md", *sorted((ROOT / "docs").glob("**/*.md"))]
WRITTEN = [p for p in PAGES if not {"_build", "ledger", "changelog.md"} & set(p.parts)]

TOTAL = sum(len(group) for group in load_all())
VERDICTS = [part.verdict for part in ledger()]

#: Pattern with one group, and the number that it must be.
QUOTED = {
    r"\b(\d+) (?:\w+ )?questions with (?:exact|certified) answers": TOTAL,
    r"\((\d+) questions with exact answers": TOTAL,
    r"to (\d+) such questions": TOTAL,
    r"of the (\d+) questions": TOTAL,
    r"\b(\d+) proved, \d+ verified on instances": VERDICTS.count("proved"),
    r"proved, (\d+) verified on instances": VERDICTS.count("verified"),
}


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_numbers_of_a_page(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    for pattern, number in QUOTED.items():
        assert {int(found) for found in re.findall(pattern, text)} <= {number}, pattern


def test_the_patterns_are_met() -> None:
    text = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in WRITTEN)
    assert [pattern for pattern in QUOTED if not re.search(pattern, text)] == []


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert f'"version": "{__version__}"' in (ROOT / "tools" / "npm" / "package.json").read_text()
    assert f"| exactdp {__version__} |" in (ROOT / "docs" / "conformance.md").read_text()
