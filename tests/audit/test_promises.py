"""Promises in every currency: what a pair of probabilities needs, and audits that decide by it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import pytest
from scipy.special import ndtri, rel_entr

from exactdp import InvalidParameter
from exactdp.audit import (
    ApproximateDP,
    AuditReport,
    Event,
    GaussianDP,
    Profile,
    Renyi,
    Zcdp,
    audit,
    replay,
)
from exactdp.audit.bounds import measures
from exactdp.audit.bounds.evidence import evidence
from exactdp.audit.bounds.measures import Measure
from exactdp.audit.bounds.region import Region
from exactdp.audit.promises import Promise, read
from tests.audit.mechanisms import Response
from tests.distributions import binomial, binomial_quantile

PAIRS = [
    (Fraction(p), Fraction(q))
    for p, q in (("3/4", "1/4"), ("0.5", "0.001"), ("0.02", "0.0199"), ("0.999", "0.3"),
                 ("1e-5", "1e-9"), ("0.6", "0.59"))
]  # fmt: skip


def divergence(p: Fraction, q: Fraction, alpha: Any) -> Any:
    """D_alpha(p || q) of two coins, by mpmath."""
    p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (p, q))
    return mpmath.log(p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)) / (
        alpha - 1
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_measures_agree_with_other_arithmetic_and_never_exceed_it(p: Fraction, q: Fraction) -> None:
    with mpmath.workdps(30):
        for alpha in ("1.5", "2", "30"):
            order = mpmath.mpf(alpha)
            true = max(divergence(p, q, order), divergence(q, p, order))
            bound = mpmath.mpf(float(measures.renyi_at(Fraction(alpha))(p, q)))
            assert true * (1 - mpmath.mpf(10) ** -11) <= bound <= true * (1 + mpmath.mpf(10) ** -15)
        orders = [1 + mpmath.mpf(2) ** (mpmath.mpf(i) / 4) for i in range(-40, 56)]
        orders = [a * mpmath.mpf(2) ** (mpmath.mpf(j) / 64) for a in orders for j in range(16)]
        true = max(max(divergence(p, q, a), divergence(q, p, a)) / a for a in orders)
        kl = p * mpmath.log(p / q) + (1 - p) * mpmath.log((1 - p) / (1 - q))
        rho = measures.rho(p, q)
        assert max(true, kl) * mpmath.mpf("0.99999") <= float(rho)
        assert float(rho) <= max(true, kl) * mpmath.mpf("1.0001")  # the grid misses the top
    assert float(measures.mu(p, q)) == pytest.approx(ndtri(float(p)) - ndtri(float(q)), 1e-9)
    assert float(measures.epsilon_at(Fraction(0))(p, q)) == pytest.approx(math.log(p / q), 1e-9)


MEASURES: list[Measure] = [
    measures.rho, measures.mu, measures.renyi_at(Fraction(3)), measures.delta_at(Fraction(1)),
    measures.epsilon_at(Fraction(1, 100)),
    measures.excess_over([(Fraction(0), Fraction(1, 10)), (Fraction(1), Fraction(1, 50))]),
]  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_rise_with_p_and_fall_with_q(measure: Measure) -> None:
    grid = [Fraction(i, 40) for i in range(1, 40)]
    for fixed in grid[::6]:
        rising = [measure(p, fixed) for p in grid if p > fixed]
        falling = [measure(fixed, q) for q in grid if q < fixed]
        slack = Fraction(1, 10**5)  # rho: the best order is only nearly found
        assert all(b >= a * (1 - slack) - slack for a, b in pairwise(rising))
        assert all(b <= a * (1 + slack) + slack for a, b in pairwise(falling))


@pytest.mark.parametrize(
    ("measure", "p", "q"),
    [
        pytest.param(measures.mu, 0.5, 0.2, marks=pytest.mark.slow),
        pytest.param(measures.mu, 0.3, 0.1, marks=pytest.mark.slow),
        pytest.param(measures.rho, 0.5, 0.2, marks=pytest.mark.slow),
        pytest.param(measures.renyi_at(Fraction(2)), 0.6, 0.3, marks=pytest.mark.slow),
    ],
)
def test_bounds_are_wrong_as_rarely_as_promised(measure: Measure, p: float, q: float) -> None:
    """Every pair of counts is enumerated: how likely does a bound exceed the true parameter?"""
    trials, others, alpha = 6, 6, Fraction(1, 10)
    true = measure(Fraction(p), Fraction(q)) * (1 + Fraction(1, 10**4))
    wrong = sum(
        binomial(k, trials, p) * binomial(y, others, q)
        for k, y in product(range(trials + 1), range(others + 1))
        if Region(k, trials, y, others, alpha).exceeds(measure, true)
    )
    assert 0 < wrong <= float(alpha)


TRUE = Event(("value",), "equals", True)

PROMISES: list[tuple[Promise, Promise]] = [
    # what randomised response with epsilon 1 breaks, and what it keeps by a hair
    (Zcdp("0.42"), Zcdp("0.46212")),
    (Renyi(2, "0.70"), Renyi(2, "0.73533")),
    (GaussianDP("1.15"), GaussianDP("1.23204")),
    (Profile({"0": "0.47", "0.5": "0.25", "1": "0"}),
     Profile({"0": "0.462118", "0.5": "0.2877", "1": "0"})),
    (ApproximateDP("0.95"), ApproximateDP("1")),
]  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("broken", "kept"), PROMISES, ids=lambda promise: f"{promise.kind}:{promise.text}"
)
def test_audits_decide_in_every_currency(broken: Promise, kept: Promise) -> None:
    report = audit(Response(1), True, False, promise=broken, samples=40_000, events=[TRUE])
    name, _, value = broken.limit
    assert report.violation
    assert report.bounds[name] >= value
    assert broken.text in report.verdict
    fresh = Response(2)
    assert not audit(fresh, True, False, promise=kept, samples=20_000, events=[TRUE]).violation


def test_events_are_found_for_other_promises() -> None:
    report = audit(Response(6), True, False, promise=GaussianDP("1"), samples=20_000)
    with pytest.raises(InvalidParameter, match="see bounds"):
        _ = report.delta_lower
    assert report.violation
    assert report.event.hits([True, False]).tolist() in ([True, False], [False, True])


def test_one_set_of_counts_bounds_every_currency() -> None:
    report = audit(
        Response(3), True, False, promise=Renyi(2, "0.9"), samples=100_000, events=[TRUE]
    )
    assert not report.violation
    p = math.e / (1 + math.e)
    for name, true in (
        ("epsilon", 1), ("rho", math.tanh(0.5)), ("mu", 2 * ndtri(p)), ("renyi", 0.73531),
    ):  # fmt: skip
        assert 0.93 * true < report.bounds[name] < true
    text = report.text()
    assert "Renyi loss of order 2: >=" in text
    assert "epsilon at delta 0: >=" in text


@pytest.mark.slow
def test_false_alarms_are_rare_at_the_very_edge() -> None:
    """alpha = 0.1 each, and mechanisms whose promise is tight."""
    audits = 30
    flags = sum(
        audit(
            Response(100 + i), True, False, promise=PROMISES[i % 4][1], samples=4000,
            alpha="0.1", events=[TRUE],
        ).violation
        for i in range(audits)
    )  # fmt: skip
    assert flags <= binomial_quantile(audits, 0.1, 1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize("promise", [each for pair in PROMISES for each in pair])
def test_hints_lie_on_the_promise(promise: Promise) -> None:
    """p <= f q + d: a pair clearly above some line is refuted, one below all is allowed."""
    _, measure, value = promise.limit
    for q in (0.02, 0.1, 0.3):
        p = min(factor * q + slack for factor, slack in promise.lines())
        above, below = Fraction(min(p * 1.08, 0.999)), Fraction(p * 0.9)
        assert measure(above, Fraction(q)) > value
        assert measure(below, Fraction(q)) < max(value, Fraction(1, 10**9))


def loss(u: float, k: int, n: int, y: int, m: int, factor: float, delta: float) -> float:
    """Nats lost at a q on the line of a promise, from y/m (u = 0) to where it allows k/n."""
    q = y / m + ((k / n - delta) / factor - y / m) * u**6 / (u**6 + (1 - u) ** 6)
    pairs = (k, n, min(factor * q + delta, 1.0)), (y, m, q)
    return sum(float(rel_entr(h, t * r) + rel_entr(t - h, t * (1 - r))) for h, t, r in pairs)


@pytest.mark.few(1)
@pytest.mark.parametrize("factor", [1.0, math.e, 1e6])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.4])
def test_evidence_is_the_smallest_loss_however_many_outputs_there_are(
    factor: float, delta: float
) -> None:
    from scipy.optimize import minimize_scalar

    for n, m in ((10, 10), (10**3, 10**9), (10**9, 10**3), (10**10, 10**10)):
        for k, y in ((n, 0), (n, 1), (n // 2 + 1, 0), (n // 2 + 1, m // 10**7), (n, m // 3)):
            if k / n <= factor * y / m + delta:
                continue
            case = (k, n, y, m, factor, delta)
            best = min(
                minimize_scalar(loss, bounds=(i / 20, (i + 1) / 20), args=case, method="bounded",
                                options={"xatol": 1e-12}).fun
                for i in range(20)
            )  # fmt: skip
            smallest = float(evidence(k, n, y, m, ((factor, delta),)))
            assert smallest == pytest.approx(best, rel=1e-3, abs=0.01), case


def test_evidence_against_a_promise_is_that_of_its_nearest_line() -> None:
    lines = GaussianDP(1).lines()
    each = [float(evidence(500, 1000, 100, 1000, (line,))) for line in lines]
    assert float(evidence(500, 1000, 100, 1000, lines)) == max(each) > 0


def test_promises_survive_json_and_reports_replay() -> None:
    for promise in [each for pair in PROMISES for each in pair]:
        assert read(json.loads(json.dumps(promise.as_dict()))) == promise
    report = audit(Response(4), True, False, promise=Zcdp("0.3"), samples=20_000)
    again = AuditReport.from_dict(json.loads(json.dumps(report.as_dict())))
    assert replace(again, seconds=report.seconds) == report
    assert replay(again, Response(5), True, False, samples=20_000).violation


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Zcdp("-1"), "rho"),
        (lambda: Renyi(1, 1), "alpha"),
        (lambda: Renyi(2, -1), "epsilon"),
        (lambda: GaussianDP("x"), "mu"),
        (lambda: Profile({}), "points"),
        (lambda: Profile({"1": "1"}), "delta"),
        (lambda: Profile([1]), "points"),  # type: ignore[arg-type]
        (lambda: ApproximateDP("1", "2"), "delta"),
        (lambda: read({"promise": "none"}), "promise"),
        (lambda: read({"promise": "zcdp", "mu": "1"}), "promise"),
        (lambda: audit(Response(1), 0, 1, promise="zcdp"), "promise"),  # type: ignore[arg-type]
        (lambda: audit(Response(1), 0, 1, promise=Zcdp(1), epsilon=1), "promise"),
    ],
)
def test_bad_input_is_named(make: Any, name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        make()
