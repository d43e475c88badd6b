"""The curves of the two measures against the exact curve of one step."""

import math
from fractions import Fraction

import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import search
from exactdp.accounting.pld.grid.densities import bounds
from exactdp.accounting.pld.losses.normal import Gaussian, SampledNormal
from exactdp.errors import TooCoarse
from tests.accounting.pld.curves import (
    LAPLACE,
    NORMAL,
    Mixture,
    Noise,
    of_measure,
    of_mixtures,
)

NORMAL_STEP = Fraction(1, 1024)
GAUSSIAN, NOISE = pld.gaussian(sigma=1), pld.laplace(scale=2, sensitivity=3)
NONE: Mixture = [(1, 0)]
THREE: Mixture = [(0.729, 0), (0.243, 0.5), (0.027, 1), (0.001, 1.5)]
MIXED = pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=["0.7", "0.3"])
GROUPED = pld.gaussian(sigma=2).sampled("0.1").grouped(3)


def _back(mixture: Mixture) -> Mixture:
    """The mixture mirrored: in the other order the loss rises with -x."""
    return [(w, -s) for w, s in mixture]


#: Loss, place of the order, noise, and the laws with the user's data and without.
CURVES: dict[str, tuple[pld.Pld, int, Noise, Mixture, Mixture]] = {
    "sampled": (GAUSSIAN.sampled("0.05"), 0, NORMAL, [(0.95, 0), (0.05, 1)], NONE),
    "added": (GAUSSIAN.sampled("0.05"), 1, NORMAL, NONE, [(0.95, 0), (0.05, -1)]),
    "replaced": (
        GAUSSIAN.sampled("0.1").replaced(), 0, NORMAL, [(0.9, 0), (0.1, 1)], [(0.1, -1), (0.9, 0)]
    ),
    "mixture": (MIXED, 0, NORMAL, [(0.7, 1), (0.3, 2)], NONE),
    "mixture, added": (MIXED, 1, NORMAL, NONE, [(0.3, -2), (0.7, -1)]),
    "group": (GROUPED, 0, NORMAL, THREE, NONE),
    "group, added": (GROUPED, 1, NORMAL, NONE, _back(THREE)),
    "laplace": (NOISE, 0, LAPLACE, [(1, 1.5)], NONE),
    "laplace, sampled": (NOISE.sampled("0.2"), 0, LAPLACE, [(0.8, 0), (0.2, 1.5)], NONE),
    "laplace, added": (NOISE.sampled("0.2"), 1, LAPLACE, NONE, [(0.8, 0), (0.2, -1.5)]),
    "laplace, replaced": (
        NOISE.sampled("0.2").replaced(), 0, LAPLACE, [(0.8, 0), (0.2, 1.5)], [(0.8, 0), (0.2, -1.5)]
    ),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CURVES)
def test_the_exact_curve_lies_between(name: str) -> None:
    loss, place, noise, p, q = CURVES[name]
    order = loss.orders()[place]
    unit = order[0][0].unit
    for step in (NORMAL_STEP,) if unit is None else (unit / 64, unit / 256):
        ((below, above, _),) = search.measures(order, step, 96)
        assert below.grid == above.grid
        for epsilon in (-1.4, -0.7, -0.2, -0.04, 0.0, 0.003, 0.02, 0.11, 0.4, 0.99, 1.49, 3.0):
            exact = of_mixtures(p, q, noise, epsilon)
            low, high = of_measure(below, epsilon), of_measure(above, epsilon)
            assert low - 1e-12 <= exact <= high + 1e-12, epsilon
            assert high - low <= 3 * float(step) ** 2 + 1e-12, epsilon


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


@pytest.mark.few(1)
@pytest.mark.parametrize(("mu", "rate"), [(1, 0.05), (2, 0.001), (3, 0.3)])
@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("step", [Fraction(1, 16), Fraction(1, 32)])
def test_steps_wider_than_the_law(mu: int, rate: float, removed: bool, step: Fraction) -> None:
    """Kinks the wrong way are shared out: what is left is below the curve, and not far."""
    share = Fraction(str(rate))
    measures = bounds(SampledNormal(Gaussian(Fraction(mu)), share, removed), step, 96)
    moved, none = [(1 - rate, 0.0), (rate, float(mu))], [(1.0, 0.0)]
    p, q = (moved, none) if removed else (none, _back(moved))
    for epsilon in [-0.3, -0.01, -rate / 2, 0.0, rate / 3, 0.02, 0.3, 1.0, 2.3, 4.0]:
        exact = of_mixtures(p, q, NORMAL, epsilon)
        low, high = (of_measure(m, epsilon) for m in measures)
        assert low - 1e-14 <= exact <= high + 1e-14
        if epsilon > 0.3:
            assert low >= 0.9 * exact - 1e-14
            assert high <= 1.1 * exact + 1e-14


def test_a_step_far_wider_than_the_law_is_refused() -> None:
    with pytest.raises(TooCoarse):
        bounds(Gaussian(Fraction(1, 1000)), Fraction(1), 96)
