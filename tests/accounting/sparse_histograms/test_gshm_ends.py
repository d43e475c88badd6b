"""The exact GSHM is the larger of two closed ends; a certified search over all j agrees."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb

from exactdp.accounting import gshm
from exactdp.accounting.sparse_histograms.analysis import Point, largest, setting
from exactdp.accounting.sparse_histograms.overlaps import Overlaps, StaysBelow, Vanish
from exactdp.balls import ball, precision
from exactdp.normal import cdf, pdf, raised_tail


class Appear(Overlaps):
    """The side with the extra counters, exactly: 1 - psi + psi H(epsilon - log psi, mu)."""

    def term(self, n: int | arb, mu: arb) -> arb:
        limit = self.threshold
        loss = limit.rate * n
        psi, t, half = (-loss).exp(), (limit.epsilon + loss) / mu, mu / 2
        other = raised_tail(limit.e_epsilon, half + t, lambda: psi * pdf(half - t))
        return limit.exceeded(n) + psi * cdf(half - t) - other

    def partials(self, n: arb, mu: arb) -> tuple[arb, arb]:
        limit = self.threshold
        loss = limit.rate * n
        psi, u = (-loss).exp(), mu / 2 - (limit.epsilon + loss) / mu
        return limit.rate * psi * cdf(-u), psi * pdf(u)


def searched(k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> arb:
    """The maximum of CSH Lemma 2.7 over every j and both sides, by branch and bound."""
    loss, scale, ratio = setting(Point.of(k, sigma, tau, epsilon))
    threshold = StaysBelow(ratio, loss)
    appear = Appear(threshold, 1, k, k, scale, arb(0))
    vanish = Vanish(threshold, 1, k - 1, k, scale, arb(0))
    return largest([appear, vanish], threshold.exceeded(k))


@pytest.mark.parametrize("seed", range(30))
def test_no_mixed_case_is_worse(seed: int) -> None:
    """Half of the time tau is tuned until both ends agree, which is the hardest case."""
    rng = random.Random(seed)
    k = round(10 ** rng.uniform(0.3, 4))
    epsilon = rng.choice([Fraction(0), Fraction(f"{10 ** rng.uniform(-3, 0.5):.4g}")])
    sigma = Fraction(f"{k**0.5 * 10 ** rng.uniform(-0.5, 1.5):.5g}")
    tau = sigma * Fraction(f"{rng.uniform(0, 6):.4f}")
    target = gshm.delta(k=k, sigma=sigma, tau=1000 * sigma, epsilon=epsilon).upper * 2
    if seed % 2 and Fraction(1, 10**9) < target < 1:
        tau = Fraction(
            gshm.calibrate(
                k=k,
                sigma=sigma,
                epsilon=epsilon,
                delta=target / 2 * Fraction(1_000_001, 1_000_000),
                resolution="1e-6",
            ).tau
            or 0
        )
    delta = gshm.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon)
    with precision(256):
        exact = searched(k, sigma, tau, epsilon)
        assert exact.overlaps(ball(delta.lower).union(ball(delta.upper)))
