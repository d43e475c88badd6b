"""The power of tests against closed forms, enumeration and sums of losses by other code."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from flint import arb

from exactdp.accounting import pld
from exactdp.accounting.pld import Pld
from exactdp.accounting.pld.ask import grids, search
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from tests.accounting.pld.random_powers import SampledNoise, concave, power_at

_ALPHAS = ["1e-9", "1e-6", "1e-3", "0.1", "0.5", "0.97"]


def _rows(p: list[Fraction], q: list[Fraction], times: int) -> Iterator[tuple[Fraction, Fraction]]:
    """The probabilities of all sequences of outputs, with and without the user."""
    for outputs in product(range(len(p)), repeat=times):
        yield math.prod(p[i] for i in outputs), math.prod(q[i] for i in outputs)


def _points(rows: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """(false alarms, power) of the best tests without randomness."""
    alarms, power, points = Fraction(0), Fraction(0), [(Fraction(0), Fraction(0))]
    for p, q in sorted(rows, key=lambda row: row[0] / (row[0] + row[1]), reverse=True):
        alarms, power = alarms + q, power + p
        points.append((alarms, power))
    return points


@pytest.mark.parametrize("alpha", _ALPHAS)
@pytest.mark.parametrize("mu", ["0.1", "3"])
def test_the_power_against_gaussian_noise(mu: str, alpha: str) -> None:
    power = pld.gaussian(sigma=2 / Fraction(mu)).composed(4).power(alpha)
    with mp.workdps(60):
        quantile = mp.findroot(lambda z: mp.log(mp.ncdf(-z) / mp.mpf(alpha)), -mp.log(alpha) / 4)
        exact = mp.ncdf(mp.mpf(mu) - quantile)
        assert mp.mpf(power.lower.numerator) / power.lower.denominator <= exact
        assert exact <= mp.mpf(power.upper.numerator) / power.upper.denominator
    assert power.relative_width <= Fraction(1, 1000)


@pytest.mark.parametrize("alpha", _ALPHAS)
def test_the_power_against_three_outputs_seven_times(alpha: str) -> None:
    p, q = ([Fraction(x, 20) for x in weights] for weights in ([12, 6, 2], [8, 6, 6]))
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    power = pld.laws(*laws, neighbours=pld.ADD_REMOVE).composed(7).power(alpha)
    rows = list(_rows(p, q, 7))
    hull = concave(_points(rows) + _points([(b, a) for a, b in rows]))
    assert power.lower <= power_at(hull, Fraction(alpha)) <= power.upper
    assert power.relative_width <= Fraction(1, 1000)


def test_both_orders_together_have_a_larger_power_than_each() -> None:
    p, q = ([Fraction(x, 20) for x in weights] for weights in ([19, 1], [10, 10]))
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    power = pld.laws(*laws, neighbours=pld.ADD_REMOVE).composed(3).power("0.05")
    rows = list(_rows(p, q, 3))
    each = [_points(rows), _points([(b, a) for a, b in rows])]
    alone = [next(a for b, a in reversed(points) if b <= Fraction(1, 20)) for points in each]
    assert power.lower > max(alone)
    assert power_at(concave(each[0] + each[1]), Fraction(1, 20)) in power


def test_the_power_where_the_curves_of_both_orders_cross() -> None:
    """The best test of one order alone is next to its largest loss; that of both is far away."""
    p, q = [Fraction(x, 60) for x in (26, 27, 7)], [Fraction(x, 74) for x in (19, 40, 15)]
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    power = pld.laws(*laws, neighbours=pld.ADD_REMOVE).composed(2).power("0.0336")
    rows = list(_rows(p, q, 2))
    hull = concave(_points(rows) + _points([(b, a) for a, b in rows]))
    assert power_at(hull, Fraction("0.0336")) in power


@pytest.mark.parametrize("alpha", ["1e-7", "1e-4", "0.02", "0.4"])
def test_the_power_against_sampled_noise(alpha: str) -> None:
    power = pld.sgd(noise_multiplier=2, rate="0.05", steps=30).power(alpha)
    exact, error = SampledNoise("normal", 2.0, 0.05, 30).power(float(alpha))
    assert power.float_lower() * (1 - error) <= exact <= power.float_upper() * (1 + error)
    assert error < 2e-5
    assert power.relative_width <= Fraction(1, 1000)


@pytest.mark.parametrize(
    "loss",
    [
        pld.randomized_response(epsilon="1e-3"),
        pld.laplace(scale=100).sampled("0.01").composed(3),
        pld.approximate(epsilon=0, delta="1e-9").composed(2),
        pld.discrete_gaussian(sigma2=9).sampled("0.1").composed(5),
    ],
)
@pytest.mark.parametrize("alpha", ["1e-6", "0.3"])
def test_no_power_is_below_the_false_alarms(loss: Pld, alpha: str) -> None:
    power = loss.power(alpha)
    assert Fraction(alpha) <= power.lower <= power.upper <= 1
    assert power.relative_width <= Fraction(1, 1000)


def test_one_minus_the_power_is_the_type_two_error() -> None:
    loss = pld.laplace(scale=1).composed(2)
    error, power = loss.type_two_error("0.05"), loss.power("0.05")
    assert error.lower <= 1 - power.lower
    assert 1 - power.upper <= error.upper
    assert error.width <= Fraction(1, 1000)


def test_the_advantage_is_the_total_variation() -> None:
    advantage = pld.gaussian(sigma=1).advantage(relative_width="1e-9")
    with mp.workdps(40):
        exact = mp.ncdf(mp.mpf(1) / 2) - mp.ncdf(-mp.mpf(1) / 2)
        assert mp.mpf(advantage.lower.numerator) / advantage.lower.denominator <= exact
        assert exact <= mp.mpf(advantage.upper.numerator) / advantage.upper.denominator


def test_every_line_of_a_composition_is_below_its_curve() -> None:
    (order, _) = pld.sgd(noise_multiplier=1, rate="0.1", steps=20).orders()
    curve = search.composed(order, grids.for_power(order, -8.0, 1e-3))
    for place in np.linspace(0, 4, 9):
        a, b = curve.line(arb(float(place)))
        for epsilon in np.linspace(0, 5, 40):
            assert not a - b * arb(float(epsilon)).exp() > curve.above(arb(float(epsilon)))
        near = a - b * arb(float(place)).exp()
        assert near >= curve.below(arb(float(place))) * (1 - 1e-3)


@pytest.mark.parametrize("alpha", ["0", "1", "-0.1", "2"])
def test_a_rate_is_between_0_and_1(alpha: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^false_alarms must be > 0 and < 1"):
        pld.gaussian(sigma=1).power(alpha)
