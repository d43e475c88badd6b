"""Local hashing: all values are scored at once as every report scores them alone."""

from __future__ import annotations

import pytest

from exactdp.local import OptimizedLocalHashing
from exactdp.samplers import SystemSource


@pytest.mark.few(2)
@pytest.mark.parametrize(("k", "epsilon"), [(3, 1), (30, 1), (100, 2), (2000, 30), (4, 64)])
def test_scores_by_one_transform_are_those_of_the_reports(k: int, epsilon: int) -> None:
    # with one digit and thousands of buckets the way by all of them took minutes
    m = OptimizedLocalHashing(k=k, epsilon=epsilon)
    reports = m.report_many([0, 1, k - 1] * 10, SystemSource())
    scores = m._scores(m._tally(reports)).tolist()
    assert len(scores) == k
    g = m.buckets or 0
    for value in (0, 1, 2, k - 1):
        expected = 0
        for function, bucket in reports.tolist():
            reached, a, x = 0, function, value
            while a or x:  # <a, x> over the digits to base g
                reached += (a % g) * (x % g)
                a, x = a // g, x // g
            expected += reached % g == bucket
        assert scores[value] == expected
