"""One step of Laplace noise, in closed form, against integrals of the two densities."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from exactdp.accounting import pld

NOISE = pld.laplace(scale="0.8")
RATE = Fraction(3, 10)


def _noise(x: mpmath.mpf, centre: int) -> mpmath.mpf:
    return mpmath.exp(-abs(x - centre) / mpmath.mpf("0.8")) / mpmath.mpf("1.6")


def _stick(p: tuple[float, ...], q: tuple[float, ...], epsilon: str) -> mpmath.mpf:
    """The integral of (P - e^epsilon Q)+, where a law has such weights at -1, 0 and 1."""
    ratio = mpmath.exp(mpmath.mpf(epsilon))

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        parts = (w * _noise(x, c) for w, c in zip(p, (-1, 0, 1), strict=True))
        other = (w * _noise(x, c) for w, c in zip(q, (-1, 0, 1), strict=True))
        return mpmath.fsum(parts) - ratio * mpmath.fsum(other)

    # P - e^epsilon Q changes its sign between the pieces at most once each
    points = [mpmath.mpf(c) for c in (-60, -1, 0, 1, 60)]
    total = mpmath.mpf(0)
    for low, high in pairwise(points):
        middle = []
        if excess(low) * excess(high) < 0:
            middle = [mpmath.findroot(excess, (low, high), solver="anderson", tol=1e-60)]
        ends = [low, *middle, high]
        for a, b in pairwise(ends):
            if excess((a + b) / 2) > 0:
                total += mpmath.quad(excess, [a, (a + b) / 2, b])
    return total


#: The laws with the user's data and with the neighbours', as weights at -1, 0 and 1.
WITH, WITHOUT = (0, Fraction(7, 10), Fraction(3, 10)), (0, 1, 0)
MIRRORED = (Fraction(3, 10), Fraction(7, 10), 0)
CASES = {
    "plain": (NOISE, [((0, 0, 1), WITHOUT)]),
    "sample": (NOISE.sampled(RATE), [(WITH, WITHOUT), (WITHOUT, WITH)]),
    "replaced": (NOISE.sampled(RATE).replaced(), [(WITH, MIRRORED)]),
    "batch": (
        NOISE.batched(RATE),
        [((Fraction(7, 10), 0, Fraction(3, 10)), (1, 0, 0))],
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.31", "0.7", "1.2"])
@pytest.mark.parametrize("case", CASES)
def test_the_integral_of_two_densities(case: str, epsilon: str) -> None:
    loss, pairs = CASES[case]
    with mpmath.workdps(40):
        weights = [
            tuple(
                tuple(mpmath.mpf(w.numerator) / w.denominator for w in map(Fraction, law))
                for law in pair
            )
            for pair in pairs
        ]
        expected = max(_stick(p, q, epsilon) for p, q in weights)
        delta = loss.delta(epsilon, relative_width="1e-12")
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in (delta.lower, delta.upper))
        assert low - mpmath.mpf("1e-22") <= expected <= high + mpmath.mpf("1e-22")
        assert high - low <= low * mpmath.mpf("1e-11")


@pytest.mark.few(1)
@pytest.mark.parametrize("case", CASES)
def test_below_0_and_beyond_the_largest_loss(case: str) -> None:
    loss, pairs = CASES[case]
    assert loss.delta("2.6").upper == 0
    both = [*pairs, *((q, p) for p, q in pairs)]
    with mpmath.workdps(40):
        expected = max(
            _stick(*(tuple(mpmath.mpf(float(w)) for w in law) for law in pair), "-0.4")
            for pair in both
        )
    delta = loss.delta("-0.4", relative_width="1e-12")
    assert float(delta.lower) == pytest.approx(float(expected), rel=1e-11)
    assert float(delta.upper) == pytest.approx(float(expected), rel=1e-11)
