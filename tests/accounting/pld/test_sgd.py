"""Calibrations: what they return holds, and one less does not, by an independent evaluation."""

from fractions import Fraction

import pytest

from exactdp.accounting import gaussian, pld


@pytest.mark.slow
def test_without_sampling_it_is_the_gaussian_calibration() -> None:
    calibration = pld.calibrate_sgd(rate=1, steps=4, epsilon=1, delta="1e-5", resolution="1e-2")
    exact = gaussian.calibrate(epsilon=1, delta="1e-5", sensitivity=2)
    assert calibration.refuted is not None
    assert Fraction(calibration.refuted.value) < Fraction(exact.sigma) * Fraction(1000001, 10**6)
    assert Fraction(exact.sigma) * Fraction(999999, 10**6) < Fraction(calibration.noise_multiplier)


@pytest.mark.slow
def test_most_steps_of_random_allocation_are_whole_epochs() -> None:
    target = {"noise_multiplier": 2, "rate": "0.25", "sampling": "allocated"}
    most = pld.most_steps(epsilon=2, delta="1e-5", **target)
    assert most.steps % 4 == 0
    assert most.too_many == most.steps + 4
    assert pld.sgd(steps=most.steps, **target).delta(2).upper <= Fraction(1, 10**5)
    assert pld.sgd(steps=most.too_many, **target).delta(2).lower > Fraction(1, 10**5)


def test_most_steps_without_sampling() -> None:
    most = pld.most_steps(noise_multiplier=10, rate=1, epsilon=1, delta="1e-5")
    sensitivity = Fraction(most.steps) ** Fraction(1, 2)
    kept = gaussian.delta(sigma=10, epsilon=1, sensitivity=str(round(sensitivity, 12)))
    more = gaussian.delta(sigma=10, epsilon=1, sensitivity=str(round((most.steps + 1) ** 0.5, 12)))
    assert kept.upper <= Fraction(1, 10**5) < more.lower
    assert most.delta.upper <= Fraction(1, 10**5) < most.refuted.lower
