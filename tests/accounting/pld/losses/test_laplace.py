"""Continuous Laplace noise, against integrals over the noise itself."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np
import pytest
from flint import arb

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import search
from exactdp.accounting.pld.ask.closed import closed_curve
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from tests.accounting.pld.curves import excess, of_measure

Curve = Callable[[mpmath.mpf], mpmath.mpf]


def _single(epsilon: mpmath.mpf, scale: mpmath.mpf) -> mpmath.mpf:
    """P(S) - e^epsilon Q(S) for noise about 0 and 1, S the half-line where p > e^epsilon q."""

    def cdf(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(z / scale) / 2 if z < 0 else 1 - mpmath.exp(-z / scale) / 2

    if epsilon >= 1 / scale:
        return mpmath.mpf(0)
    if epsilon < -1 / scale:
        return 1 - mpmath.exp(epsilon)
    end = (1 - epsilon * scale) / 2
    return cdf(end) - mpmath.exp(epsilon) * cdf(end - 1)


def _one_more(curve: Curve, copies: int, scale: mpmath.mpf) -> Curve:
    """The expectation of the others' curve over the noise z of one more release."""

    def composed(epsilon: mpmath.mpf) -> mpmath.mpf:
        # kinks: where epsilon - loss(z) is -copies/scale, ..., copies/scale
        kinks = [(1 - scale * epsilon + j) / 2 for j in range(-copies, copies + 1)]
        places = sorted({mpmath.mpf(0), mpmath.mpf(1), *(z for z in kinks if 0 < z < 1)})
        inside = mpmath.quad(
            lambda z: mpmath.exp(-z / scale) / (2 * scale) * curve(epsilon - (1 - 2 * z) / scale),
            places,
        )
        ends = curve(epsilon - 1 / scale), mpmath.exp(-1 / scale) * curve(epsilon + 1 / scale)
        return inside + sum(ends) / 2

    return composed


def _reference(epsilon: str, copies: int, scale: str) -> mpmath.mpf:
    noise = mpmath.mpf(scale)
    curve: Curve = partial(_single, scale=noise)
    for done in range(1, copies):
        curve = _one_more(curve, done, noise)
    return curve(mpmath.mpf(epsilon))


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("scale", "copies", "epsilon"),
    [
        ("1", 2, "0"),
        ("1", 2, "1.3"),
        ("0.5", 2, "3.9"),
        ("7", 2, "0.1"),
        ("2", 3, "0.25"),
        ("2", 3, "1.4"),
    ],
)
def test_delta_is_that_of_the_noise(scale: str, copies: int, epsilon: str) -> None:
    with mpmath.workdps(15 if copies > 2 else 25):
        exact = Fraction(str(_reference(epsilon, copies, scale)))
    delta = pld.laplace(scale=scale).composed(copies).delta(epsilon)
    slack = exact / 10**9
    assert delta.lower - slack <= exact <= delta.upper + slack
    assert delta.upper <= delta.lower * Fraction(1001, 1000)


RATE, MU = 0.2, 1.5
NOISE = pld.laplace(scale=2, sensitivity=3)


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [-0.9, -0.05, 0.0, 0.1, 0.6, 0.9])
def test_batches_are_as_bad_as_the_worst_three_values(epsilon: float) -> None:
    """Others' value w, the user's u and v: all within the sensitivity, none worse than assumed."""
    loss = NOISE.batched(RATE)
    ((law, _),) = loss.orders()[0]
    assert law.unit is not None
    low, high, _ = search.measures(loss.orders()[0], law.unit / 64, 96)[0]
    x = np.linspace(-25, 25, 200_001)
    unit, worst = x[1] - x[0], 0.0
    for w, u, v in product((-MU, -0.4, 0.3, MU), (-MU, 0.0, MU), (-MU, 0.2, MU)):
        a, b, c = (np.exp(-abs(x - s)) / 2 * unit for s in (w, u, v))
        with_, other = ((1 - RATE) * a + RATE * own for own in (b, c))
        worst = max(worst, excess(with_, other, epsilon))
    assert abs(worst - of_measure(high, epsilon)) < 2e-4
    assert of_measure(low, epsilon) <= worst + 1e-5


def test_epsilon_at_the_largest_loss_beside_a_failure() -> None:
    failing = pld.approximate(epsilon="0.1", delta="1e-6")
    epsilon = pld.laplace(scale=3).composed(5).then(failing).epsilon("1e-5")
    # the largest finite loss is 5/3 + 1/10; a mass of 2^-6 or more lies there
    assert Fraction("1.765") < epsilon.lower <= epsilon.upper < Fraction(53, 30)
    assert epsilon.width <= Fraction(1, 1000)


def test_what_is_certain_at_the_ends() -> None:
    loss = pld.laplace(scale=4, sensitivity=2).composed(3)
    assert loss.delta("1.5").upper == 0
    assert loss.delta("1.499").lower > 0
    assert loss.epsilon("1e-12").upper <= Fraction("1.501")
    assert pld.laplace(scale="0.01").delta(200).upper == 0


def _hockey(mu: float, ratio: float) -> float:
    """sup_S P(S) - ratio Q(S) of Laplace noise against its shift."""
    return max(1 - ratio, 1 - np.sqrt(ratio * np.exp(-mu)), 0.0)


def _on_a_sample(mu: float, rate: float, epsilon: float, *, removed: bool) -> float:
    ratio = np.exp(epsilon)
    if removed:
        part = (ratio - 1 + rate) / rate
        return rate * _hockey(mu, part) if part > 0 else 1 - ratio
    left = 1 - (1 - rate) * ratio
    return left * _hockey(mu, rate * ratio / left) if left > 0 else 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("rates", "epsilon"), [((1, 1), 0.9), ((0.3, 1), 0.5), ((0.2, 0.45), 0.11)]
)
def test_marks_that_fit_on_no_grid_together(rates: tuple[float, float], epsilon: float) -> None:
    """Of one mechanism the law of the loss, of the other the curve: an integral."""
    from scipy.integrate import quad

    (mu, rate), (nu, other) = (1.0, rates[0]), (1 / 3.1, rates[1])

    def exact(*, removed: bool) -> float:
        def density(x: float) -> tuple[float, float]:
            with_, without = (mu / 2 * np.exp(-mu * abs(x - at)) for at in (1, 0))
            mixed = rate * with_ + (1 - rate) * without
            return (mixed, without) if removed else (without, mixed)

        def part(x: float) -> float:
            p, q = density(x)
            return p * _on_a_sample(nu, other, epsilon - np.log(p / q), removed=removed)

        # beyond both centres the ratio stays what it is there
        ends = part(0.0) / mu + part(1.0) / mu
        return float(
            quad(part, 0, 1, limit=200, epsabs=1e-12, points=np.linspace(0, 1, 40))[0] + ends
        )

    one, two = pld.laplace(scale=1), pld.laplace(scale="3.1")
    loss = one.sampled(str(rate)).then(two.sampled(str(other)))
    delta = loss.delta(str(epsilon))
    expected = max(exact(removed=True), exact(removed=False))
    assert delta.float_lower() * (1 - 1e-7) <= expected <= delta.float_upper() * (1 + 1e-7)
    assert delta.width <= delta.upper / 1000


def test_with_noise_on_the_integers_and_many_of_each() -> None:
    """The bounds of the composition enclose those of the same with a little more and less noise."""
    parts = pld.discrete_laplace(epsilon="0.0204", sensitivity=2).composed(30)
    same, less, more = (
        pld.laplace(scale=scale).composed(20).then(parts).epsilon("1e-6")
        for scale in ("22.1", "22.2", "22")
    )
    assert less.lower < same.upper
    assert same.lower < more.upper
    assert same.width <= Fraction(1, 1000)
    assert more.upper - less.lower < Fraction(1, 50)


def test_sampling_twice_is_sampling_at_the_product() -> None:
    twice, once = NOISE.sampled("0.5").sampled("0.2"), NOISE.sampled("0.1")
    assert twice.orders() == once.orders()


def test_too_many_nodes_are_refused_before_the_work() -> None:
    with pytest.raises(Undecided, match="nodes"):
        pld.laplace(scale=Fraction(1, 10**9)).composed(2).delta(1)


STEEP = [
    pld.laplace(scale="0.05").sampled("0.0145"),
    pld.laplace(scale="0.09").sampled("0.3").replaced(),
    pld.laplace(scale="0.16").batched("0.25"),
]


@pytest.mark.slow
@pytest.mark.parametrize("loss", STEEP, ids=["sampled", "replaced", "batched"])
def test_densities_that_are_too_steep_by_their_exact_curve(loss: pld.Pld) -> None:
    """Both measures of one step against its delta in closed form: within half a step of it."""
    orders = loss.orders()
    for order, other in zip(orders, reversed(orders), strict=True):
        closed, reverse = closed_curve(order), closed_curve(other)
        assert closed is not None
        assert reverse is not None
        ((low, high, _),) = search.measures(order, Fraction(1, 70), 96)
        grid = low.grid
        assert grid == high.grid
        for epsilon in (Fraction(i, 3) for i in range(-10, 60, 4)):
            with precision(192):
                ratio = ball(epsilon).exp()
                if epsilon >= 0:
                    exact = closed.delta(epsilon)
                else:  # by the pair in reverse
                    exact = 1 - ratio + ratio * reverse.delta(-epsilon)
                below, above = (_curve_of(measure, ratio) for measure in (low, high))
                assert below.lower() <= exact.upper()
                assert exact.lower() <= above.upper()
                if exact > arb(10) ** -9:
                    assert above.upper() - below.lower() < arb(0.02) * exact + arb(1) / 140


def _curve_of(measure: Measure, ratio: arb) -> arb:
    total = measure.infinity
    for i, (mantissa, power) in enumerate(
        zip(measure.masses.mantissa.tolist(), measure.masses.exponent.tolist(), strict=True)
    ):
        mass = arb(mantissa) * arb(2) ** power
        total += mass * (1 - ratio * (-measure.grid.loss(measure.first + i)).exp()).max(arb(0))
    return total
