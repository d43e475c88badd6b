"""Every claim of the ledger reaches its declared verdict, and the generated pages are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactdp.proofs_check.claim import Claim, Refuted
from exactdp.proofs_check.markdown import PAGES
from exactdp.proofs_check.registry import ledger, source_file
from exactdp.proofs_check.runner import run_one

ROOT = Path(__file__).parents[2]
INVENTORY = Path(__file__).parent / "inventory"


def marked(claim: Claim) -> object:
    marks = [pytest.mark.slow] if claim.slow else []
    return pytest.param(claim, id=claim.id, marks=marks)


@pytest.mark.parametrize("claim", [marked(claim) for claim in ledger()])
def test_claim(claim: Claim) -> None:
    result = run_one(claim)
    assert result.confirmed, result.problem
    assert result.evidence


@pytest.mark.parametrize("page", PAGES)
def test_page_is_current(page: str) -> None:
    written = (ROOT / page).read_text(encoding="utf-8")
    assert written == PAGES[page](ledger()), "run python -m exactdp.proofs_check.markdown"


@pytest.mark.parametrize("file", sorted(INVENTORY.glob("*.txt")), ids=lambda file: file.stem)
def test_every_numbered_item_has_an_entry(file: Path) -> None:
    """inventory/BV.txt lists the numbered items of BV as found in the paper, one a line."""
    items = {claim.item for claim in ledger([file.stem])}
    listed = file.read_text(encoding="utf-8").split("\n")
    missing = [item for item in listed if item and item not in items]
    assert not missing


def test_files_exist() -> None:
    for claim in ledger():
        assert (ROOT / source_file(claim)).is_file()


def test_what_the_contract_promises() -> None:
    (claim,) = [c for c in ledger(["BV"]) if c.id == "BV-Lemma-2.9"]
    assert isinstance(claim, Refuted)
    assert claim.severity == "unsafe"
    assert claim.corrected.id in {c.id for c in ledger(["BV"])}
