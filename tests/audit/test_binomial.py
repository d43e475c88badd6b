"""Clopper-Pearson bounds against rational tails and scipy; the joint region by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainccinv, betaincinv, betaln

from exactdp import InvalidParameter
from exactdp.audit.bounds.binomial import interval, lower, upper
from exactdp.audit.bounds.measures import delta_at, epsilon_at
from exactdp.audit.bounds.region import Region
from exactdp.audit.bounds.tails import at_least, at_most, tail_and_slope
from exactdp.balls import precision
from tests.distributions import binomial


def exact_tail(hits: int, trials: int, p: Fraction) -> Fraction:
    """P(Binomial(trials, p) >= hits), summed in rationals."""
    return sum(
        (math.comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(hits, trials + 1)),
        Fraction(0),
    )


def as_fraction(end: arb) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@given(st.integers(1, 60), st.data(), st.fractions(0, 1, max_denominator=1000))
def test_tails_enclose_the_rational_sum(trials: int, data: st.DataObject, p: Fraction) -> None:
    hits = data.draw(st.integers(0, trials))
    with precision(96):
        above, below = at_least(hits, trials, p), at_most(hits, trials, p)
        exact = exact_tail(hits, trials, p)
        assert as_fraction(above.lower()) <= exact <= as_fraction(above.upper())
        exact = 1 - exact_tail(hits + 1, trials, p)
        assert as_fraction(below.lower()) <= exact <= as_fraction(below.upper())


@pytest.mark.parametrize("trials", [1000, 10**6, 10**9])
@pytest.mark.parametrize("share", ["1e-6", "0.01", "0.3", "0.5", "0.999"])
def test_tails_agree_with_arbs_incomplete_beta(trials: int, share: str) -> None:
    hits = max(int(trials * Fraction(share)), 1)
    miss, spread = trials - hits + 1, math.sqrt(hits * (1 - hits / trials))
    for deviations in (-6, -1, 0, 1, 6):
        p = Fraction(max(hits - deviations * spread, hits / 100) / trials)
        if not 0 < p < 1:
            continue
        with precision(128):
            ours, slope = tail_and_slope(hits, trials, p)
            theirs = (arb(p.numerator) / p.denominator).beta_lower(hits, miss, regularized=True)
            assert ours.overlaps(theirs)
            assert float(ours.rad()) < 1e-9 * float(ours.mid())
        expected = hits * math.log(p) + miss * math.log1p(-float(p)) - betaln(hits, miss)
        assert float(slope.log()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@given(st.integers(1, 80), st.data(), st.sampled_from(["0.4", "0.05", "1e-3", "1e-9"]))
def test_bounds_are_on_the_right_side_and_tight(
    trials: int, data: st.DataObject, alpha: str
) -> None:
    hits = data.draw(st.integers(0, trials))
    low, high, level = lower(hits, trials, alpha), upper(hits, trials, alpha), Fraction(alpha)
    assert 0 <= low < high <= 1
    if hits:
        assert exact_tail(hits, trials, low) <= level
        assert exact_tail(hits, trials, low * (1 + Fraction(1, 10**8))) > level
    if hits < trials:
        assert 1 - exact_tail(hits + 1, trials, high) <= level
        nearer = 1 - (1 - high) * (1 + Fraction(1, 10**8))
        assert 1 - exact_tail(hits + 1, trials, nearer) > level


@pytest.mark.parametrize("trials", [10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-6, 1e-12])
def test_bounds_agree_with_scipy(trials: int, alpha: float) -> None:
    for hits in sorted({1, 3, trials // 1000, trials // 3, trials - 1} - {0}):
        low, high = float(lower(hits, trials, alpha)), float(upper(hits, trials, alpha))
        assert low == pytest.approx(betaincinv(hits, trials - hits + 1, alpha), rel=2e-7)
        assert high == pytest.approx(betainccinv(hits + 1, trials - hits, alpha), rel=2e-7)


def test_ends() -> None:
    assert lower(0, 10, "0.1") == 0
    assert upper(10, 10, "0.1") == 1
    assert interval(3, 10, "0.1") == (lower(3, 10, "0.05"), upper(3, 10, "0.05"))
    # one trial: P(X >= 1) = p
    assert lower(1, 1, "0.01") == pytest.approx(0.01)
    assert upper(0, 1, "0.01") == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1, 10, "0.1"), "hits"),
        ((11, 10, "0.1"), "hits"),
        ((1, 0, "0.1"), "trials"),
        ((1, 10, "0"), "alpha"),
        ((1, 10, "1"), "alpha"),
    ],
)
def test_bad_input_is_named(arguments: tuple[int, int, str], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        lower(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("alpha", ["0.1", "0.01"])
def test_the_region_covers_as_often_as_it_says(few: bool, alpha: str) -> None:
    """Every pair of counts is enumerated: how likely is the region to exclude a true promise?"""
    trials, others, epsilon = 9, 11, Fraction(1, 2)
    excluded: dict[tuple[int, int], Fraction] = {}
    for k, y in product(range(trials + 1), range(others + 1)):
        region = Region(k, trials, y, others, Fraction(alpha), few)
        excluded[k, y] = region.delta_lower(epsilon)
    for q in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.5):
        for delta in (0.0, 0.02, 0.1):
            p = math.exp(0.5) * q + delta
            wrong = sum(
                binomial(k, trials, p) * binomial(y, others, q)
                for (k, y), bound in excluded.items()
                if bound > Fraction(delta)
            )
            assert wrong <= float(Fraction(alpha)) * (1 + 1e-9)


def test_the_region_is_consistent() -> None:
    region = Region(5500, 10_000, 1800, 10_000, Fraction(1, 100))
    epsilon, delta = region.epsilon_lower(Fraction(0)), region.delta_lower(Fraction(1))
    assert Fraction(104, 100) < epsilon < Fraction(112, 100)
    assert region.exceeds(delta_at(Fraction(1)), Fraction(0))
    assert region.exceeds(delta_at(Fraction(1)), delta * Fraction(99, 100))
    assert not region.exceeds(delta_at(Fraction(1)), delta * Fraction(11, 10))
    assert not region.exceeds(epsilon_at(Fraction(0)), epsilon * Fraction(11, 10))


def test_the_region_beats_two_bounds_at_half_the_level() -> None:
    """27 of 2000 against none of 2000: enough against delta = 0.0049, which two bounds miss."""
    alpha, claimed = Fraction(1, 100), Fraction(49, 10_000)
    region = Region(27, 2000, 0, 2000, alpha, few=True)
    assert region.exceeds(delta_at(Fraction(1)), claimed)
    plain = float(lower(27, 2000, alpha / 2)) - math.e * float(upper(0, 2000, alpha / 2))
    assert plain < claimed


def test_the_region_of_an_event_never_seen_says_nothing() -> None:
    region = Region(0, 100, 50, 100, Fraction(1, 100))
    assert region.epsilon_lower(Fraction(0)) == region.delta_lower(Fraction(1)) == 0
    everything = Region(100, 100, 100, 100, Fraction(1, 100))
    assert everything.delta_lower(Fraction(0)) == 0


def test_the_region_is_fast_for_a_billion_outputs() -> None:
    region = Region(10**8, 5 * 10**8, 3 * 10**7, 5 * 10**8, Fraction(1, 100))
    assert float(region.epsilon_lower(Fraction(0))) == pytest.approx(math.log(10 / 3), rel=1e-3)
