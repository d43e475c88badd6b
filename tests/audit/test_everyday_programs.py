"""Verdicts on programs in the style of everyday code are those that were found by hand."""

from typing import Any

import pytest

from exactdp.audit import private
from tests.audit.everyday_programs import JUDGED, Judged


def _verdict(case: Judged) -> Any:
    return private(
        case.program,
        case.left,
        case.right,
        epsilon=case.epsilon,
        delta=case.delta,
        progress=False,
        seconds=30,
        **case.options,
    )


@pytest.mark.few(6)
@pytest.mark.parametrize("case", [pytest.param(c, id=c.program.__name__) for c in JUDGED])
def test_the_verdict_is_that_by_hand(case: Judged) -> None:
    assert _verdict(case).verdict == case.verdict
