"""Laplace, geometric, exponential and randomised response, against sums over their laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

from exactdp.accounting import discrete_laplace, exponential, laplace, randomized_response
from exactdp.accounting.calculator import calculator
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from tests.reference import assert_about, to_mp

PURE: dict[str, dict[str, Any]] = {
    "laplace": {"scale": "3"},
    "discrete-laplace": {"scale": "3", "sensitivity": 2},
    "exponential": {"scale": "3"},
    "randomized-response": {"flip": "0.3", "values": 5},
}


def _excess(p: list[mpf], q: list[mpf], epsilon: str) -> mpf:
    return mpmath.fsum(
        max(a - mpmath.exp(mpf(epsilon)) * b, mpf(0)) for a, b in zip(p, q, strict=True)
    )


@pytest.mark.parametrize(("scale", "epsilon"), [("1", "0.5"), ("0.3", "1.7"), ("7", "0")])
def test_laplace_is_the_integral_of_the_excess(scale: str, epsilon: str) -> None:
    with mp.workdps(30):
        b, factor = mpf(scale), mpmath.exp(mpf(epsilon))
        at = (1 + b * mpf(epsilon)) / 2  # beyond, the density with the user is e^epsilon larger

        def excess(x: mpf) -> mpf:
            return (mpmath.exp(-abs(x - 1) / b) - factor * mpmath.exp(-abs(x) / b)) / (2 * b)

        expected = mpmath.quad(excess, [at, 1, 2, 10, 100, mpmath.inf])
        answer = laplace.delta(scale=scale, epsilon=epsilon)
        assert abs(to_mp(answer.lower) - expected) < mpf("1e-20")


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize(("scale", "epsilon"), [("1", "0.5"), ("2.5", "0"), ("9", "0.1")])
def test_discrete_laplace_is_the_sum_of_the_excess(
    scale: str, epsilon: str, sensitivity: int
) -> None:
    with mp.workdps(40):
        span = range(-900, 900)
        law = {z: mpmath.exp(-abs(z) / mpf(scale)) for z in range(-910, 911)}
        total = mpmath.fsum(law.values())
        p = [law[z - sensitivity] / total for z in span]
        expected = _excess(p, [law[z] / total for z in span], epsilon)
    answer = discrete_laplace.delta(scale=scale, epsilon=epsilon, sensitivity=sensitivity)
    assert_about(answer, expected)


@pytest.mark.parametrize(("flip", "values"), [("0.25", 2), ("0.6", 5)])
def test_randomized_response_is_the_sum_of_the_excess(flip: str, values: int) -> None:
    with mp.workdps(40):
        other = mpf(flip) / (values - 1)
        p = [1 - mpf(flip), other, *[other] * (values - 2)]
        expected = _excess(p, [p[1], p[0], *p[2:]], "0.4")
    answer = randomized_response.delta(flip=flip, values=values, epsilon="0.4")
    assert_about(answer, expected)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "0.9"])
def test_exponential_is_the_worst_of_all_scores(epsilon: str) -> None:
    """No scores exceed delta, and two options with the best scores come near to it."""
    width = Fraction(2, 2)
    answer = exponential.delta(scale=2, epsilon=epsilon)
    largest = mpf(0)
    with mp.workdps(30):
        for options in (2, 3):
            gaps = [mpf(i) / 20 for i in range(-60, 61, 1 if options == 2 else 30)]
            for scores in product(gaps, repeat=options - 1):
                before = [mpf(0), *scores]
                for moves in product([-1, 1], repeat=options):
                    after = [s + move for s, move in zip(before, moves, strict=True)]
                    p, q = ([mpmath.exp(x / 2) for x in each] for each in (before, after))
                    p, q = ([x / mpmath.fsum(each) for x in each] for each in (p, q))
                    largest = max(largest, _excess(p, q, epsilon))
    assert width == exponential.Exponential(scale=2, epsilon=0).largest_loss().lower
    assert to_mp(answer.upper) * mpf("0.999") <= largest <= to_mp(answer.upper)


@pytest.mark.parametrize(("delta", "values"), [("1e-6", 2), ("0.5", 7), (0, 2), (0, 5)])
def test_randomized_response_at_epsilon_0_is_decided(delta: Any, values: int) -> None:
    """delta is rational there, and the least flip has it exactly."""
    calibration = randomized_response.calibrate(epsilon=0, delta=delta, values=values)
    flip = Fraction(calibration.flip)
    assert 1 - flip * Fraction(values, values - 1) <= Fraction(delta)
    smaller = flip - Fraction(calibration.flip - calibration.refuted.value)
    assert 1 - smaller * Fraction(values, values - 1) > Fraction(delta)


@pytest.mark.parametrize("epsilon", [0, "1e-12"])
def test_a_grid_without_an_answer_is_named(epsilon: Any) -> None:
    """The least flip, near 2/3, is larger than all multiples up to 2/3."""
    with pytest.raises(InvalidParameter, match="resolution must be a smaller step"):
        randomized_response.calibrate(epsilon=epsilon, values=3)


@pytest.mark.parametrize("name", PURE)
def test_delta_is_zero_from_the_largest_loss_on(name: str) -> None:
    entry, noise = calculator(name), PURE[name]
    epsilon = entry.least_epsilon(**noise)
    assert entry(**noise, epsilon=epsilon.upper).delta() == Enclosure.exact(0)
    just_below = epsilon.lower * Fraction(999_999_999, 10**9)
    assert entry(**noise, epsilon=just_below).delta().lower > 0
    assert entry(**noise, epsilon=epsilon.upper).check(0).verdict == "proved"
    assert entry(**noise, epsilon=just_below).check(0).verdict == "refuted"


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("delta", ["0", "1e-9", "0.01", "0.7"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "9"])
def test_the_next_smaller_noise_is_refuted(name: str, delta: str, epsilon: str) -> None:
    entry = calculator(name)
    calibration = entry.calibrate(epsilon=epsilon, delta=delta)
    (noise, value), refuted = next(iter(calibration.parameters.items())), calibration.refuted
    assert refuted is not None
    assert calibration.delta.upper <= Fraction(delta) < refuted.delta.lower
    assert 0 < Fraction(value) - Fraction(refuted.value) <= Fraction(value) / 10**8
    fixed: dict[str, Any] = {noise: refuted.value, "epsilon": epsilon}
    assert entry(**fixed).delta().lower > Fraction(delta)


def test_known_scales() -> None:
    assert laplace.calibrate(epsilon=1).scale == 1
    assert laplace.calibrate(epsilon=2, sensitivity=3).scale == Fraction(3, 2)
    assert discrete_laplace.calibrate(epsilon="0.5", sensitivity=3).scale == 6
    assert exponential.calibrate(epsilon="0.1").scale == 20
    assert str(randomized_response.epsilon(flip="0.25")) == "[1.098612288, 1.098612289]"  # ln 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laplace.calibrate(epsilon=0), "epsilon must be > 0 where delta is 0"),
        (lambda: laplace.calibrate(epsilon=1, delta=1), "delta must be >= 0 and < 1"),
        (lambda: laplace.check(scale=1, epsilon=1, delta=-1), "delta must be >= 0 and < 1"),
        (lambda: randomized_response.delta(flip="0.6", epsilon=1), "flip must be at most 1 - 1/v"),
    ],
)
def test_bad_parameters(call: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call()
