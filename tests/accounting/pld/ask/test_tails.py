"""Far tails: one large loss is likelier there than many small ones, and delta may be tiny."""

import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import grids, search
from tests.reference import sampled_gaussian


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"),
    [("9.4", "0.07", "6.7"), ("12.7", "1", "1.2"), ("50", "1e-4", "0.01"), ("0.3", "0.5", "30")],
)
def test_one_step_in_closed_form(sigma: str, rate: str, epsilon: str) -> None:
    delta = pld.gaussian(sigma=sigma).sampled(rate).delta(epsilon)
    with mp.workdps(60):
        log_exact = mp.log(sampled_gaussian(mpf(epsilon), mpf(rate), 1 / mpf(sigma)))
        for end in (delta.lower, delta.upper):
            log_end = mp.log(mpf(end.numerator)) - mp.log(mpf(end.denominator))
            assert abs(log_end - log_exact) < mpf(10) ** -11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "target"),
    [
        pytest.param("8.27", "0.00151", 5, "9.27e-185", marks=pytest.mark.slow),
        pytest.param("13.2", "0.021", 2, "3.5e-142", marks=pytest.mark.slow),
        ("3.52", "0.00187", 2, "1.48e-44"),
    ],
)
def test_one_large_loss_is_nearly_all(sigma: str, rate: str, steps: int, target: str) -> None:
    """At least one step's delta, and at most what the step's share beyond epsilon leaves."""
    epsilon = pld.gaussian(sigma=sigma).sampled(rate).composed(steps).epsilon(target)
    assert epsilon.width <= Fraction(1, 1000)
    alone = pld.gaussian(sigma=sigma).sampled(rate).epsilon(target)
    assert alone.lower < epsilon.upper
    with mp.workdps(40):
        # the other steps' losses are spread by less than rate/sigma each, about 0
        spread = 12 * mpf(rate) / mpf(sigma) * math.sqrt(steps)
        low, high = (mpf(str(float(end))) for end in (epsilon.lower, epsilon.upper))
        assert steps * sampled_gaussian(high - spread, mpf(rate), 1 / mpf(sigma)) > mpf(target) / 10
        assert sampled_gaussian(low + spread, mpf(rate), 1 / mpf(sigma)) < mpf(target)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "epsilon"),
    [
        ("40", "0.001", 100, "20"),
        ("2.74", "0.000576", 29355, "11.7"),
        ("10.5", "0.000241", 68, "0.0249"),
    ],
)
def test_below_every_double_it_is_only_small(
    sigma: str, rate: str, steps: int, epsilon: str
) -> None:
    delta = pld.gaussian(sigma=sigma).sampled(rate).composed(steps).delta(epsilon)
    assert delta.lower == 0
    assert delta.upper <= Fraction(1, 1 << 1074)


@pytest.mark.slow
def test_a_bulk_narrower_than_a_bin_of_the_window_guess() -> None:
    """Nearly all losses lie in one of the bins with which the window is guessed."""
    loss = pld.gaussian(sigma="1.14").sampled("0.000279").composed(820_238)
    order = loss.orders()[0]
    composition = search.composed(order, grids.for_epsilon(order, math.log(2.25e-6), 1e-3))
    assert composition.outside < 1e-10
    assert loss.epsilon("2.25e-6").width <= Fraction(1, 1000)
