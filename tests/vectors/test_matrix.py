"""The conformance page: unsafe answers are confirmed by mpmath, and peers' findings stand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp.oracle import conformance, vectors
from exactdp.oracle.adapter import make
from exactdp.oracle.conformance import Report, judge
from vectors import adapters
from vectors.conformance.confirm import confirm
from vectors.conformance.matrix import page
from vectors.conformance.reproduce import reproduction

pytest.importorskip("mpmath")

#: A vector for each kind of question.
KINDS = [
    "gshm-042",
    "thresholds-025",
    "thresholds-063",
    "discrete_gaussian-045",
    "discrete_laplace-032",
    "zcdp-001",
    "composition-046",
    "composition-056",
    "analytic_gaussian-001",
    "analytic_gaussian-057",
    "power-009",
]


@pytest.mark.few(8)
@pytest.mark.parametrize("identifier", KINDS)
def test_confirmation(identifier: str) -> None:
    vector = vectors.find(identifier)
    low = judge(vector, vector.safe_from - vector.safe_from / 2**20 if vector.safe_from else -1)
    if vector.parameters.get("noise") == "geometric" and vector.question == "tau":
        low = judge(vector, 12)
    assert low.verdict == "unsafe"
    assert confirm(low).confirmed
    high = judge(vector, vector.most + vector.most / 2**20)
    assert not confirm(high).confirmed


def test_a_negative_answer_is_confirmed() -> None:
    assert confirm(judge(vectors.find("analytic_gaussian-089"), -0.5)).confirmed


def test_a_page() -> None:
    vector = vectors.find("analytic_gaussian-030")
    report = Report("exactdp", "0", (judge(vector, 0.0), judge(vectors.find("zcdp-001"), 1)))
    text = page([report])
    assert "| exactdp 0 | analytic_gaussian | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "Unsafe or wrong: underflow (1; 1 confirmed by mpmath)" in text


def test_a_documented_tolerance_is_counted_and_not_forgiven() -> None:
    """autodp's calibrator documents 1e-12 on delta; both answers are unsafe, one keeps it."""
    near, far = vectors.find("analytic_gaussian-058"), vectors.find("analytic_gaussian-057")
    answers = [
        judge(near, near.least * (1 - Fraction(1, 10**9))),
        judge(far, far.least * Fraction(99, 100)),
    ]
    lines = page([Report("autodp", "0", tuple(answers))]).splitlines()
    (line,) = [text for text in lines if text.startswith("| autodp 0 | analytic_gaussian")]
    assert line.endswith("| 2 | 0 | 1 | 0 | 0 |")


def test_reproductions_are_short() -> None:
    for name in adapters.ADAPTERS:
        for vector in vectors.select():
            code = reproduction(name, vector)
            assert code is None or len(code.strip().splitlines()) <= 5
            if code is not None:
                compile(code, vector.id, "exec")


@pytest.mark.peers
def test_a_threshold_that_is_passed_when_reached() -> None:
    pytest.importorskip("opendp")
    adapter = make(adapters.ADAPTERS["opendp"])
    report = conformance.run(adapter, [vectors.find("thresholds-025"), vectors.find("zcdp-001")])
    assert [r.verdict for r in report.results][1] in ("safe", "loose")
    assert all(confirm(r).confirmed for r in report.results if r.verdict == "unsafe")


@pytest.mark.peers
def test_responses_that_are_counted_once() -> None:
    """A hundred randomised responses as one event."""
    pytest.importorskip("dp_accounting")
    (hundred,) = [v for v in vectors.load("events").tests if v.comment == "a hundred answers"]
    (result,) = conformance.run(make(adapters.ADAPTERS["dp_accounting"]), [hundred]).results
    assert (result.verdict, result.bucket) == ("unsafe", "material")
    assert confirm(result).confirmed
