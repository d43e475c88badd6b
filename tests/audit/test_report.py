"""Reports: text, JSON, HTML, and a replay on fresh outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import ApproximateDP, AuditReport, Event, audit, replay
from tests.audit import mechanisms

REPORT = AuditReport(
    violation=True,
    promise=ApproximateDP(1),
    bounds={"delta": Fraction("0.0060375"), "epsilon": Fraction("1.0265792")},
    event=Event.all_of(Event(("number", 0), "at least", 2), Event.present("<b>")),
    direction="right",
    counts={"left": (105, 1788), "right": (242, 963)},
    samples=3125,
    alpha=Fraction(1, 100),
)


def test_text() -> None:
    text = REPORT.text()
    assert text.startswith("violation: not (1, 0)-private, with confidence 0.99\n")
    assert "event (right side favoured): (coordinate 0 >= 2) and" in text
    assert "epsilon at delta 0: >= 1.02657\n" in text  # rounded down
    assert "105" in text
    assert "passes" not in text


def test_json_survives_a_round_trip() -> None:
    entry = json.loads(json.dumps(REPORT.as_dict()))
    assert AuditReport.from_dict(entry) == REPORT
    assert entry["verdict"] == "violation"
    assert entry["bounds"]["epsilon"] == "1.0265792"
    assert entry["counts"]["left"] == {"hits": 105, "trials": 1788}


@pytest.mark.parametrize("broken", [{}, {"verdict": "violation"}, REPORT.as_dict() | {"event": 3}])
def test_what_is_no_report_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="report"):
        AuditReport.from_dict(broken)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def test_html_is_self_contained_and_escaped() -> None:
    page = REPORT.html()
    parser = Tags()
    parser.feed(page)
    assert {"h1", "table", "pre"} <= parser.seen
    assert not {"script", "link", "img", "b"} & parser.seen
    assert parser.links == []
    assert "&lt;b&gt;" in page
    assert "$" not in page
    assert "replay(report, " in page


def test_no_violation_is_not_called_a_pass() -> None:
    report = replace(REPORT, violation=False, warning="outputs repeat")
    assert report.verdict == "no violation found of being (1, 0)-private, with 3125 outputs"
    assert report.as_dict()["verdict"] == "no violation found"
    assert report.text().endswith("warning: outputs repeat")
    assert "outputs repeat" in report.html()


def test_replay_counts_the_same_event_on_fresh_outputs() -> None:
    report = replace(REPORT, event=Event(("number", 0), "at least", 2))
    wrong = replay(report, mechanisms.Counter(1, 1.5), 0, 1, samples=40_000, alpha="0.001")
    assert wrong.violation
    assert wrong.event == report.event
    assert wrong.direction == "right"
    assert wrong.alpha == Fraction(1, 1000)
    right = replay(report, mechanisms.Counter(2), 0, 1, samples=40_000, alpha="0.001")
    assert not right.violation
    assert right.samples == 40_000


@pytest.mark.slow
def test_a_report_without_a_violation_says_what_was_looked_at() -> None:
    """What hides the data set is an inner product of coins, which no feature is."""
    rng = np.random.default_rng(1)

    def run(data: int, n: int) -> Any:
        bits = rng.integers(0, 2, (n, 40))
        bits[:, -1] = ((bits[:, :20] * bits[:, 19:39]).sum(axis=1) + data) % 2
        return bits

    report = audit(run, 0, 1, samples=2000)
    assert not report.violation
    assert report.looked_at["number"] == 40
    assert "number 40" in report.text()
    assert "the bounds take outputs to be independent" in report.text()
    assert AuditReport.from_dict(report.as_dict()).looked_at == report.looked_at
    by_event = audit(run, 0, 1, samples=200, events=[Event(("total",), "at least", 20)])
    assert "the given events only" in by_event.text()
