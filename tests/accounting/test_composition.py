"""Composition against exact laws, rational arithmetic and mpmath sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp, mpf

from exactdp import Enclosure, Undecided
from exactdp.accounting import composition, zcdp
from tests.distributions import binomial_above
from tests.reference import assert_about, to_mp

NARROW = Fraction(1, 10**12)


def enumerated(k: int, epsilon: mpf, delta: mpf, total: mpf) -> mpf:
    """Divergence of k copies of the worst (epsilon, delta)-DP pair, outcome by outcome."""
    up, down = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon)), 1 / (1 + mpmath.exp(epsilon))
    p = [delta, (1 - delta) * up, (1 - delta) * down, mpf(0)]
    q = [mpf(0), (1 - delta) * down, (1 - delta) * up, delta]
    result = mpf(0)
    for outcome in itertools.product(range(4), repeat=k):
        here = mpmath.fprod(p[i] for i in outcome)
        there = mpmath.fprod(q[i] for i in outcome)
        result += max(here - mpmath.exp(total) * there, mpf(0))
    return result


@pytest.mark.few(15)
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("delta", ["0", "0.01"])
@pytest.mark.parametrize("total", ["0", "0.3", "0.75", "2"])
def test_the_optimal_rule_is_the_worst_pair_composed(k: int, delta: str, total: str) -> None:
    bounds = composition.optimal(k=k, epsilon="0.3", delta=delta, total_epsilon=total)
    with mp.workdps(60):
        expected = enumerated(
            k,
            mpf(3) / 10,
            to_mp(Fraction(delta)),
            to_mp(Fraction(total)),
        )
    if expected < mpf(10) ** -50:
        assert bounds == Enclosure.exact(0)
    else:
        assert_about(bounds, expected)


def test_the_loss_at_the_border_counts_for_nothing() -> None:
    # total = (2 l - k) epsilon exactly: the outcome with that loss contributes 0
    assert composition.optimal(k=3, epsilon="0.1", total_epsilon="0.3") == Enclosure.exact(0)
    assert composition.optimal(k=3, epsilon="0.1", total_epsilon="0.299999999999").lower > 0
    assert composition.optimal(k=7, epsilon=0, total_epsilon=0) == Enclosure.exact(0)


def test_the_optimal_rule_is_at_least_as_good_as_the_basic_one() -> None:
    epsilon, delta = composition.basic(parts=[("0.1", "1e-6")] * 20)
    assert (epsilon.lower, delta.upper) == (2, Fraction(2, 10**5))
    optimal = composition.optimal(k=20, epsilon="0.1", delta="1e-6", total_epsilon=2)
    assert optimal <= delta
    assert composition.basic(parts=[(1, 1), (1, "0.5")])[1] == Enclosure.exact(1)


def test_rhos_add_up() -> None:
    assert composition.zcdp_delta(rhos=["0.1", "0.2"], epsilon=1) == zcdp.delta(
        rho="0.3", epsilon=1
    )
    assert composition.zcdp_delta(rhos=[], epsilon=1) == Enclosure.exact(0)


@pytest.mark.few(2)
@pytest.mark.parametrize(("sigma2", "k"), [("0.5", 3), ("2", 4), ("9", 3)])
def test_discrete_gaussian_steps_against_a_direct_sum(sigma2: str, k: int) -> None:
    """All sums of k values, by convolving k lists in mpmath."""
    variance, epsilon = Fraction(sigma2), Fraction(7, 10)
    with mp.workdps(50):
        v = mpf(variance.numerator) / variance.denominator
        reach = int(16 * mpmath.sqrt(v)) + 2
        one = {z: mpmath.exp(-(mpf(z) ** 2) / (2 * v)) for z in range(-reach, reach + 1)}
        norm = mpmath.fsum(one.values())
        law = {0: mpf(1)}
        for _ in range(k):
            grown: dict[int, mpf] = {}
            for (s, p), (z, w) in itertools.product(law.items(), one.items()):
                grown[s + z] = grown.get(s + z, mpf(0)) + p * w / norm
            law = grown
        expected = mpmath.fsum(
            p * (1 - mpmath.exp(mpf(7) / 10 - (2 * s + k) / (2 * v)))
            for s, p in law.items()
            if Fraction(2 * s + k, 2) / variance > epsilon
        )
    delta = composition.discrete_gaussian(k=k, sigma2=variance, epsilon=epsilon)
    assert_about(delta, expected)


@pytest.mark.few(1)
@pytest.mark.parametrize(("k", "epsilon", "total"), [(10**7, "0.001", 9), (10**9, "0.0001", 12)])
def test_ten_million_copies_and_more_against_binomial_tails(
    k: int, epsilon: str, total: int
) -> None:
    """delta = P(B(k, p) >= l) - e^total P(B(k, 1 - p) >= l), in floats."""
    p = 1 / (1 + math.exp(-float(epsilon)))
    least = math.floor((total / float(epsilon) + k) / 2 + 1e-6)
    tails = [binomial_above(least, k, chance) for chance in (p, 1 - p)]
    delta = composition.optimal(k=k, epsilon=epsilon, total_epsilon=total)
    assert float(delta.upper) == pytest.approx(tails[0] - math.exp(total) * tails[1], rel=1e-6)
    assert delta.upper <= delta.lower * (1 + NARROW)


def test_too_many_copies_are_undecided() -> None:
    with pytest.raises(Undecided, match="has 12000000 terms"):
        composition.optimal(k=10**12, epsilon="1e-6", total_epsilon=1)


def test_many_queries_with_a_delta_of_thousands_of_digits() -> None:
    """It falls by the chance of the loss, about exp(-(epsilon - mean)^2 / (2 variance))."""
    k, sigma2, epsilon = 406, 850_000, 3.72
    delta = composition.discrete_gaussian(k=k, sigma2=sigma2, epsilon="3.72")
    assert delta.upper <= delta.lower * (1 + Fraction(1, 10**12))
    variance = k / sigma2
    with mp.workdps(30):
        about = -((epsilon - variance / 2) ** 2) / (2 * variance) / math.log(10)
        digits = mp.log10(mp.mpf(delta.upper.numerator)) - mp.log10(mp.mpf(delta.upper.denominator))
    assert about - 10 < digits < about


@pytest.mark.parametrize("epsilon", ["1e18", "1e60", "1e9999"])
def test_optimal_where_the_odds_leave_arbs_exponents(epsilon: str) -> None:
    # all answers are true, but for one in e^epsilon
    most = Fraction(epsilon)
    assert composition.optimal(k=3, epsilon=epsilon, total_epsilon=2 * most).lower > 1 - NARROW
    assert composition.optimal(k=3, epsilon=epsilon, total_epsilon=3 * most) == 0
