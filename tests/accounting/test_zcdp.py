"""zCDP conversions against mpmath minima of the published objective."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp, mpf

from exactdp import Enclosure
from exactdp.accounting import gaussian, zcdp
from tests.reference import assert_about, to_mp

NARROW = Fraction(1, 10**12)


def objective(alpha: mpf, rho: mpf, epsilon: mpf) -> mpf:
    """Canonne, Kamath, Steinke, Proposition 12, as printed."""
    growth = mpmath.exp((alpha - 1) * (alpha * rho - epsilon))
    return growth / (alpha - 1) * (1 - 1 / alpha) ** alpha


def infimum(rho: mpf, epsilon: mpf) -> mpf:
    """Ternary search over log(alpha - 1): only values of the objective, no derivative."""
    with mp.workdps(80):
        low, high = mpf(-60), mpf(60)
        for _ in range(220):
            x, y = low + (high - low) / 3, high - (high - low) / 3
            fx, fy = (objective(1 + mpmath.exp(w), rho, epsilon) for w in (x, y))
            low, high = (low, y) if fx < fy else (x, high)
        return min(objective(1 + mpmath.exp(low), rho, epsilon), mpf(1))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [2, 0, 1])
def test_the_optimal_rule_is_the_infimum_over_orders(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        rho = Fraction(f"{10 ** rng.uniform(-5, 2):.6e}")
        epsilon = Fraction(f"{10 ** rng.uniform(-3, 2):.6e}")
        with mp.workdps(80):
            expected = infimum(to_mp(rho), to_mp(epsilon))
        assert_about(zcdp.delta(rho=rho, epsilon=epsilon), expected)


def least_epsilon(rho: mpf, delta: mpf) -> mpf:
    """Proposition 12 solved for epsilon, order by order, and the least over all orders."""

    def at(w: mpf) -> mpf:
        alpha = 1 + mpmath.exp(w)
        rest = -mpmath.log(delta) - w + alpha * mpmath.log1p(-1 / alpha)
        return alpha * rho + rest / (alpha - 1)

    with mp.workdps(80):
        low, high = mpf(-60), mpf(60)
        for _ in range(260):
            x, y = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, y) if at(x) < at(y) else (x, high)
        return max(at(low), mpf(0))


@pytest.mark.parametrize("seed", range(3))
def test_epsilon_is_the_least_over_orders(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        rho = Fraction(f"{10 ** rng.uniform(-5, 2):.6e}")
        delta = Fraction(f"{10 ** rng.uniform(-30, -0.01):.6e}")
        with mp.workdps(80):
            expected = least_epsilon(to_mp(rho), to_mp(delta))
        assert_about(zcdp.epsilon(rho=rho, delta=delta), expected)


def test_epsilon_of_the_census() -> None:
    """rho = 2.56 at delta = 1e-10, the budget for persons of the 2020 census."""
    epsilon = zcdp.epsilon(rho="2.56", delta="1e-10")
    assert str(epsilon) == "[17.15830871, 17.15830872]"
    simple = zcdp.epsilon(rho="2.56", delta="1e-10", rule="simple")
    with mp.workdps(40):
        rho = mpf("2.56")
        assert_about(simple, rho + 2 * mpmath.sqrt(rho * 10 * mpmath.log(10)))
    assert zcdp.epsilon(rho="0.01", delta="0.5") == Enclosure.exact(0)
    assert zcdp.epsilon(rho=0, delta="1e-9") == Enclosure.exact(0)


def test_every_single_order_gives_at_least_the_infimum() -> None:
    best = zcdp.delta(rho="0.1", epsilon=1)
    for alpha in ("1.001", 2, 5, "5.5", 6, 7, 50):
        one = zcdp.from_rdp(curve=lambda a: a / 10, epsilon=1, orders=[alpha])
        assert one.lower >= best.lower
        with mp.workdps(60):
            expected = min(
                objective(
                    to_mp(Fraction(alpha)),
                    mpf(1) / 10,
                    mpf(1),
                ),
                mpf(1),
            )
        assert_about(one, expected)
    fine = [1 + Fraction(n, 1000) for n in range(4000, 6000, 4)]
    many = zcdp.from_rdp(curve=lambda a: a / 10, epsilon=1, orders=fine)
    assert best.upper <= many.upper <= best.upper * (1 + Fraction(1, 10**6))


def test_the_simple_rule_solves_its_equation() -> None:
    for rho, epsilon in (("0.01", "0.5"), ("1e-6", "0.01"), ("2", "30")):
        with mp.workdps(60):
            r, e = to_mp(Fraction(rho)), to_mp(Fraction(epsilon))
            root = mpmath.findroot(
                lambda log, r=r, e=e: r + 2 * mpmath.sqrt(r * log) - e, (e - r) ** 2 / (4 * r)
            )
            expected = mpmath.exp(-root)
        assert_about(zcdp.delta(rho=rho, epsilon=epsilon, rule="simple"), expected)
    assert zcdp.delta(rho=1, epsilon="0.9", rule="simple") == Enclosure.exact(1)


@pytest.mark.parametrize("rule", zcdp.RULES)
@pytest.mark.parametrize("epsilon", ["1e-3", "0.35", 1, 20, 800])
@pytest.mark.parametrize("delta", ["0.5", "1e-5", "1e-5000"])
def test_rho_is_the_largest_that_suffices(rule: str, epsilon: str | int, delta: str) -> None:
    rho = zcdp.rho(epsilon=epsilon, delta=delta, rule=rule)
    assert rho.lower * (1 + NARROW) >= rho.upper
    inside = rho.lower * (1 - Fraction(1, 10**9))
    outside = rho.upper * (1 + Fraction(1, 10**9))
    assert zcdp.delta(rho=inside, epsilon=epsilon, rule=rule) <= delta
    assert zcdp.delta(rho=outside, epsilon=epsilon, rule=rule) > delta
    assert zcdp.rho(epsilon=epsilon, delta=delta) >= zcdp.rho(
        epsilon=epsilon, delta=delta, rule="simple"
    )


def test_gaussian_noise_is_no_worse_than_its_rho() -> None:
    for sigma, epsilon in (("1", "1"), ("10", "0.35"), ("0.5", "5")):
        exact = gaussian.delta(sigma=sigma, epsilon=epsilon)
        rho = zcdp.gaussian_rho(sigma2=Fraction(sigma) ** 2)
        optimal, simple = (zcdp.delta(rho=rho, epsilon=epsilon, rule=r) for r in zcdp.RULES)
        assert exact < optimal
        assert optimal < simple
    assert zcdp.gaussian_rho(sensitivity=3, sigma2="0.5") == 9


def test_extreme_parameters() -> None:
    assert zcdp.delta(rho=0, epsilon=0) == Enclosure.exact(0)
    assert zcdp.delta(rho=0, epsilon=1, rule="simple") == Enclosure.exact(0)
    for rho in ("1e-10000", "1e-5", "1", "1e10000"):
        for epsilon in (0, "1e-10000", "1", "1e10000"):
            delta = zcdp.delta(rho=rho, epsilon=epsilon)
            assert 0 <= delta.lower <= delta.upper <= 1
    tiny = zcdp.delta(rho="1e-10000", epsilon=0)  # sqrt(2 rho / e), to first order
    assert Fraction(8577, 10**5004) < tiny.lower < Fraction(8578, 10**5004)


@pytest.mark.parametrize("exponent", [20, 50, 300, 3000])
def test_rho_and_epsilon_that_almost_cancel(exponent: int) -> None:
    """The best order is then close to 1, and delta close to the simple rule's exp(-100)."""
    rho = Fraction(10) ** exponent
    epsilon = rho + 20 * 10 ** (exponent // 2)
    delta = zcdp.delta(rho=rho, epsilon=epsilon)
    simple = zcdp.delta(rho=rho, epsilon=epsilon, rule="simple")
    assert simple.lower / 10**8 < delta.lower <= delta.upper <= simple.upper * (1 + NARROW)
    assert delta.lower * (1 + NARROW) >= delta.upper


def test_a_curve_with_its_own_uncertainty() -> None:
    wide = zcdp.from_rdp(
        curve=lambda a: Enclosure(a / 4, a / 2), epsilon=3, orders=[Fraction(5, 2), 3]
    )
    low, high = (
        zcdp.from_rdp(curve=lambda a, r=r: a * r, epsilon=3, orders=[Fraction(5, 2), 3])
        for r in (Fraction(1, 4), Fraction(1, 2))
    )
    assert (wide.lower, wide.upper) == (low.lower, high.upper)
