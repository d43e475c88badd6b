"""Every part of the ledger reaches its recorded evidence, and the generated pages are current."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from exactdp_proofs.counts import errata, summary, table
from exactdp_proofs.html_report import html_report
from exactdp_proofs.pages import errata_page
from exactdp_proofs.registry import entries, ledger
from exactdp_proofs.runner import Result, run_one
from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import SEVERITIES, VERDICTS

ROOT = Path(__file__).parents[2]
INVENTORY = Path(__file__).parent / "inventory"
PARTS = {part.id: part for part in ledger()}


def marked() -> Iterator[object]:
    """All parts; the default run takes the first fast part of every entry."""
    for group in entries(ledger()).values():
        quick = next((part for part in group if not part.slow), None)
        for part in group:
            marks = () if part is quick else pytest.mark.slow
            yield pytest.param(part, id=part.id, marks=marks)


@pytest.mark.parametrize("part", list(marked()))
def test_part(part: Part) -> None:
    result = run_one(part)
    assert result.confirmed, result.problem
    assert str(result.evidence) or part.reason
    recorded = part.evidence
    assert result.evidence == recorded, f"run python -m exactdp_proofs.record {part.id}"


def test_anchors_of_the_errata_are_unique() -> None:
    prose = re.sub(r"```.*?```", "", errata_page(ledger()), flags=re.DOTALL)
    anchors = re.findall(r'<a id="([^"]+)"></a>', prose)
    assert len(anchors) == len(set(anchors)) > 10


@pytest.mark.parametrize("file", sorted(INVENTORY.glob("*.txt")), ids=lambda file: file.stem)
def test_every_numbered_item_has_an_entry(file: Path) -> None:
    """inventory/BV.txt lists the numbered items of BV as found in the paper, one a line."""
    items = {text for part in ledger([file.stem]) for text in (part.item, part.title)}
    listed = file.read_text(encoding="utf-8").split("\n")
    missing = [item for item in listed if item and item not in items]
    assert not missing


def test_every_part_is_recorded_and_in_a_file() -> None:
    for part in PARTS.values():
        assert part.verdict in VERDICTS, f"run python -m exactdp_proofs.record {part.id}"
        assert (ROOT / part.source).is_file()


def test_the_parts_of_an_entry_stand_together() -> None:
    for name, group in entries(ledger()).items():
        assert {part.entry for part in group} == {name}
        assert [part.name for part in group].count("") <= 1


FAILING = [part for part in ledger() if part.printed]


@pytest.mark.parametrize("part", FAILING, ids=lambda part: part.id)
def test_a_failing_part_quotes_the_paper(part: Part) -> None:
    assert part.printed
    assert len(part.printed.words) <= 320, "a quotation is short"
    assert part.printed.words != part.statement, "our reading is not the quotation"
    assert re.match(r"(Abstract|Section|Appendix|Figure|Table)\b", part.printed.where)


def test_a_consequence_names_an_erratum_that_is_as_severe() -> None:
    order = list(SEVERITIES)
    for part in PARTS.values():
        if part.follows_from:
            cause = PARTS[part.follows_from]
            assert cause.kind == "refuted", part.id
            assert not cause.follows_from, f"{part.id}: {cause.id} is a consequence itself"
            assert cause.paper == part.paper
            assert order.index(cause.severity) <= order.index(part.severity), part.id


def test_what_rests_on_a_refuted_step_names_it() -> None:
    for part in PARTS.values():
        assert not part.rests_on or PARTS[part.rests_on].kind in ("refuted", "note"), part.id


def test_the_counts_add_up() -> None:
    """Counted again from the verdicts of the parts."""
    heading, *body = table(ledger())
    totals = dict(zip(heading, body[-1], strict=True))
    verdicts = Counter(part.verdict for part in PARTS.values())
    assert {name: totals[name] for name in VERDICTS if totals[name]} == verdicts
    follow = sum(part.kind == "refuted" and bool(part.follows_from) for part in ledger())
    assert len(errata(ledger())) == totals["refuted"] - follow


def test_readme_quotes_the_counts() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert " ".join(summary(ledger()).split()) in readme


@pytest.mark.slow
def test_every_link_of_the_report_leads_somewhere() -> None:
    report = html_report([Result(part, part.evidence, 0.0) for part in ledger()])
    ids = re.findall(r' id="([^"]+)"', report)
    links = re.findall(r'href="#([^"]*)"', report)
    assert len(ids) == len(set(ids))
    assert set(map(html.unescape, links)) <= set(map(html.unescape, ids))
    assert set(PARTS) <= set(map(html.unescape, ids))
    errata_come_first = report.index('data-severity="unsafe"') < report.index('data-severity=""')
    assert errata_come_first
    assert "<math" in report


NUMBERED = [
    part
    for part in ledger()
    if not part.ours
    and not part.name
    and re.match("Theorem|Lemma|Corollary|Proposition", part.item)
]


def test_a_numbered_statement_that_is_not_proved_says_what_that_needs() -> None:
    for part in NUMBERED:
        assert bool(part.needs) == (part.verdict == "verified"), part.id
    assert not [part.id for part in PARTS.values() if part.needs and part not in NUMBERED]


def test_an_argument_stands_only_where_all_of_its_computations_are_decided() -> None:
    argued = [part for part in PARTS.values() if part.proof]
    assert len(argued) > 30
    for part in argued:
        assert part.verdict == ("proved" if part.rocq else "argued"), part.id


PAPERS_IN_ROCQ = ROOT / "proofs_check" / "rocq" / "Papers.v"


def test_theorems_in_rocq_are_those_that_entries_name() -> None:
    text = PAPERS_IN_ROCQ.read_text(encoding="utf-8")
    stated = set(re.findall(r"^Theorem (\w+)", text, re.MULTILINE))
    assert stated == {part.rocq for part in PARTS.values() if part.rocq}
    assert text.count("\nProof.") == text.count("Qed.") >= len(stated)
    assert "Admitted" not in text
    assert "Axiom" not in text


@pytest.mark.peers
def test_rocq_accepts_the_theorems(tmp_path: Path) -> None:
    library = ROOT / "checker" / "rocq"
    if shutil.which("coqc") is None or not (library / "NormalBelow.vo").exists():
        pytest.skip("needs coqc, and make rocq before")
    copy = shutil.copy(PAPERS_IN_ROCQ, tmp_path)
    command = ["coqc", "-R", str(library), "DP", copy]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
