"""The law of every client by enumeration, and what follows from it: privacy, mean, variance."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import HadamardResponse, Rappor
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.ratio import ratio_within
from exactdp.samplers import SeededSource, exact_law
from tests.local.instances import NAMES, ORACLES

F = Fraction
oracles = pytest.mark.parametrize("oracle", ORACLES, ids=NAMES)


@pytest.mark.few(7)
@oracles
def test_the_client_has_the_stated_law(oracle: FrequencyOracle) -> None:
    for value in range(oracle.k):
        law = exact_law(lambda source, v=value: oracle.draw(v, source), residual=0)
        assert law == oracle.law(value)


@pytest.mark.few(3)
@oracles
def test_several_users_at_once_report_independently(oracle: FrequencyOracle) -> None:
    first, second = 0, oracle.k - 1
    laws = [oracle.law(v) for v in (first, second)]
    if len(laws[0]) * len(laws[1]) > 150:
        pytest.skip("too many pairs of reports")

    def both(source: object) -> tuple[object, ...]:
        rows = oracle.draw_many([first, second], source)  # type: ignore[arg-type]
        return tuple(oracle.form.single(row) for row in rows)

    assert exact_law(both, residual=0) == laws[0].product(laws[1])


@oracles
def test_e_epsilon_is_the_largest_ratio_of_two_probabilities(oracle: FrequencyOracle) -> None:
    laws = [oracle.law(v) for v in range(oracle.k)]
    reports = set().union(*(law.support for law in laws))
    largest = max(p[y] / q[y] for p, q in product(laws, laws) for y in reports)
    assert largest == oracle.e_epsilon == oracle.guarantee.e_epsilon
    with precision(200):
        assert ball(largest) <= ball(oracle.epsilon).exp()


@oracles
def test_the_estimate_of_one_report_has_the_truth_as_its_mean(oracle: FrequencyOracle) -> None:
    for value in range(oracle.k):
        mean = [F(0)] * oracle.k
        square = [F(0)] * oracle.k
        for report, chance in oracle.law(value).items():
            estimate = oracle.fractions(oracle.aggregate().add([report]))
            for x, z in enumerate(estimate):
                mean[x] += chance * z
                square[x] += chance * z * z
        shares = [F(int(x == value)) for x in range(oracle.k)]
        assert mean == shares
        variances = [oracle.variance(x, shares) for x in range(oracle.k)]
        assert variances == [s - m * m for s, m in zip(square, mean, strict=True)]
        assert sum(variances) <= oracle.total_variance()


@oracles
def test_total_variance_is_reached(oracle: FrequencyOracle) -> None:
    totals = []
    for value in range(oracle.k):
        shares = [F(int(x == value)) for x in range(oracle.k)]
        totals.append(sum(oracle.variance(x, shares) for x in range(oracle.k)))
    assert max(totals) == oracle.total_variance()


@oracles
def test_bulk_reports_have_the_frequencies_of_the_law(oracle: FrequencyOracle) -> None:
    # alpha < 1e-9 per report: Bernstein, exp(-t^2/(2(v + t/3))) at t = 6.6 sqrt(v) + 15
    n, value = 20_000, 1
    rows = oracle.draw_many([value] * n, SeededSource(15))
    seen: dict[object, int] = {}
    for row in rows:
        report = oracle.form.single(row)
        seen[report] = seen.get(report, 0) + 1
    law: Law[object] = oracle.law(value)  # type: ignore[assignment]
    assert set(seen) <= law.support
    for report in law.support:
        p = float(law[report])
        allowed = 6.6 * (n * p * (1 - p)) ** 0.5 + 15
        assert abs(seen.get(report, 0) - n * p) <= allowed


def test_independent_reports_of_one_user_lose_a_factor_each() -> None:
    for oracle in (HadamardResponse(k=3, epsilon="0.5"), Rappor(k=2, epsilon=1)):
        laws = [oracle.law(v).product(oracle.law(v)) for v in range(oracle.k)]
        largest = max(p[y] / q[y] for p, q in product(laws, laws) for y in p)
        promise = oracle.guarantee * 2
        assert promise.e_epsilon == largest
        assert promise.epsilon == 2 * oracle.epsilon


def test_ratios_lie_just_below_the_exponential() -> None:
    for epsilon in (F(1, 10**9), F(1, 3), F(1), F(5), F(100)):
        with precision(300):
            e = ball(epsilon).exp()
            r = ratio_within(epsilon)
            assert ball(r) <= e
            assert ball(1 + (r - 1) * (1 + F(1, 10**11))) > e
