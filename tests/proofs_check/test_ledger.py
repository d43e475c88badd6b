"""Every claim of the ledger reaches its declared verdict, and the generated pages are current."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from exactdp.proofs_check.claim import SEVERITIES, Claim, Conditional, Fails, Refuted
from exactdp.proofs_check.counts import errata, summary, table
from exactdp.proofs_check.html_report import html_report
from exactdp.proofs_check.markdown import PAGES
from exactdp.proofs_check.registry import ledger, source_file
from exactdp.proofs_check.runner import Result, run_one

ROOT = Path(__file__).parents[2]
INVENTORY = Path(__file__).parent / "inventory"


#: Entries of which a run takes more than about a fifth of a second.
LONG = (Path(__file__).parent / "long.txt").read_text(encoding="utf-8").split()


def marked(claim: Claim) -> object:
    marks = [pytest.mark.slow] if claim.slow or claim.id in LONG else []
    return pytest.param(claim, id=claim.id, marks=marks)


@pytest.mark.parametrize("claim", [marked(claim) for claim in ledger()])
def test_claim(claim: Claim) -> None:
    result = run_one(claim)
    assert result.confirmed, result.problem
    assert result.evidence


@pytest.mark.parametrize("page", PAGES)
def test_page_is_current(page: str) -> None:
    written = (ROOT / page).read_text(encoding="utf-8")
    assert written == PAGES[page](ledger(), written), "run python -m exactdp.proofs_check.markdown"


@pytest.mark.parametrize("page", ["CLAIMS.md", "docs/errata.md"])
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(path)):
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.is_file(), target
        assert not anchor or f'<a id="{anchor}"></a>' in linked.read_text(encoding="utf-8"), target


def test_anchors_are_unique() -> None:
    for page in ("CLAIMS.md", "docs/errata.md"):
        anchors = re.findall(r'<a id="([^"]+)"></a>', _prose(ROOT / page))
        assert len(anchors) == len(set(anchors)) > 10


def _prose(path: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("file", sorted(INVENTORY.glob("*.txt")), ids=lambda file: file.stem)
def test_every_numbered_item_has_an_entry(file: Path) -> None:
    """inventory/BV.txt lists the numbered items of BV as found in the paper, one a line."""
    items = {claim.item for claim in ledger([file.stem])}
    listed = file.read_text(encoding="utf-8").split("\n")
    missing = [item for item in listed if item and item not in items]
    assert not missing


def test_the_long_ones_exist() -> None:
    assert set(LONG) <= set(ENTRIES)


def test_files_exist() -> None:
    for claim in ledger():
        assert (ROOT / source_file(claim)).is_file()


ENTRIES = {claim.id: claim for claim in ledger()}
FAILING = [claim for claim in ledger() if isinstance(claim, Fails)]


@pytest.mark.parametrize("claim", FAILING, ids=lambda c: c.id)
def test_a_failing_entry_quotes_the_paper(claim: Fails) -> None:
    assert len(claim.printed.words) <= 320, "a quotation is short"
    assert claim.printed.words != claim.statement, "our reading is not the quotation"
    assert re.match(r"(Abstract|Section|Appendix|Figure|Table)\b", claim.printed.where)


def test_a_consequence_names_an_erratum_that_is_as_severe() -> None:
    order = list(SEVERITIES)
    for claim in ledger():
        if isinstance(claim, Refuted) and claim.follows_from:
            cause = ENTRIES[claim.follows_from]
            assert isinstance(cause, Refuted), claim.id
            assert not cause.follows_from, f"{claim.id}: {cause.id} is a consequence itself"
            assert cause.paper == claim.paper
            assert order.index(cause.severity) <= order.index(claim.severity), claim.id


def test_what_rests_on_a_refuted_step_names_it() -> None:
    for claim in ledger():
        if isinstance(claim, Conditional) and claim.rests_on:
            assert isinstance(ENTRIES[claim.rests_on], Refuted), claim.id


def test_the_counts_add_up() -> None:
    """Counted again from the page's rows, which the counting code does not write."""
    rows = re.findall(r"^\| (<a id=.*) \|$", (ROOT / "CLAIMS.md").read_text(), flags=re.MULTILINE)
    last = [row.rpartition(" | ")[2] for row in rows]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}, "four cells in every row"
    assert len(rows) == len(ENTRIES)
    heading, *body = table(ledger())
    totals = dict(zip(heading, body[-1], strict=True))
    for verdict in ("refuted", "note", "conditional"):
        assert sum(bool(re.match(rf"\W*{verdict}\b", text)) for text in last) == totals[verdict]
    follow = sum(isinstance(c, Refuted) and bool(c.follows_from) for c in ledger())
    assert len(errata(ledger())) == totals["refuted"] - follow
    assert f" {len(errata(ledger()))} errata (" in (ROOT / "README.md").read_text()


def test_what_the_contract_promises() -> None:
    (claim,) = [c for c in ledger(["BV"]) if c.id == "BV-Lemma-2.9"]
    assert isinstance(claim, Refuted)
    assert claim.severity == "unsafe"
    assert claim.corrected.id in {c.id for c in ledger(["BV"])}


def test_the_three_pages_say_the_same() -> None:
    sentence = " ".join(summary(ledger()).split())
    for page in PAGES:
        assert sentence in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page


def test_every_link_of_the_report_leads_somewhere() -> None:
    report = html_report([Result(claim, "seen", 0.0) for claim in ledger()])
    ids = re.findall(r' id="([^"]+)"', report)
    links = re.findall(r'href="#([^"]*)"', report)
    assert len(ids) == len(set(ids))
    assert set(map(html.unescape, links)) <= set(map(html.unescape, ids))
    assert set(ENTRIES) <= set(map(html.unescape, ids))
    assert 'data-kind="severity" data-value="unsafe"' in report
