"""One training run: the bound against linear programs, exact laws of attacks, and simulations."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr, ndtri

from exactdp import InvalidParameter
from exactdp.accounting import gaussian
from exactdp.audit import GaussianDP, Profile, Zcdp, one_run
from exactdp.audit.promises import Promise
from exactdp.audit.tradeoffs import impossible, trade_off_of
from exactdp.balls import precision
from tests.distributions import binomial, binomial_above


def most_successes(m: int, v: int, *points: tuple[float, float]) -> float:
    """The largest P(v of m bits are guessed) of any mechanism of m bits with this privacy profile.

    points: epsilon and delta. A linear program over all its probabilities: nothing is assumed but
    the definition.
    """
    from scipy.optimize import linprog

    inputs = list(product((0, 1), repeat=m))
    n = len(inputs)
    pairs = [
        (a, b, *point)
        for a, b in product(range(n), repeat=2)
        if sum(x != y for x, y in zip(inputs[a], inputs[b], strict=True)) == 1
        for point in points
    ]
    size = n * n + len(pairs) * n
    goal, rows, limits = np.zeros(size), [], []
    for s, t in product(range(n), repeat=2):
        if sum(x == y for x, y in zip(inputs[s], inputs[t], strict=True)) >= v:
            goal[s * n + t] = -1 / n
    for i, (a, b, epsilon, delta) in enumerate(pairs):
        whole = np.zeros(size)
        for t in range(n):
            row = np.zeros(size)
            excess = n * n + i * n + t
            row[a * n + t], row[b * n + t], row[excess] = 1, -math.exp(epsilon), -1
            whole[excess] = 1
            rows.append(row)
            limits.append(0.0)
        rows.append(whole)
        limits.append(delta)
    sums = np.zeros((n, size))
    for s in range(n):
        sums[s, s * n : (s + 1) * n] = 1
    solved = linprog(goal, np.array(rows), limits, sums, np.ones(n), method="highs")
    return -float(solved.fun)


def by_distance(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """The same for r guesses among m bits, over mechanisms that depend on the distance alone."""
    from scipy.optimize import linprog

    size = 2 * r + 1  # w_0..w_r: probability of d wrong guesses; then C(r-1, d) x_d
    goal = np.zeros(size)
    goal[: r - v + 1] = -1
    rows, limits = [], []
    for d in range(r):
        row = np.zeros(size)  # b_d <= e^epsilon b_{d+1} + x_d, times C(r-1, d)
        row[d], row[d + 1] = (r - d) / r, -math.exp(epsilon) * (d + 1) / r
        row[r + 1 + d] = -1
        rows.append(row)
        limits.append(0.0)
    whole = np.zeros(size)
    whole[r + 1 :] = 1
    rows.append(whole)
    limits.append(delta * m / r)
    sums = np.zeros((1, size))
    sums[0, : r + 1] = 1
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    solved = linprog(goal, np.array(rows), limits, sums, [1.0], method="highs", options=tight)
    return -float(solved.fun)


def bound(m: int, r: int, v: int, epsilon: float, delta: str) -> float:
    run = one_run(canaries=m, guesses=r, correct=v, delta=delta)
    return float(run.p_value(Fraction(epsilon)))


def published(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Theorem 5.2 of Steinke, Nasr, Jagielski, as their code computes it."""
    q = 1 / (1 + math.exp(-epsilon))
    tail = binomial_above(v - 1, r, q)
    slope = max((binomial_above(v - i - 1, r, q) - tail) / i for i in range(1, v + 1))
    return float(tail + 2 * m * delta * slope)


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize("delta", ["0", "0.001", "0.01"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_bound_is_what_the_best_attack_reaches(m: int, delta: str, epsilon: float) -> None:
    for v in range(1, m + 1):
        reached = most_successes(m, v, (epsilon, float(delta)))
        assert bound(m, m, v, epsilon, delta) == pytest.approx(reached, abs=1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize(("m", "r"), [(6, 4), (9, 9), (40, 10), (14, 14)])
def test_the_bound_with_abstentions(m: int, r: int) -> None:
    for v, delta, epsilon in product(range(1, r + 1), ("0.0001", "0.02"), (0.2, 1.5)):
        reached = by_distance(m, r, v, epsilon, float(delta))
        least = bound(m, r, v, epsilon, delta)
        assert least >= reached - 1e-9
        if delta == "0.0001":
            assert least == pytest.approx(reached, abs=1e-8)


def test_the_published_delta_term_is_larger_in_the_tail_and_no_bound_below_it() -> None:
    for m, r, v in ((1000, 100, 95), (1000, 1000, 800), (500, 50, 48)):
        ours, theirs = bound(m, r, v, 1.0, "0.00001"), published(m, r, v, 1.0, 1e-5)
        tail = binomial_above(v - 1, r, 1 / (1 + math.exp(-1)))
        assert tail < ours < theirs
    reached = most_successes(2, 1, (1.0, 0.01))
    assert reached > published(2, 2, 1, 1.0, 0.01) + 1e-4


def test_no_delta_is_clopper_and_pearson() -> None:
    run = one_run(canaries=100, guesses=100, correct=80, alpha="0.05")
    rate = 1 / (1 + math.exp(-float(run.epsilon_lower)))
    assert binomial_above(79, 100, rate) == pytest.approx(0.05, abs=1e-8)
    assert run.refutes(run.epsilon_lower * Fraction(99, 100))
    assert not run.refutes(run.epsilon_lower * Fraction(101, 100))


def attacked(noise: float, seed: int, m: int = 400, r: int = 80) -> int:
    """Right guesses about a noisy sum of orthogonal canaries: the r clearest of m scores."""
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    scores = coins + noise * rng.standard_normal(m)
    clearest = np.argsort(-np.abs(scores - 0.5))[:r]
    return int(((scores > 0.5) == coins)[clearest].sum())


def test_a_leaking_training_run_is_flagged() -> None:
    """Noise a third of what was claimed: 1/2 instead of 3/2, whose delta(2) is 1e-3."""
    delta = gaussian.delta(sigma="1.5", epsilon=2).upper
    correct = [attacked(0.4, seed) for seed in range(20)]
    assert all(
        one_run(canaries=400, guesses=80, correct=v, delta=delta).refutes(2) for v in correct
    )  # fmt: skip


def least_tau(promise: Promise, m: int, v: int) -> float:
    """The least probability of v right guesses that a promise is proved to exclude."""
    curve, low, high = trade_off_of(promise), Fraction(0), Fraction(1)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if impossible(curve, m, m, v, middle) else (middle, high)
    return float(high)


@pytest.mark.parametrize(
    "points",
    [((0.5, 0.0),), ((1.0, 0.01),), ((0.0, 0.3), (0.5, 0.15), (1.0, 0.06), (2.0, 0.01))],
)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_mechanism_with_a_profile_exceeds_its_bound(m: int, points: Any) -> None:
    """For one canary the bound is attained; for several, one curve is asked of sums only."""
    profile = Profile({str(epsilon): str(delta) for epsilon, delta in points})
    for v in range(1, m + 1):
        reached, bound = most_successes(m, v, *points), least_tau(profile, m, v)
        assert bound >= reached - 1e-9
        assert bound <= reached * 1.35
        if m == 1:
            assert bound == pytest.approx(reached, abs=1e-9)


@pytest.mark.parametrize(
    ("m", "mu", "refuted"), [(30, 0.5, True), (120, 1.0, True), (120, 3.0, False)]
)
def test_false_alarms_about_gaussian_dp_are_as_rare_as_alpha(
    m: int, mu: float, refuted: bool
) -> None:
    """Each canary has noise of its own: a guess is right with probability Phi(mu/2), exact law."""
    alpha, rate = Fraction(1, 20), ndtr(mu / 2)
    curve = trade_off_of(GaussianDP(Fraction(mu)))
    wrong = sum(
        binomial(v, m, rate)
        for v in range(m + 1)
        if impossible(curve, m, m, v, alpha)
    )  # fmt: skip
    assert wrong <= float(alpha)
    assert impossible(curve, m, m, m, alpha) == refuted


def test_the_gaussian_curve_is_bounded_from_below_and_closely() -> None:
    mpmath.mp.dps = 40
    for x, mu in product(("1e-9", "0.004", "0.5", "0.97"), ("0.1", "1", "5")):
        z = mpmath.findroot(lambda t, x=x: mpmath.ncdf(t) - mpmath.mpf(x), ndtri(float(x)))
        truth = mpmath.ncdf(z - mpmath.mpf(mu))
        with precision(128):
            error = trade_off_of(GaussianDP(mu))(arb(x))
        low, high = (mpmath.mpf(str(float(end))) for end in (error.lower(), error.upper()))
        assert low <= truth * (1 + mpmath.mpf(10) ** -12)
        assert high >= truth * (1 - mpmath.mpf(10) ** -8)  # a tangent near x


def test_the_bound_on_mu_is_where_the_curve_stops_being_refuted() -> None:
    run = one_run(canaries=1000, guesses=100, correct=95, delta="1e-5")
    assert 0.6 < run.mu_lower < 0.7
    assert run.refutes(GaussianDP(run.mu_lower))
    assert not run.refutes(GaussianDP(run.mu_lower * Fraction(1001, 1000)))
    low, mu = float(run.gaussian_epsilon_lower), float(run.mu_lower)
    delta = ndtr(mu / 2 - low / mu) - math.exp(low) * ndtr(-mu / 2 - low / mu)
    assert delta == pytest.approx(1e-5, rel=1e-6)
    assert "(the better bound)" in run.verdict.splitlines()[1]
    assert one_run(canaries=100, guesses=100, correct=50).mu_lower == 0
    with pytest.raises(InvalidParameter, match="promise"):
        run.refutes(Zcdp(1))


def test_a_million_canaries_are_no_work() -> None:
    run = one_run(canaries=10**6, guesses=10**6, correct=800_000, delta="1e-7")
    assert float(run.epsilon_lower) == pytest.approx(math.log(4), abs=0.02)


def test_edges() -> None:
    def sure(v: int) -> Fraction:
        return one_run(canaries=20, guesses=20, correct=v, delta="1e-6").epsilon_lower

    assert sure(0) == sure(10) == 0
    assert 0 < sure(17) < sure(19) < sure(20)
    assert one_run(canaries=5, guesses=5, correct=0).p_value(1) == 1
    assert one_run(canaries=9, guesses=9, correct=9, delta="0.9").epsilon_lower == 0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"canaries": 0}, "canaries"),
        ({"guesses": 11}, "guesses"),
        ({"guesses": 0}, "guesses"),
        ({"correct": 9}, "correct"),
        ({"correct": -1}, "correct"),
        ({"delta": 1}, "delta"),
        ({"alpha": 0}, "alpha"),
    ],
)
def test_bad_input_is_named(changes: dict[str, int], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        one_run(**({"canaries": 10, "guesses": 8, "correct": 5} | changes))
