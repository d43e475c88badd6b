"""Answers against closed forms and published numbers."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import mpmath
import numpy as np
import pytest

from exactdp.accounting import gaussian, pld
from exactdp.accounting.pld.ask import grids, search
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.loss import Pld
from exactdp.balls import ball, enclosure, precision
from exactdp.errors import InvalidParameter, Undecided

_SMALL = Fraction(1, 10**6)


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1, 1, 1), (10, 100, 2), (3, 7, 0)])
def test_gaussian_composition_in_closed_form(sigma: int, steps: int, epsilon: int) -> None:
    low, high = _on_a_grid(pld.gaussian(sigma=sigma).composed(steps), Fraction(epsilon))
    exact = gaussian.delta(sigma=1, epsilon=epsilon, sensitivity=_root(steps, sigma))
    assert low <= exact.upper
    assert high >= exact.lower
    assert high <= low * Fraction(1001, 1000)


def _on_a_grid(loss: pld.Pld, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Both bounds on delta by the transform, also where there is a closed form."""
    (order,) = loss.orders()
    sums = search.composed(order, grids.for_delta(order, float(epsilon), 1e-3))
    with precision(BITS):
        ends = sums.below(ball(epsilon)), sums.above(ball(epsilon))
        low, high = (enclosure(end).lower for end in ends)
    return low, high


def _root(steps: int, sigma: int) -> Fraction:
    return Fraction(round(steps**0.5 * 10**17), sigma * 10**17)


@pytest.mark.parametrize("exponent", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_tiny_deltas_are_as_narrow(exponent: int) -> None:
    target = Fraction(1, 10**exponent)
    # besides a step that hardly counts there is no closed form
    small = pld.gaussian(sigma=10**9).sampled("1e-3")
    epsilon = pld.gaussian(sigma=10).composed(100).then(small).epsilon(target)
    assert epsilon.width <= Fraction(1, 1000)
    assert gaussian.delta(sigma=1, epsilon=epsilon.lower - _SMALL).upper >= target
    assert gaussian.delta(sigma=1, epsilon=epsilon.upper + _SMALL).lower <= target
    exact = pld.gaussian(sigma=10).composed(100).epsilon(target, width="1e-9")
    assert epsilon.lower <= exact.upper + _SMALL
    assert exact.lower <= epsilon.upper + _SMALL


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sigma", "steps", "epsilon"),
    [("1.756", 1000, "0.0019"), ("0.728", 1000, "0.0014"), ("8.827", 100_000, "3.7877")],
)
def test_an_epsilon_below_all_losses_that_count(sigma: str, steps: int, epsilon: str) -> None:
    """The window of losses begins above epsilon: nothing in it may be passed over."""
    low, high = _on_a_grid(pld.gaussian(sigma=sigma).composed(steps), Fraction(epsilon))
    exact = pld.gaussian(sigma=sigma).composed(steps).delta(epsilon)
    with mpmath.workdps(60):
        mu, loss = mpmath.sqrt(steps) / mpmath.mpf(sigma), mpmath.mpf(epsilon)
        left = mpmath.ncdf(-mu / 2 + loss / mu) + mpmath.exp(loss) * mpmath.ncdf(
            -mu / 2 - loss / mu
        )
    true = 1 - Fraction(mpmath.nstr(left, 40))
    assert 1 - true < Fraction(1, 10**6)
    assert low <= true <= high
    assert low >= Fraction(99, 100)
    assert exact.lower - Fraction(1, 10**30) <= true <= exact.upper + Fraction(1, 10**30)


def test_different_mechanisms_together() -> None:
    together = pld.gaussian(sigma=6).composed(20).then(pld.gaussian(sigma=8).composed(28))
    epsilon = together.epsilon("1e-6")
    # 20/36 + 28/64 = mu^2
    mu = Fraction(round((20 / 36 + 28 / 64) ** 0.5 * 10**16), 10**16)
    assert gaussian.delta(sigma=1, epsilon=epsilon.upper, sensitivity=mu).lower <= Fraction(
        1, 10**6
    )
    assert gaussian.delta(sigma=1, epsilon=epsilon.lower, sensitivity=mu).upper >= Fraction(
        1, 10**6
    )


@pytest.mark.few(10)
@pytest.mark.parametrize("size", ["1e-400", "1e-100", "1e-20", "1e20", "1e100", "1e400"])
@pytest.mark.parametrize(
    "loss",
    [
        lambda x: pld.gaussian(sigma=x),
        lambda x: pld.gaussian(sigma=5, sensitivity=x),
        lambda x: pld.gaussian(sigma=5).sampled(x),
        lambda x: pld.discrete_gaussian(sigma2=x),
        lambda x: pld.discrete_laplace(epsilon=x),
        lambda x: pld.laplace(scale=x),
        lambda x: pld.approximate(epsilon=x, delta="1e-9"),
    ],
)
def test_parameters_of_any_size_are_refused_decided_or_undecided(
    loss: Callable[[str], Pld], size: str
) -> None:
    """Floats say where to look; where they cannot, no error of theirs is met."""
    for ask in (lambda: loss(size).delta(1), lambda: loss(size).epsilon("1e-5")):
        try:
            bounds = ask()
        except (InvalidParameter, Undecided):
            continue
        assert 0 <= bounds.lower <= bounds.upper


def test_against_a_target_encloses_both_orders() -> None:
    """Guesses took the other order for the worse one. The order with the user first, by FFT."""
    sigma, rate, runs, epsilon, step, size = 1.7, 0.12, 251, 0.2, 1e-3, 1 << 15
    x = np.linspace(-10, 10, 200_001)
    losses = np.log1p(rate * np.expm1(x / sigma - 1 / (2 * sigma**2)))
    places, masses = losses / step, np.exp(losses - x**2 / 2)
    share = places - np.floor(places)
    one = np.zeros(size)
    np.add.at(one, np.floor(places).astype(int) % size, masses / masses.sum() * (1 - share))
    np.add.at(one, (np.floor(places).astype(int) + 1) % size, masses / masses.sum() * share)
    sums = np.fft.irfft(np.fft.rfft(one) ** runs, size)
    total = (np.arange(size) + size // 2) % size - size // 2
    expected = float(np.sum(sums * np.maximum(-np.expm1(epsilon - total * step), 0)))
    loss = pld.gaussian(sigma="1.7").sampled("0.12").composed(runs)
    assert loss.against("0.2", "0.78").float_upper() > expected - 1e-4


def test_losses_much_smaller_than_others_need_no_finer_grid() -> None:
    loss = pld.gaussian(sigma=1).then(pld.approximate(epsilon="1e-7", delta=0).composed(1000))
    delta = loss.delta(1, relative_width="1e-2")
    assert delta.upper >= gaussian.delta(sigma=1, epsilon=1).lower
    assert delta.lower <= gaussian.delta(sigma=1, epsilon="0.9999").upper


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [3, 50])
def test_losses_far_below_the_mass_at_infinity_do_not_count(epsilon: int) -> None:
    """delta = 1e-9 and next to nothing: it took seconds to follow the nothing, and to give up."""
    loss = pld.laplace(scale=4).then(pld.gaussian(sigma=5).sampled("0.5"))
    delta = loss.then(pld.approximate(epsilon="0.1", delta="1e-9")).delta(epsilon)
    assert Fraction(998, 10**12) <= delta.lower <= Fraction(1, 10**9) + Fraction(1, 10**13)
    assert Fraction(1, 10**9) <= delta.upper <= Fraction(1002, 10**12)


@pytest.mark.slow
def test_a_large_epsilon_is_enclosed_to_a_share_of_itself() -> None:
    """A million losses are nearly normal, with their mean and variance by numerical integration."""
    sigma, rate, steps = 0.5, 0.5, 10**6
    x = np.linspace(-10 * sigma, 1 + 10 * sigma, 400_001)
    none, shifted = (np.exp(-((x - move) ** 2) / (2 * sigma**2)) for move in (0, 1))
    mixed = rate * shifted + (1 - rate) * none
    losses, weights = np.log(mixed / none), mixed / mixed.sum()
    mean = float(weights @ losses)
    deviation = math.sqrt(float(weights @ (losses - mean) ** 2))
    quantile = NormalDist().inv_cdf(1 - 1e-5)
    # beyond this loss delta is the mass, but for a part of 1/deviation of all losses
    expected = steps * mean + quantile * math.sqrt(steps) * deviation
    answer = pld.sgd(noise_multiplier=sigma, rate=rate, steps=steps).epsilon("1e-5")
    assert answer.width <= 1e-5 * answer.lower
    assert float(answer.lower) == pytest.approx(expected, rel=1e-5)


def test_epsilon_to_a_relative_width() -> None:
    for loss in (pld.sgd(noise_multiplier=2, rate="0.1", steps=20), pld.laplace(scale=9)):
        rough, fine = (loss.epsilon("1e-5", relative_width=width) for width in ("0.1", "1e-6"))
        assert rough.lower <= fine.lower <= fine.upper <= rough.upper
        assert fine.width <= Fraction(1, 10**6) * fine.lower
    with pytest.raises(InvalidParameter, match="left out beside width"):
        loss.epsilon("1e-5", width="0.1", relative_width="0.1")
