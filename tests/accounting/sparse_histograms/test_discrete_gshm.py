"""The exact delta of the discrete GSHM against sums over all outputs, and its calibration."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from exactdp import InvalidParameter
from exactdp.accounting import discrete_gshm, gshm, gshm_sums
from exactdp.accounting.discrete_gshm import DiscreteGshm
from exactdp.balls import precision
from tests.reference import discrete_gaussian, leaked

F = Fraction


def output_law(counts: tuple[int, ...], sigma: float, limit: int) -> dict[object, float]:
    """The law of what is released, counter by counter: None where it is hidden."""
    one = []
    for count in counts:
        seen: dict[int | None, float] = Counter()
        for z, mass in discrete_gaussian(sigma**2, math.ceil(9 * sigma) + 3).items():
            seen[count + z if count and count + z > limit else None] += mass
        one.append(seen)
    law: dict[object, float] = Counter()
    for outcome in product(*one):
        law[outcome] += math.prod(part[y] for part, y in zip(one, outcome, strict=True))
    return law


def brute_force(k: int, sigma: float, tau: int, epsilon: float) -> float:
    """The largest hockey-stick divergence over what one user can change in large counts."""
    worst = 0.0
    for j in range(k + 1):
        before = (1000,) * j + (0,) * (k - j)
        after = (1001,) * j + (1,) * (k - j)
        laws = [output_law(counts, sigma, 1 + tau) for counts in (before, after)]
        worst = max(worst, leaked(*laws, epsilon))
    return worst


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [
        (1, "0.5", 1, "1"),
        (1, "2.3", 5, "0.4"),
        (2, "0.7", 2, "1"),
        (2, "1.5", 4, "0"),
        (2, "1.5", 4, "0.5"),
        (2, "1.5", 3, "3"),
        (3, "0.6", 2, "2"),
        (3, "0.9", 3, "0"),
        (3, "0.9", 2, "0.7"),
    ],
)
def test_exact_is_the_largest_divergence_of_outputs(
    k: int, sigma: str, tau: int, epsilon: str
) -> None:
    delta = discrete_gshm.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon)
    assert delta.relative_width < F(1, 10**9)
    assert float(delta.upper) == pytest.approx(
        brute_force(k, float(sigma), tau, float(epsilon)), rel=1e-8
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("epsilon", ["0", "0.05", "1", "4"])
@pytest.mark.parametrize(("k", "sigma", "tau"), [(40, "20", "70"), (40, "12.5", "44"), (7, 3, 10)])
def test_the_search_finds_what_all_cases_give(k: int, sigma: str, tau: str, epsilon: str) -> None:
    """Pruning by blocks and by the continuous mechanism loses no case."""
    delta = discrete_gshm.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon)
    case = DiscreteGshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon)
    with precision(256):
        shows = float(-(k * case.log_hidden()).expm1().mid())
        every = max(shows, *(float(case.case(j, k - j).mid()) for j in range(1, k + 1)))
    assert float(delta.upper) == pytest.approx(every, rel=1e-9)


def test_between_its_ends_and_the_sum_of_both() -> None:
    for k, sigma, tau, epsilon in ((5, 9, 30, "0.4"), (2 * 10**6, 13800, 93900, "0.35")):
        exact, added = (
            discrete_gshm.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=name)
            for name in ("exact", "add-the-deltas")
        )
        assert added.upper / 2 <= exact.upper
        assert exact.upper < added.lower


@pytest.mark.few(2)
@pytest.mark.parametrize("k", [1, 30, 51914, 10**12])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.35", "1e-5"), (0, "0.01"), (5, "1e-12")])
def test_calibration_is_certified_from_both_sides(k: int, epsilon: str, delta: str) -> None:
    calibration = discrete_gshm.calibrate(k=k, epsilon=epsilon, delta=delta)
    tau = F(calibration.tau or 0)
    assert tau.denominator == 1
    assert calibration.delta.upper <= F(delta)
    for value, verdict in ((tau, "proved"), (tau + F(1, 2), "proved"), (tau - 1, "refuted")):
        checked = discrete_gshm.check(
            k=k, sigma=calibration.sigma, tau=value, epsilon=epsilon, delta=delta
        )
        assert checked.verdict == verdict
        assert checked.tight
    # close to the continuous one, which is another mechanism
    near = gshm.calibrate(k=k, epsilon=epsilon, delta=delta, resolution="1e-4")
    assert abs(tau - F(near.tau or 0)) <= 1 + F(near.tau or 0) / 1000


def test_a_given_sigma() -> None:
    calibration = discrete_gshm.calibrate(k=10, epsilon="0.35", delta="1e-5", sigma=40)
    assert (calibration.sigma, calibration.tau) == (40, 190)
    with pytest.raises(InvalidParameter, match="sigma must be larger"):
        discrete_gshm.calibrate(k=10, epsilon="0.35", delta="1e-5", sigma=30)


def test_sums_bound_what_a_user_can_do() -> None:
    """One counter and one sum: the divergence of their joint noise, by summing over outcomes."""
    sigma, limit = 3.0, 3
    bound = gshm_sums.delta(k=1, columns=1, sigma=3, tau=1000, epsilon=1)
    one, two = discrete_gaussian(sigma**2, 40), discrete_gaussian((limit * sigma) ** 2, 110)
    for value in range(-limit, limit + 1):
        divergence = math.fsum(
            max(p * r - math.e * one.get(x - 1, 0.0) * two.get(y - value, 0.0), 0.0)
            for x, p in one.items()
            for y, r in two.items()
        )
        assert divergence <= bound.upper
    assert bound.upper < 0.2
    found_tau = gshm_sums.calibrate(k=3, columns=2, epsilon=1, delta="1e-6")
    for shift, verdict in ((0, "proved"), (-1, "refuted")):
        checked = gshm_sums.check(
            k=3,
            columns=2,
            sigma=found_tau.sigma,
            tau=F(found_tau.tau or 0) + shift,
            epsilon=1,
            delta="1e-6",
        )
        assert checked.verdict == verdict
