"""Trade-offs, Gaussian DP and Renyi divergences against closed forms."""

from fractions import Fraction
from math import comb, exp, log

import pytest
from scipy.special import ndtr, ndtri

from exactdp.accounting import pld, zcdp
from tests.accounting.pld.curves import NORMAL, of_mixtures
from tests.reference import gaussian


@pytest.mark.parametrize("alpha", [pytest.param("0.01", marks=pytest.mark.slow), "0.3"])
def test_the_gaussian_trade_off(alpha: str) -> None:
    error = pld.gaussian(sigma=2).composed(4).type_two_error(alpha)
    exact = ndtr(ndtri(1 - float(alpha)) - 1)
    assert error.float_lower() <= exact <= error.float_upper()
    assert error.width <= Fraction(1, 1000)


def test_the_trade_off_of_a_coin() -> None:
    # a fair answer told with e^1: the least type II error is piecewise linear
    error = pld.randomized_response(epsilon=1).type_two_error("0.1")
    assert error.float_lower() <= 1 - exp(1) * 0.1 <= error.float_upper()


@pytest.mark.parametrize("alpha", ["0.5", "0.2", "0.01"])
def test_the_trade_off_of_laplace_noise_whose_losses_end(alpha: str) -> None:
    # by its quantiles: e^mu alpha falls from 1, then 1/(4 e^mu alpha), then e^-mu (1 - alpha)
    error = pld.laplace(scale="0.5").type_two_error(alpha)
    level, mu = float(alpha), 2.0
    if level <= exp(-mu) / 2:
        exact = 1 - exp(mu) * level
    elif level < 0.5:
        exact = exp(-mu) / (4 * level)
    else:
        exact = exp(-mu) * (1 - level)
    assert error.float_lower() <= exact <= error.float_upper()
    assert error.width <= Fraction(1, 1000)


@pytest.mark.slow
def test_the_trade_off_of_batches_has_two_ends() -> None:
    error = pld.gaussian(sigma=4).batched("0.1").composed(4).type_two_error("0.1")
    real = pld.gaussian(sigma=2).sampled("0.1").composed(4).type_two_error("0.1")
    assert error.lower < real.lower <= real.upper <= error.upper + Fraction(1, 1000)


@pytest.mark.parametrize("epsilon", ["-1e-9", "-0.3", "-2", "-40"])
def test_the_curve_below_epsilon_0(epsilon: str) -> None:
    delta = pld.gaussian(sigma=2).sampled("0.3").delta(epsilon, relative_width="1e-9")
    none, own, back = [(1.0, 0.0)], [(0.7, 0.0), (0.3, 0.5)], [(0.7, 0.0), (0.3, -0.5)]
    exact = [of_mixtures(*order, NORMAL, float(epsilon)) for order in ((own, none), (none, back))]
    assert delta.float_lower() * (1 - 1e-12) <= max(exact) <= delta.float_upper() * (1 + 1e-12)


def test_mu_of_a_coin_is_where_the_curves_meet() -> None:
    mu = pld.randomized_response(epsilon=1).mu(least_delta="1e-3")
    curve = [(e / 50, (exp(1) - exp(e / 50)) / (1 + exp(1))) for e in range(50)]
    least = 0.9 * mu.float_lower()

    assert all(gaussian(e, mu.float_upper()) >= d for e, d in curve if d >= 1e-3)
    assert any(gaussian(e, least) < d for e, d in curve if d >= 1e-3)


@pytest.mark.parametrize("order", [2, 5, 24])
def test_renyi_of_sampled_gaussians_by_the_binomial_sum(order: int) -> None:
    divergence = pld.sgd(noise_multiplier=2, rate="0.05", steps=3).renyi(order)
    moment = sum(
        comb(order, j) * 0.95 ** (order - j) * 0.05**j * exp(j * (j - 1) / 8)
        for j in range(order + 1)
    )
    exact = 3 * log(moment) / (order - 1)
    assert divergence.float_lower() <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= divergence.float_upper()
    assert divergence.relative_width <= Fraction(1, 10**9)


def test_the_best_real_order() -> None:
    delta = pld.gaussian(sigma=2).composed(4).renyi_delta(3)
    exact = zcdp.delta(rho="0.5", epsilon=3)
    assert delta.lower <= exact.upper
    assert exact.lower <= delta.upper
    assert delta.relative_width <= Fraction(1, 10**4)
