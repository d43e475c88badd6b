"""The curves of the two measures against the exact curve of one step."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf

from exactdp.accounting.pld.grid.densities import bounds
from exactdp.accounting.pld.grid.lowering import TooCoarse
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.accounting.pld.laws.base import LossLaw
from exactdp.accounting.pld.laws.normal import Gaussian, SampledNormal

STEP = Fraction(1, 4096)


def _curve(measure: Measure, epsilon: float) -> mpf:
    """delta(epsilon) of a measure, by definition."""
    masses = measure.masses.at(0)
    places = float(measure.grid.offset) + float(measure.grid.step) * (
        measure.first + np.arange(len(masses))
    )
    gain = -np.expm1(epsilon - places)
    value = float((masses * np.where(gain > 0, gain, 0)).sum())
    return mpf(value) + mpf(float(measure.infinity))


def _sampled(rate: mpf, mu: mpf, epsilon: mpf, *, removed: bool) -> mpf:
    """delta(epsilon) of a sampled Gaussian from its two densities, in closed form."""
    x = mp.exp(epsilon)
    ratio = x if removed else 1 / x
    part = ratio - (1 - rate)
    if part <= 0:
        return 1 - x if removed else mpf(0)
    t = mp.log(part / rate) / mu + mu / 2
    if removed:
        return rate * ncdf(mu - t) - (x - 1 + rate) * ncdf(-t)
    return ncdf(t) - x * ((1 - rate) * ncdf(t) + rate * ncdf(t - mu))


CASES = [
    (SampledNormal(Gaussian(Fraction(1)), Fraction(1, 20), removed=True), True),
    (SampledNormal(Gaussian(Fraction(1)), Fraction(1, 20), removed=False), False),
]


@pytest.mark.parametrize(("law", "removed"), CASES)
@pytest.mark.parametrize("epsilon", [-0.04, -0.01, 0.0, 0.003, 0.049, 0.06, 0.3, 1.0])
def test_the_exact_curve_lies_between(law: LossLaw, removed: bool, epsilon: float) -> None:
    below, above = bounds(law, STEP, 96)
    with mp.workdps(40):
        exact = _sampled(mpf(1) / 20, mpf(1), mpf(epsilon), removed=removed)
        rounding = mpf(1e-13)  # of the sums here
        low, high = _curve(below, epsilon), _curve(above, epsilon)
        assert low - rounding <= exact <= high + rounding
        # second order: at most (e^h - 1)^2/8 times the largest density, twice
        assert high - low <= 2 * mpf(float(STEP)) ** 2 / 8 * 40 + 1e-11


@pytest.mark.slow
def test_far_below_the_smallest_double() -> None:
    """Masses below the smallest double are those of the normal density."""
    step = Fraction(1, 256)
    for measure in bounds(Gaussian(Fraction(1)), step, 1200):
        logs = measure.masses.log2()
        for index in (len(logs) - 50, 50):
            loss = float(measure.grid.offset) + float(step) * (measure.first + index)
            log_density = -((loss - 0.5) ** 2) / 2 - math.log(2 * math.pi) / 2
            assert abs(logs[index] - (log_density + math.log(step)) / math.log(2)) < 0.05


@pytest.mark.parametrize(("mu", "rate"), [(1, 0.05), (2, 0.001), (3, 0.3)])
@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("step", [Fraction(1, 16), Fraction(1, 32)])
def test_steps_wider_than_the_law(mu: int, rate: float, removed: bool, step: Fraction) -> None:
    """Kinks the wrong way are shared out: what is left is below the curve, and not far."""
    share = Fraction(str(rate))
    measures = bounds(SampledNormal(Gaussian(Fraction(mu)), share, removed), step, 96)
    for epsilon in [-0.3, -0.01, -rate / 2, 0.0, rate / 3, 0.02, 0.3, 1.0, 2.3, 4.0]:
        with mp.workdps(40):
            exact = _sampled(mpf(rate), mpf(mu), mpf(epsilon), removed=removed)
            low, high = (_curve(m, epsilon) for m in measures)
            assert low - mpf(1e-14) <= exact <= high + mpf(1e-14)
            if epsilon > 0.3:
                assert low >= exact * mpf(0.9) - mpf(1e-14)
                assert high <= exact * mpf(1.1) + mpf(1e-14)


def test_a_step_far_wider_than_the_law_is_refused() -> None:
    with pytest.raises(TooCoarse):
        bounds(Gaussian(Fraction(1, 1000)), Fraction(1), 96)
