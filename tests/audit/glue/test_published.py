"""Published violations of glue code are found with their distance; mended twins raise no alarm."""

import pytest

from exactdp.audit import glue
from tests.audit.glue.programs import CASES, Case

by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.mark.few(1)
@by_name
def test_the_violation_is_found(case: Case) -> None:
    report = glue.search(case.broken, case.pairs, **case.options)
    assert case.kind in {each.kind for each in report.violations}, str(report)
    assert "programs.py:" in str(report) or case.kind == "leak"


@pytest.mark.few(1)
@by_name
def test_the_mended_twin_raises_no_alarm(case: Case) -> None:
    report = glue.search(case.mended, case.pairs, **case.options, examples=15)
    assert not report.violation, str(report)
    assert report.pairs == 15
