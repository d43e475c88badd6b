"""The generator of long compositions against closed forms."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

pytest.importorskip("mpmath")

from mpmath import mp, mpf

from vectors.generate.contour import Lattice, Rule, composed, solved
from vectors.generate.normal import hockey
from vectors.generate.rules import (
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pair,
)
from vectors.generate.shares import in_integers, on_lattice

DIGITS = 75


def near(value: mpf, expected: mpf, digits: int) -> bool:
    return bool(abs(value - expected) < mpf(10) ** -digits * abs(expected))


def normal(sigma: int, level: int) -> Rule:
    return gaussian(*pair([(mpf(1), 1 / mpf(sigma))], mpf(1), "remove"), level // 2 - 1)


def response(epsilon: mpf) -> Rule:
    own = 1 / (1 + mp.exp(-epsilon))
    return [(epsilon, own), (-epsilon, 1 - own)]


@pytest.mark.slow
def test_gaussians_are_one_gaussian() -> None:
    with mp.workdps(DIGITS):
        on, value = composed(lambda level: [(normal(16, level), 64)], mpf(2))
        assert near(value, hockey(mpf(2), mpf(1) / 2), 42)
        shared = in_integers(lambda level: [(normal(16, level), 64)], mpf(2), on.theta, value)
        assert [near(value, other, 4) for other, _ in shared] == [True]


@pytest.mark.slow
def test_epsilon_of_gaussians() -> None:
    with mp.workdps(DIGITS):
        target = hockey(mpf(3), mpf(1))
        _, epsilon = solved(lambda level: [(normal(8, level), 64)], target)
        assert near(epsilon, mpf(3), 40)


def test_responses_are_binomial() -> None:
    """e^epsilon = 2 for each of twenty, asked at 2^6: a rational number."""
    times, level = 20, 6
    exact = Fraction(0)
    for lies in range(times + 1):
        p, q = (Fraction(comb(times, lies) * 2**k, 3**times) for k in (times - lies, lies))
        exact += max(p - 2**level * q, Fraction(0))
    with mp.workdps(DIGITS):
        unit = mp.log(2)
        rule, expected = response(unit), mpf(exact.numerator) / exact.denominator
        lattice = Lattice(mpf(0), 2 * unit)
        _, value = composed(lambda _: [(rule, times)], level * unit + unit / 2, lattice)
        _, below = composed(lambda _: [(rule, times)], level * unit - unit / 2, lattice)
        assert value < expected < below
        counted = on_lattice(lambda _: [(rule, times)], level * unit, value, unit)
        assert near(counted, expected, 9)
        _, value = composed(lambda _: [(rule, times)], level * unit, lattice)
        assert near(value, expected, 42)


def test_a_loss_beside_the_lattice_is_an_error() -> None:
    """Two lines would agree on the wrong value."""
    with mp.workdps(DIGITS), pytest.raises(ArithmeticError, match="not on the lattice"):
        unit = mp.log(3)
        composed(lambda _: [(response(unit), 9)], mpf(2), Lattice(mpf(0), unit * (1 + mp.eps**0.2)))


def test_moments_of_laplace_noise() -> None:
    """E e^(sL) has a closed form (Mironov 2017, Proposition 6)."""
    with mp.workdps(DIGITS):
        for scale, alpha in (mpf(1) / 2, mpf(3)), (mpf(4), mpf(11) / 2):
            rule = laplace(*pair([(mpf(1), 1 / scale)], mpf(1), "remove"), 0)
            moment = mp.fsum(w * mp.exp((alpha - 1) * loss) for loss, w in rule)
            parts = alpha * mp.exp((alpha - 1) / scale), (alpha - 1) * mp.exp(-alpha / scale)
            assert near(moment, sum(parts) / (2 * alpha - 1), 60)


def test_noise_on_integers_point_by_point() -> None:
    with mp.workdps(40):
        each, shift, variance = mpf(1) / 4, 3, mpf(7)
        masses = {z: mp.tanh(each / 2) * mp.exp(-each * abs(z)) for z in range(-500, 500)}
        delta = _delta(discrete_laplace(each, shift), mpf(1) / 3)
        assert near(delta, _excess(masses, shift, mpf(1) / 3), 35)
        bell = {z: mp.exp(-z * z / (2 * variance)) for z in range(-60, 61)}
        total = mp.fsum(bell.values())
        expected = _excess({z: m / total for z, m in bell.items()}, 1, mpf(1) / 3)
        assert near(_delta(discrete_gaussian(variance), mpf(1) / 3), expected, 35)


def _delta(rule: Rule, epsilon: mpf) -> mpf:
    return mp.fsum(w * -mp.expm1(epsilon - loss) for loss, w in rule if loss > epsilon)


def _excess(masses: dict[int, mpf], shift: int, epsilon: mpf) -> mpf:
    moved = {z + shift: m for z, m in masses.items()}
    return mp.fsum(
        max(m - mp.exp(epsilon) * masses.get(z, mpf(0)), mpf(0))
        for z, m in moved.items()
        if z in masses
    )


def test_what_does_not_settle_is_an_error() -> None:
    """Atoms on no lattice: the integrand does not fall off."""
    with mp.workdps(DIGITS), pytest.raises(ArithmeticError, match="does not"):
        composed(lambda _: [(response(mpf(1)), 3)], mpf(2))
