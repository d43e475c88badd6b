"""Thresholded histograms: their curves at one release, and what several leak."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from scipy.special import log_ndtr, ndtr

from exactdp.accounting import csh, gaussian, gshm, pld
from exactdp.accounting.pld.losses.curves import CurveLaw, KnownCurve
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure

GSHM = pld.gshm(k=9, sigma=30, tau=110)
CSH = pld.csh(sparsity=4, sigma=12, tau=50)


def _gshm(epsilon: str) -> Enclosure:
    return gshm.delta(k=9, sigma=30, tau=110, epsilon=epsilon)


def _csh(epsilon: str) -> Enclosure:
    return csh.delta(sparsity=4, sigma=12, tau=50, epsilon=epsilon)


def _law(loss: pld.Pld) -> KnownCurve:
    ((step, _),) = loss.steps
    assert isinstance(step.removed, CurveLaw)
    return step.removed.known


@pytest.mark.few(1)
@pytest.mark.parametrize(("loss", "exact"), [(GSHM, _gshm), (CSH, _csh)])
def test_the_law_is_above_the_curve_at_every_epsilon(
    loss: pld.Pld, exact: Callable[[str], Enclosure]
) -> None:
    outcomes, infinite = list(_law(loss).outcomes(96)), float(_law(loss).infinite(96)[0])
    assert all(x.p >= 0 and x.q >= 0 for x in outcomes)
    assert abs(sum(float(x.p) for x in outcomes) + infinite - 1) < 1e-12
    for epsilon in ("0", "0.017", "0.1", "0.333", "0.9", "3"):
        known = exact(epsilon).float_upper()
        e = float(epsilon)
        for at, delta in ((e, known), (-e, 1 - np.exp(-e) + np.exp(-e) * known)):
            gains = (max(float(x.p) - np.exp(at) * float(x.q), 0) for x in outcomes)
            bound = infinite + sum(gains)
            assert delta * (1 - 1e-12) <= bound <= delta * 1.005, at


def test_two_releases_against_integrals() -> None:
    """The worst curve's law is a Gaussian loss between two atoms: its composition by quadrature."""
    from scipy.integrate import quad

    mu, threshold = 0.1, -np.expm1(9 * log_ndtr(110 / 30))

    def curve(epsilon: float) -> float:
        if epsilon < 0:
            return float(-np.expm1(epsilon) + np.exp(epsilon) * curve(-epsilon))
        noise = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        return float(max(noise, threshold))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) <= threshold else (middle, high)
    end, epsilon = high, 0.25
    atom = np.exp(end) * ndtr(-mu / 2 - end / mu)

    def density(loss: float) -> float:
        return (
            math.exp(-((loss / mu - mu / 2) ** 2) / 2)
            / (mu * math.sqrt(2 * math.pi))
            * curve(epsilon - loss)
        )

    places = sorted(max(-end, min(x, end)) for x in (-end, epsilon - end, 0, epsilon, end))
    exact = sum(quad(density, a, b)[0] for a, b in pairwise(places)) + threshold
    exact += atom * (curve(epsilon - end) + np.exp(-end) * curve(epsilon + end))
    bound = GSHM.composed(2).delta("0.25")
    assert exact * (1 - 1e-6) <= bound.float_upper() <= exact * 1.01


def test_the_lower_end_is_at_least_that_of_the_noise_and_of_the_threshold() -> None:
    three = GSHM.composed(3)
    hidden = 1 - Fraction(str(ndtr(110 / 30) ** 27))
    assert three.delta(2).lower >= hidden * Fraction(999, 1000)
    noise = gaussian.delta(sigma=30, sensitivity=Fraction(3 * 1_732_050_807, 10**9), epsilon="0.3")
    bounds = three.delta("0.3")
    assert noise.lower * Fraction(998, 1000) <= bounds.lower <= bounds.upper <= 1


def test_points_that_are_rounded_up_stay_above() -> None:
    exact = [gaussian.delta(sigma=2, epsilon=i * Fraction(1, 8)).upper for i in range(30)]
    raised = [d * (1 + Fraction(i % 3, 50)) for i, d in enumerate(exact)]
    law = KnownCurve(Fraction(1, 8), tuple(raised))
    outcomes = list(law.outcomes(96))
    for i, delta in enumerate(exact):
        bound = float(law.infinite(96)[0]) + sum(
            max(float(x.p) - np.exp(i / 8) * float(x.q), 0) for x in outcomes
        )
        assert float(delta) * (1 - 1e-12) <= bound <= float(raised[i]) * (1 + 1e-12)


def test_rounding_that_would_bend_a_curve_the_wrong_way() -> None:
    """delta(0) is 1 but for 1e-13: rounded up, the curve falls faster after it than any can."""
    exact = [gaussian.delta(sigma="0.067", epsilon=10 * i).upper for i in range(40)]
    raised = (1 - (1 - exact[0]) / 10**6, *exact[1:])
    assert (raised[1] - raised[0]) / (np.exp(10) - 1) < -(1 - raised[0]) / 2
    law = KnownCurve(Fraction(10), raised)
    outcomes, (beyond, _) = list(law.outcomes(96)), law.infinite(96)
    with precision(256):
        assert sum((x.p for x in outcomes), beyond).overlaps(arb(1))
        for i, delta in enumerate(exact):
            x = arb(10 * i).exp()
            bound = sum(((o.p - x * o.q).max(arb(0)) for o in outcomes), beyond)
            assert bound.upper() >= ball(delta)


@pytest.mark.slow
def test_with_others_and_on_samples() -> None:
    both = CSH.then(pld.gaussian(sigma=10))
    assert both.delta("0.5").lower >= pld.gaussian(sigma=10).delta("0.5").lower
    sampled = GSHM.sampled("0.1").delta("0.05")
    assert 0 < sampled.lower <= sampled.upper < GSHM.delta("0.05").lower
