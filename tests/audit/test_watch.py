"""Bounds that hold at any time: exact coverage over all paths, and audits left when one likes."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln

from exactdp import InvalidParameter
from exactdp.audit import GaussianDP, replay, watch
from exactdp.audit.bounds.measures import delta_at, mu
from exactdp.audit.bounds.mixture import AnytimeRegion, Beta
from exactdp.audit.outputs.looks import steps
from exactdp.balls import precision
from tests.audit.leaking import Open
from tests.audit.mechanisms import Counter, Response, Thresholded
from tests.distributions import binomial_quantile

PRIORS = [
    (Beta.seen(0.6, 5), Beta.seen(0.2, 5)),  # about right
    (Beta.seen(0.1, 20), Beta.seen(0.9, 20)),  # quite wrong
]


def test_the_mixture_is_that_of_a_beta_density() -> None:
    prior = Beta(Fraction(7, 2), Fraction(3, 4))
    for hits, trials in ((0, 0), (3, 10), (700, 1000), (10**6, 10**7)):
        with precision(96):
            mixture = float(prior.evidence(hits, trials))
        expected = betaln(3.5 + hits, 0.75 + trials - hits) - betaln(3.5, 0.75)
        assert mixture == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior",
    [pytest.param(PRIORS[0], marks=pytest.mark.slow), PRIORS[1]],
    ids=["fitting", "misleading"],
)
@pytest.mark.parametrize(("p", "q"), [(0.6, 0.2), pytest.param(0.3, 0.02, marks=pytest.mark.slow)])
def test_no_path_is_wrong_more_often_than_alpha(
    prior: tuple[Beta, Beta], p: float, q: float
) -> None:
    """All paths of counts, looked at after every pair of outputs, with their probabilities."""
    alpha, steps = Fraction(3, 10), 6
    true = Fraction(p) - Fraction(math.exp(0.25)) * Fraction(q) - Fraction(1, 10**9)
    measure = delta_at(Fraction(1, 4))
    paths: dict[tuple[int, int], float] = {(0, 0): 1.0}
    wrong = 0.0
    for n in range(1, steps + 1):
        after: dict[tuple[int, int], float] = defaultdict(float)
        for (k, y), mass in paths.items():
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
                after[k + i, y + j] += mass * (p if i else 1 - p) * (q if j else 1 - q)
        paths = {}
        for (k, y), mass in after.items():
            region = AnytimeRegion(k, n, y, n, alpha, *prior)
            if region.exceeds(measure, true + Fraction(1, 10**6)):
                wrong += mass
            else:
                paths[k, y] = mass
    assert wrong <= float(alpha)
    assert sum(paths.values()) + wrong == pytest.approx(1)


def test_a_region_excludes_what_the_martingale_says() -> None:
    """Its corner is where M(p) M(q) = 1/alpha, solved here by scipy's numbers."""
    k, n, y, m, alpha = 550, 1000, 180, 1000, Fraction(1, 100)
    priors = Beta.seen(0.5, 50), Beta.seen(0.2, 50)
    region = AnytimeRegion(k, n, y, m, alpha, *priors)
    grid = np.linspace(1e-4, 0.9999, 20001)

    def against(hits: int, trials: int, prior: Beta) -> Any:
        a, b = float(prior.a), float(prior.b)
        mixed = betaln(a + hits, b + trials - hits) - betaln(a, b)
        return mixed - hits * np.log(grid) - (trials - hits) * np.log1p(-grid)

    at_p, at_q = against(k, n, priors[0]), against(y, m, priors[1])
    kept = at_p[:, None][::20] + at_q[None, ::20] < -math.log(alpha)
    ratio = np.log(grid[::20][:, None] / grid[None, ::20])
    assert float(region.epsilon_lower(Fraction(0))) == pytest.approx(ratio[kept].min(), abs=0.02)
    assert float(region.epsilon_lower(Fraction(0))) <= ratio[kept].min()


def test_regions_of_a_billion_outputs_and_of_none() -> None:
    prior = Beta.seen(0.2, 1000), Beta.seen(0.06, 1000)
    region = AnytimeRegion(10**8, 5 * 10**8, 3 * 10**7, 5 * 10**8, Fraction(1, 100), *prior)
    assert float(region.epsilon_lower(Fraction(0))) == pytest.approx(math.log(10 / 3), rel=2e-3)
    assert 0 < region.least(mu) < 1
    assert AnytimeRegion(0, 9, 0, 9, Fraction(1, 100), *prior).delta_lower(Fraction(1)) == 0
    assert AnytimeRegion(9, 9, 9, 9, Fraction(1, 100), *prior).delta_lower(Fraction(0)) == 0
    sure = AnytimeRegion(99, 99, 0, 99, Fraction(1, 100), Beta.seen(1, 9), Beta.seen(0, 9))
    assert sure.delta_lower(Fraction(1)) > Fraction(1, 2)


def test_a_violation_ends_the_watch() -> None:
    reports = list(watch(Counter(1, 1.5), 0, 1, epsilon=1))
    assert [report.violation for report in reports] == [False] * (len(reports) - 1) + [True]
    assert reports[-1].epsilon_lower >= 1
    assert reports[-1].samples < 50_000
    assert replay(reports[-1], Counter(2, 1.5), 0, 1, samples=40_000).violation


@pytest.mark.slow
def test_bounds_only_grow_and_reach_far() -> None:
    reports = list(islice(watch(Counter(3), 0, 1, epsilon=1), 28))
    bounds = [report.epsilon_lower for report in reports]
    assert all(a <= b for a, b in pairwise(bounds))
    assert Fraction(8, 10) < bounds[-1] <= 1
    assert not any(report.violation for report in reports)
    samples = [report.samples for report in reports]
    assert all(a < b for a, b in pairwise(samples))


@pytest.mark.slow
def test_the_budget_is_kept() -> None:
    for most in (1000, 6000):
        *_, last = watch(Counter(4), 0, 1, epsilon=1, samples=most)
        assert 0.7 * most <= last.samples <= most
    assert sum(steps(4800)) == 4800
    assert min(steps(16)) >= 2


@pytest.mark.slow
def test_other_promises_are_watched() -> None:
    *_, last = watch(Response(1), True, False, promise=GaussianDP(1), samples=30_000)
    assert last.violation
    assert last.bounds["mu"] >= 1


def flagged(seed: int) -> bool:
    """Watch a mechanism at the edge of its promise, at alpha = 0.1, until 3000 outputs."""
    mechanism: Any = Counter(seed) if seed % 2 else Thresholded(seed, 5)
    data = (0, 1) if seed % 2 else ({"a": 1}, {})
    delta = "0" if seed % 2 else "0.013391"
    *_, last = watch(mechanism, *data, epsilon=1, delta=delta, samples=3000, alpha="0.1")
    return last.violation


@pytest.mark.slow
def test_false_alarms_are_rare_however_often_one_looks() -> None:
    assert sum(map(flagged, range(300))) <= binomial_quantile(300, 0.1, 1e-4)


@pytest.mark.slow
def test_a_part_that_never_varies_is_looked_at_in_single_calls() -> None:
    *_, last = watch(Open(2), 0, 1, samples=8000)
    assert last.violation
    assert "once for every output" in last.warning


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"samples": 999}, "samples"), ({"alpha": 0}, "alpha"), ({"epsilon": -1}, "epsilon"),
     ({"promise": "x"}, "promise")],
)  # fmt: skip
def test_bad_input_is_named_before_the_first_report(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        watch(Counter(1), 0, 1, **changes)
