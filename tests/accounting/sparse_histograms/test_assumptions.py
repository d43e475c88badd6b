"""What each line of a comparison assumes: a bound on users, or a bound on the whole histogram.

The expected values come from densities on grids, which know the noise of the mechanism and nothing
of the library's formulas.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.accounting import (
    correlated_gaussian,
    csh,
    csh_sums,
    discrete_csh,
    discrete_top_k,
    gshm,
    pld,
    top_k,
)
from exactdp.accounting.sparse_histograms.comparison import Row, compare
from exactdp.mechanisms import CSH, TopK, TopKWithBase, TopKWithSums

#: The first table of README: users of one mechanism, its noise and threshold, and its target.
CONTRIBUTIONS, EPSILON, TARGET = 51_914, 0.35, Fraction(1, 10**5)
CSH_SIGMA, CSH_TAU = "1113.754274", "7433.866416"  # by the published analysis
#: sqrt(51914), the correlation of a CSH that was made for so many counters.
ROOT = "227.84644127799"


def excess(changed: int, counters: int, sigma: float, shared: float, points: int = 401) -> float:
    """The hockey-stick divergence of noisy counters of which some move by one, by integration.

    All counters are far above the threshold. Counters that move have the same law, and so have the
    others: their two means say all that the noisy counters say. Their density is summed over a grid
    that follows their joint law. shared: the standard deviation of the noise of all counters.
    """
    own, other = sigma / math.sqrt(changed), sigma / math.sqrt(max(counters - changed, 1))
    together = np.full((2, 2), shared**2)
    covariance = together + np.diag([own**2, other**2])
    steps = np.linspace(-8.5, 8.5, points)
    weights = np.exp(-(steps**2) / 2) / math.sqrt(2 * math.pi) * (steps[1] - steps[0])
    at = np.linalg.cholesky(covariance) @ np.array(np.meshgrid(steps, steps)).reshape(2, -1)
    moved = at - np.array([[1.0], [0.0]])
    precision = np.linalg.inv(covariance)
    loss = (np.sum(moved * (precision @ moved), 0) - np.sum(at * (precision @ at), 0)) / 2
    gains = np.maximum(0, 1 - np.exp(EPSILON - loss)).reshape(points, points)
    return float(weights @ gains @ weights)


def worst(counters: int, sigma: float, shared: float) -> float:
    """The largest excess over the numbers of counters that one user may change."""
    places = [round(a) for a in np.linspace(1, CONTRIBUTIONS, 30)]
    near = max(places, key=lambda a: excess(a, counters, sigma, shared, 101))
    around = {min(CONTRIBUTIONS, near + more) for more in range(-2000, 2001, 250)}
    near = max(around, key=lambda a: excess(a, counters, sigma, shared, 201))
    return excess(near, counters, sigma, shared, 2001)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("counters", "delta"), [(10**5, "3.8e-4"), (51_914, "1e-5"), (10**7, "4.265e-3")]
)
def test_what_a_csh_promises_if_the_histogram_has_more_counters(counters: int, delta: str) -> None:
    """The warning in README: with 10^7 keys and the same bound on users delta is 4.3e-3."""
    shared = float(CSH_SIGMA) / 51_914**0.25
    expected = worst(counters, float(CSH_SIGMA), shared)
    assert expected == pytest.approx(float(delta), rel=2e-3)
    certified = csh.delta(
        sparsity=counters,
        contributions=CONTRIBUTIONS,
        correlation=ROOT,
        sigma=CSH_SIGMA,
        tau=CSH_TAU,
        epsilon="0.35",
    )
    assert float(certified.lower) == pytest.approx(expected, rel=1e-4)
    promised = csh.delta(sparsity=51_914, sigma=CSH_SIGMA, tau=CSH_TAU, epsilon="0.35")
    assert promised.upper <= TARGET
    assert (certified.lower > TARGET) == (counters > 51_914)


def test_a_gshm_needs_no_bound_on_the_histogram() -> None:
    """Counters that a user does not change say nothing: delta is the same for 10^7 keys."""
    sigma = 2222.636399
    for counters in (51_914, 10**5, 10**7):
        delta = excess(CONTRIBUTIONS, counters, sigma, 1e-6, 1201)
        assert delta == pytest.approx(float(TARGET), rel=5e-4)
    assert gshm.delta(k=51_914, sigma="2222.636399", tau="13913.45457", epsilon="0.35") <= "1e-5"


def test_a_small_csh_that_is_given_too_many_counters_by_random_draws() -> None:
    """Of three counters one user changes one; the noise was made for a histogram of one counter.

    Whole vectors are drawn, and their densities integrated over the shared noise.
    """
    draw, sigma, epsilon, count = np.random.default_rng(1), 2.0, 0.2, 60_000
    steps = np.linspace(-8, 8, 161)
    weights = np.exp(-(steps**2) / 2) * (steps[1] - steps[0])
    noisy = sigma * (draw.normal(size=(count, 3)) + draw.normal(size=(count, 1)))

    def density(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        total = np.zeros(len(values))
        for z, weight in zip(sigma * steps, weights, strict=True):
            total += weight * np.exp(-((values - z) ** 2).sum(axis=1) / (2 * sigma**2))
        return total

    loss = np.log(density(noisy) / density(noisy - np.array([1, 0, 0])))
    gains = np.maximum(0, 1 - np.exp(epsilon - loss))
    error = 5 * gains.std() / count**0.5
    delta = csh.delta(sparsity=3, contributions=1, correlation=1, sigma=2, tau=10**4, epsilon="0.2")
    assert abs(gains.mean() - float(delta.lower)) < error
    promised = csh.delta(sparsity=1, sigma=2, tau=10**4, epsilon="0.2")
    assert gains.mean() - error > float(promised.upper)


REFUSED: dict[str, Any] = {
    "csh.delta": lambda: csh.delta(k=10, sigma=1, tau=1, epsilon=1),  # type: ignore[call-arg]
    "csh.check": lambda: csh.check(k=10, sigma=1, tau=1, epsilon=1, delta="0.1"),
    "csh.guarantee": lambda: csh.guarantee(k=10, sigma=1, tau=1, epsilon=1),  # type: ignore[call-arg]
    "csh.calibrate": lambda: csh.calibrate(k=10, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
    "discrete_csh.check": lambda: discrete_csh.check(k=10, delta="0.1"),
    "csh_sums.calibrate": lambda: csh_sums.calibrate(k=10),  # type: ignore[call-arg]
    "top_k.delta": lambda: top_k.delta(k=10, sigma=1, tau=1, epsilon=1),  # type: ignore[call-arg]
    "discrete_top_k.delta": lambda: discrete_top_k.delta(k=10),  # type: ignore[call-arg]
    "correlated_gaussian.delta": lambda: correlated_gaussian.delta(k=3),  # type: ignore[call-arg]
    "pld.csh": lambda: pld.csh(k=10, sigma=1, tau=1),  # type: ignore[call-arg]
    "compare": lambda: compare(k=10, epsilon=1, delta="1e-5"),
    "CSH": lambda: CSH(k=10, sigma=1, tau=1, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
    "CSH.for_target": lambda: CSH.for_target(k=10, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
    "TopK": lambda: TopK(k=10, sigma=1, tau=1, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
    "TopKWithBase": lambda: TopKWithBase.for_target(k=10, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
    "TopKWithSums": lambda: TopKWithSums.for_target(k=10, epsilon=1, delta="0.1"),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_k_that_could_be_either_bound_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="k must be left out here: give") as error:
        REFUSED[name]()
    taken = {"top": "top, the number of largest counters", "correlated": "keys, the number of keys"}
    said = next((text for word, text in taken.items() if word in name.lower()), "sparsity, the")
    assert said in str(error.value)
    assert "contributions, the largest number of counters to which one user" in str(error.value)


def lines(**bounds: int) -> dict[tuple[str, str], Row]:
    rows = compare(**bounds, epsilon="0.35", delta="1e-5")
    assert all(isinstance(row, Row) for row in rows)
    return {
        (row.calibration.mechanism, row.calibration.analysis): row
        for row in rows
        if isinstance(row, Row)
    }


def test_a_bound_on_users_alone_compares_no_mechanism_that_needs_more() -> None:
    rows = lines(contributions=30)
    assert set(rows) == {
        ("gshm", "add-the-deltas"),
        ("gshm", "exact"),
        ("discrete-gshm", "exact"),
    }
    for row in rows.values():
        assert row.calibration.given == {"k": 30}
        assert "at most k = 30 counters" in row.calibration.guarantee.neighbours


def test_every_line_says_what_it_assumes() -> None:
    rows = lines(contributions=20, sparsity=90)
    assert len(rows) == 7
    for (mechanism, analysis), row in rows.items():
        said = row.calibration.guarantee.neighbours
        if "gshm" in mechanism:
            assert "changing at most k = 20 counters" in said
            assert "never" not in said
            assert row.cells()[2] == "contributions <= 20"
            continue
        assert "in a histogram that never has more than sparsity = 90 non-zero counters" in said
        knows_users = (mechanism, analysis) == ("csh", "exact")
        assert ("changing at most 20 counters" in said) == knows_users
        more = ", contributions <= 20" if knows_users else ""
        assert row.cells()[2] == f"sparsity <= 90{more}"


@pytest.mark.parametrize(
    ("bounds", "name"),
    [
        ({}, "contributions, sparsity"),
        ({"contributions": 9, "sparsity": 8}, "contributions"),
        ({"contributions": 0}, "contributions"),
        ({"sparsity": 0}, "sparsity"),
    ],
)
def test_bounds_that_are_none(bounds: dict[str, int], name: str) -> None:
    with pytest.raises(InvalidParameter) as error:
        compare(**bounds, epsilon=1, delta="1e-5")
    assert error.value.name == name


@pytest.mark.few(1)
@pytest.mark.parametrize("sparsity", [40, 1000, 51_914])
def test_where_the_gshm_is_better_than_a_csh_for_any_users(sparsity: int) -> None:
    """Total noise: (sqrt(sparsity) + 1)^2/4 contributions are where both are equal.

    The exact analysis of the CSH may know the bound on users; it then stays ahead for longer.
    """
    equal = (math.sqrt(sparsity) + 1) ** 2 / 4
    for contributions, better in ((math.floor(0.9 * equal), True), (math.ceil(1.1 * equal), False)):
        rows = lines(contributions=contributions, sparsity=sparsity)
        released = rows["discrete-gshm", "exact"], rows["discrete-csh", "by-cases"]
        published = rows["gshm", "exact"], rows["csh", "published"]
        for independent, correlated in (released, published):
            assert (independent.noise.upper < correlated.noise.lower) == better
        exact = rows["csh", "exact"]
        assert exact.noise.upper < rows["csh", "published"].noise.lower
    quarter = lines(contributions=sparsity // 4, sparsity=sparsity)
    assert quarter["gshm", "exact"].calibration.tau < quarter["csh", "published"].calibration.tau
