"""Random allocation against integrals, enumeration and simulation that know nothing of lattices."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import Delta
from exactdp.accounting.pld.grid.lattice import Ratios
from exactdp.accounting.pld.grid.moved import shared
from exactdp.accounting.pld.grid.ratio_sums import Above, Below, total
from exactdp.accounting.pld.losses.little_noise import epoch
from exactdp.accounting.pld.losses.normal import Gaussian
from exactdp.balls import precision
from exactdp.enclosure import Enclosure
from exactdp.law import Law
from tests.seeds import seeds

Floats = NDArray[np.float64]

#: The trapezoidal rule with this step is exact to about 1e-13 for integrands this smooth.
POINTS = np.arange(-12.0, 12.0, 0.02)
WEIGHTS = 0.02 * np.exp(-(POINTS**2) / 2) / math.sqrt(2 * math.pi)


def _both(loss: pld.Pld, epsilon: Fraction, width: Fraction) -> list[Enclosure]:
    """delta in both orders: with the user first, and without the user first."""
    return [Delta(epsilon, width).answer(order) for order in loss.orders()]


def _call(c: Floats, mu: float) -> Floats:
    """E (R - c)+ for R = e^(mu z - mu^2/2) and normal z: the formula of Black and Scholes."""
    c = np.asarray(c)
    z = np.log(np.maximum(c, 1e-300)) / mu
    return np.where(c > 0, ndtr(mu / 2 - z) - np.maximum(c, 0) * ndtr(-mu / 2 - z), 1 - c)


def _gaussian_deltas(mu: float, steps: int, x: float) -> tuple[float, float]:
    """E (S - x)+ and E (1 - x S)+: the last term in closed form, one or two others integrated."""
    ratios, weights = np.exp(mu * POINTS - mu * mu / 2), WEIGHTS
    if steps == 3:
        ratios, weights = np.add.outer(ratios, ratios).ravel(), np.outer(weights, weights).ravel()

    def mean(values: Floats) -> float:
        return float(np.einsum("i,i", weights, values))

    left, right = steps * x - ratios, steps / x - ratios
    put = _call(right, mu) - (1 - right)  # E (c - R)+, by parity
    return mean(_call(left, mu)) / steps, x / steps * mean(np.maximum(put, 0.0))


def _near(delta: Enclosure, expected: float, error: float) -> None:
    assert float(delta.lower) <= expected * (1 + 1e-9) + error, (delta, expected)
    assert float(delta.upper) >= expected * (1 - 1e-9) - error, (delta, expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))  # others need a finer rule of integration
def test_gaussian_steps_are_integrals(seed: int) -> None:
    rng = random.Random(seed)
    steps, mu = rng.choice([2, 3]), Fraction(rng.randint(30, 200), 100)
    epsilon = Fraction(rng.randint(0, 250), 100) * mu
    width = Fraction(1, rng.choice([10, 100, 1000]))
    expected = _gaussian_deltas(float(mu), steps, math.exp(epsilon))
    law = pld.gaussian(sigma=1 / mu).allocated(steps)
    for delta, value in zip(_both(law, epsilon, width), expected, strict=True):
        _near(delta, value, 1e-11)
        assert delta.lower > 0 or value < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2, 7])
def test_ratios_that_need_several_lattices_are_integrals(epsilon: int) -> None:
    """A step moves by 3 deviations: ratios reach e^25; 7 is beyond the first lattice."""
    expected, _ = _gaussian_deltas(3.0, 3, math.exp(epsilon))
    law = pld.gaussian(sigma="1/3").allocated(3)
    delta = Delta(Fraction(epsilon), Fraction(1, 20)).answer(law.orders()[0])
    _near(delta, expected, 1e-11)


def _enumerated(p: Law[int], q: Law[int], steps: int) -> list[tuple[Fraction, Fraction]]:
    """P-mass and Q-mass of every outcome of an epoch."""
    masses = []
    outcomes = sorted(p.support | q.support)
    for answer in itertools.product(outcomes, repeat=steps):
        without = math.prod((q[x] for x in answer), start=Fraction(1))
        with_user = sum(
            math.prod(
                ((p if i == place else q)[x] for i, x in enumerate(answer)), start=Fraction(1)
            )
            for place in range(steps)
        )
        masses.append((Fraction(with_user) / steps, without))
    return masses


def _random_law(rng: random.Random, size: int) -> Law[int]:
    masses = [rng.randint(0, 9) for _ in range(size)]
    masses[rng.randrange(size)] += 1
    return Law({i: Fraction(m, sum(masses)) for i, m in enumerate(masses) if m})


@pytest.mark.few(1)
@seeds([1, 2, 3, 4], range(5, 60))
def test_finite_laws_are_enumerated(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 3)
    p, q = _random_law(rng, size), _random_law(rng, size)
    steps, epochs = rng.choice([(2, 1), (3, 1), (4, 1), (2, 2)])
    x = Fraction(rng.randint(100, 300), 100)
    epoch = _enumerated(p, q, steps)
    runs = [
        (math.prod(a for a, _ in run), math.prod(b for _, b in run))
        for run in itertools.product(epoch, repeat=epochs)
    ]
    epsilon = Fraction(math.log(x))
    expected = [
        float(sum(max(a - x * b, Fraction(0)) for a, b in pairs))
        for pairs in (runs, [(b, a) for a, b in runs])
    ]
    if max(expected) < 1e-3:
        return  # shown to be small by no grid, where it is 0
    law = pld.laws(p, q, neighbours=pld.ADD_REMOVE).allocated(steps).composed(epochs)
    delta = law.delta(epsilon, relative_width="1e-2")
    _near(delta, max(expected), 1e-12)


def _simulated(
    draw: Callable[[np.random.Generator, int], tuple[Floats, Floats]],
    steps: int,
    epochs: int,
    x: float,
) -> tuple[float, float]:
    """delta with the user first, and its standard error. draw: ratios with and without the user."""
    rng, total = np.random.default_rng(7), []
    for _ in range(20):
        size = 4000
        loss = np.zeros(size)
        for _ in range(epochs):
            with_user, _ = draw(rng, size)
            _, others = draw(rng, size * (steps - 1))
            loss += np.log((with_user + others.reshape(size, -1).sum(axis=1)) / steps)
        total.append(np.maximum(1 - x * np.exp(-loss), 0))
    values = np.concatenate(total)
    return float(values.mean()), float(values.std() / math.sqrt(len(values)))


def _normal(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    z = rng.standard_normal(size)
    return np.exp(z + 0.5), np.exp(z - 0.5)


def _laplace(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    z = rng.laplace(size=size)
    with_user, without = z + 1, z
    return np.exp(abs(with_user) - abs(with_user - 1)), np.exp(abs(without) - abs(without - 1))


def _geometric(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    z = rng.geometric(1 - math.exp(-1), size) - rng.geometric(1 - math.exp(-1), size)
    return np.exp(abs(z + 1.0) - abs(z)), np.exp(abs(z) - abs(z - 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "draw", "steps", "epochs", "epsilon"),
    [
        (pld.gaussian(sigma=1), _normal, 100, 1, "0.1"),
        (pld.gaussian(sigma=1), _normal, 20, 3, "0.5"),
        (pld.laplace(scale=1), _laplace, 50, 1, "0.1"),
        (pld.laplace(scale=1), _laplace, 3, 2, "0.4"),
        (pld.discrete_laplace(epsilon=1), _geometric, 30, 1, "0.1"),
    ],
)
def test_simulated_epochs(
    loss: pld.Pld,
    draw: Callable[[np.random.Generator, int], tuple[Floats, Floats]],
    steps: int,
    epochs: int,
    epsilon: str,
) -> None:
    """Within 5 standard errors: fails by chance once in a million, with a fixed seed never."""
    order = loss.allocated(steps).composed(epochs).orders()[0]
    delta = Delta(Fraction(epsilon), Fraction(1, 100)).answer(order)
    expected, error = _simulated(draw, steps, epochs, math.exp(Fraction(epsilon)))
    _near(delta, expected, 5 * error)


@pytest.mark.parametrize("steps", [2, 3, 5, 8])
def test_sums_on_a_lattice_enclose_the_law_of_the_mean(steps: int) -> None:
    """Powers of two and others; fails where above and below change places, or a mean is lost."""
    base = Gaussian(Fraction(1))
    lattice = Ratios(Fraction(1, 16), steps)
    with precision(128):
        cells = list(base.cells(lattice, 60, Fraction(0)))
        low = total(Below.one(lattice, cells, arb(0)), lattice.step, 1e-20)
        high = total(Above.one(lattice, shared(lattice, cells)), lattice.step, 1e-20)
    assert low.step == high.step == lattice.step
    draws = np.exp(np.random.default_rng(5).standard_normal((400_000, steps)) - 0.5).mean(axis=1)
    ratios = np.exp(float(high.step) * (high.first + np.arange(high.size)))
    assert ratios @ high.masses == pytest.approx(1, rel=1e-9)
    assert low.p.sum() == pytest.approx(1, rel=1e-9)
    assert low.q.sum() == pytest.approx(1, rel=1e-9)
    for c in (0.4, 0.9, 1.03, 2.56):
        gains = np.maximum(draws - c, 0)
        error = 5 * gains.std() / math.sqrt(len(gains))
        below = np.maximum(low.p - c * low.q, 0).sum()
        above = (np.maximum(ratios - c, 0) * high.masses).sum()
        assert below < gains.mean() + error
        assert above > gains.mean() - error
        assert 0 < above - below < 0.02 * above + 1e-4


def test_an_epoch_of_one_step_is_the_step() -> None:
    assert pld.gaussian(sigma=1).allocated(1) == pld.gaussian(sigma=1)


def test_training_by_random_allocation() -> None:
    loss = pld.sgd(noise_multiplier=1, rate="0.1", steps=30, sampling="allocated")
    assert loss == pld.gaussian(sigma=1).allocated(10).composed(3)


@pytest.mark.parametrize(
    ("sigma", "steps", "epsilon", "expected"),
    [
        ("1/2", 2, 11.2, None),
        ("1/4", 2, 30.0, None),
        ("1/2", 3, 10.8, 1.02474e-7),  # trapezoids of width 1/400, over two of the terms
    ],
)
def test_little_noise_is_an_integral(
    sigma: str, steps: int, epsilon: float, expected: float | None
) -> None:
    """delta is far beyond the first deviations of the loss."""
    if expected is None:
        mu, fine = float(1 / Fraction(sigma)), np.arange(-20.0, 20.0, 1e-4)
        left = 2 * math.exp(epsilon) - np.exp(mu * fine - mu * mu / 2)
        weights = 1e-4 * np.exp(-(fine**2) / 2) / math.sqrt(2 * math.pi)
        expected = float(weights @ _call(left, mu)) / 2
    delta = pld.gaussian(sigma=sigma).allocated(steps).delta(str(epsilon))
    assert float(delta.lower) * (1 - 1e-5) <= expected <= float(delta.upper) * (1 + 1e-5)


def test_the_loss_of_an_epoch_is_within_the_logarithm_of_its_steps() -> None:
    """(a + b - x)+ >= (a - x)+ + (b - x)+, so delta is at least the step's at epsilon + ln t."""
    step = pld.gaussian(sigma="0.4")
    epsilon, whole = step.allocated(100).epsilon("1e-7"), step.epsilon("1e-7")
    assert float(whole.lower) - math.log(100) < float(epsilon.upper)
    assert epsilon.upper < whole.upper


def _half_of_two(sigma: str, epsilon: str) -> mpmath.mpf:
    """E (S - x)+ for two steps: one ratio in closed form, the other by an integral."""
    mu, x = 1 / mpmath.mpf(sigma), mpmath.exp(mpmath.mpf(epsilon))

    def call(c: mpmath.mpf) -> mpmath.mpf:
        if c <= 0:
            return 1 - c
        z = mpmath.log(c) / mu
        return mpmath.ncdf(mu / 2 - z) - c * mpmath.ncdf(-mu / 2 - z)

    def integrand(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(z) * call(2 * x - mpmath.exp(mu * z - mu * mu / 2)) / 2

    edge = (mpmath.log(2 * x) + mu * mu / 2) / mu  # from here on, this ratio alone is above 2 x
    places = [-20, -10, -5, 0, 5, 10, *(mu + i for i in (-5, 0, 5, 10))]
    return mpmath.quad(integrand, sorted([*places, *(edge + i for i in (-2, 0, 2, 6))]))


@pytest.mark.parametrize(
    ("sigma", "epsilon"), [("0.1", "90"), ("0.05", "280"), ("0.05", "300"), ("0.04", "420")]
)
def test_very_little_noise_is_an_integral(sigma: str, epsilon: str) -> None:
    delta = pld.gaussian(sigma=sigma).allocated(2).delta(epsilon, relative_width="1e-6")
    with mpmath.workdps(40):
        expected = _half_of_two(sigma, epsilon)
        assert float(delta.lower) * (1 - 1e-9) <= expected <= float(delta.upper) * (1 + 1e-9)
    assert delta.width <= delta.lower / 10**6


@pytest.mark.parametrize("steps", [3, 100])
def test_sums_of_ratios_and_the_largest_ratio_agree(steps: int) -> None:
    """Two methods for one epoch; the largest ratio alone bounds several epochs less sharply."""
    noise = pld.gaussian(sigma="0.15")
    sums = noise.allocated(steps)
    largest = pld.Pld(((epoch(noise.steps[0][0], steps), 1),), noise.neighbours, noise.source)
    for epsilon in ("40", "60"):
        one, other = sums.delta(epsilon), largest.delta(epsilon)
        assert one.lower <= other.upper <= one.upper * Fraction(1001, 1000)
        assert one.lower * Fraction(999, 1000) <= other.lower <= one.upper
    one, other = (loss.composed(3).epsilon("1e-6") for loss in (sums, largest))
    assert other.lower <= one.upper
    assert one.lower <= other.upper


@pytest.mark.parametrize(("sigma", "epochs"), [("0.01", 10), ("0.05", 100), ("0.1", 10)])
def test_epochs_with_very_little_noise_lose_at_most_the_logarithms(sigma: str, epochs: int) -> None:
    noise, lost = pld.gaussian(sigma=sigma), epochs * math.log(50)
    alone, whole = (x.composed(epochs).epsilon("1e-6") for x in (noise, noise.allocated(50)))
    assert float(alone.lower) - lost <= float(whole.lower) * (1 + 1e-5)
    assert whole.upper <= alone.upper * Fraction(100_001, 100_000)
    if sigma != "0.1":
        assert float(whole.upper) < float(alone.upper) - 0.99 * lost


def test_laplace_noise_of_a_small_scale() -> None:
    """The largest loss of an epoch is that of a step; below, the losses are smaller by ln t."""
    noise = pld.laplace(scale="0.005")
    epsilon = noise.allocated(10).epsilon("0.2")
    assert float(noise.epsilon("0.2").lower) - math.log(10) == pytest.approx(float(epsilon.lower))
    assert epsilon.upper <= 200


def test_an_epoch_leaks_nearly_as_much_as_its_step() -> None:
    """A test that knows the user's step sees a ratio of at least 1/steps of the ratio there."""
    step, steps = pld.gaussian(sigma="0.5"), 10
    alone, epoch = step.epsilon("1e-5"), step.allocated(steps).epsilon("1e-5")
    assert float(alone.lower) - math.log(steps) <= float(epoch.upper)
    assert epoch.lower <= alone.upper
