"""The normal distribution's functions against mpmath, on the real line and off it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import acb, arb
from mpmath import mp, mpc, mpf

from exactdp.balls import ball, precision
from exactdp.normal import cdf, hockey_stick, pdf, raised_tail, tail

F = Fraction


def inside(value: arb, other: mpf) -> bool:
    """Whether a ball holds a number that mpmath gave to 60 digits, up to 50 of them."""
    around = arb(mp.nstr(other, 60, min_fixed=0, max_fixed=0))
    return bool(abs(value - around) <= abs(around) * arb("1e-50")) and bool(
        value.rel_accuracy_bits() > 150
    )


@pytest.mark.parametrize("x", [F(0), F(1, 3), F(-7, 2), F(40), F(-40)])
def test_on_the_real_line(x: Fraction) -> None:
    with precision(256), mp.workdps(70):
        at = mpf(x.numerator) / x.denominator
        assert inside(cdf(ball(x)), mp.ncdf(at))
        assert inside(tail(ball(x)), mp.ncdf(-at))
        assert inside(pdf(ball(x)), mp.npdf(at))


def test_off_the_real_line() -> None:
    with precision(256), mp.workdps(70):
        z, at = acb(arb(3) / 4, arb(-5) / 4), mpc("0.75", "-1.25")
        for ours, other in (
            (cdf(z), mp.erfc(-at / mp.sqrt(2)) / 2),
            (tail(z), mp.erfc(at / mp.sqrt(2)) / 2),
            (pdf(z), mp.exp(-at * at / 2) / mp.sqrt(2 * mp.pi)),
        ):
            assert inside(ours.real, other.real)
            assert inside(ours.imag, other.imag)


@pytest.mark.few(1)
@pytest.mark.parametrize(("epsilon", "mu"), [(F(1), F(1)), (F(0), F(1, 10**20)), (F(-2), F(3))])
def test_the_divergence_is_an_integral(epsilon: Fraction, mu: Fraction) -> None:
    """E(p - e^epsilon q)_+ with p = N(mu, 1), q = N(0, 1), by quadrature."""
    with precision(256), mp.workdps(60):
        e, m = (mpf(x.numerator) / x.denominator for x in (epsilon, mu))
        start = e / m + m / 2
        points = [start, *(start + k for k in range(1, 60, 3))]
        true = mp.quad(lambda x: mp.npdf(x - m) - mp.exp(e) * mp.npdf(x), points)
        divergence = hockey_stick(ball(epsilon), ball(mu))
        assert abs(mpf(str(divergence.mid().str(50, radius=False))) - true) <= abs(true) * mpf(
            "1e-25"
        )


def test_a_factor_beyond_every_exponent() -> None:
    """e^(x^2/2) (1 - Phi(x)) is about 1/(x sqrt(2 pi)), also where e^(x^2/2) is infinite in Arb."""
    with precision(128):
        x = arb(2) ** 40000
        factor = raised_tail((x * x / 2).exp(), x, lambda: 1 / (2 * arb.pi()).sqrt())
        assert factor.is_finite()
        assert factor.overlaps(1 / (x * (2 * arb.pi()).sqrt()))
