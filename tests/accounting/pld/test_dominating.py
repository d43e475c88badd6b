"""Finite pairs that dominate: nowhere below the curve, in both orders, and close above it."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from exactdp.accounting import gshm, pld
from exactdp.accounting.pld.dominating import dominated, dominated_choice, last_epsilon
from exactdp.accounting.pld.losses.finite import FiniteLaws
from exactdp.errors import Undecided

F = Fraction


def delta_of(loss: pld.Pld, epsilon: F, *, turned: bool = False) -> mpmath.mpf:
    """The sum over all outcomes, of the masses that the pair has."""
    ((step, _),) = loss.steps
    law = step.removed
    assert isinstance(law, FiniteLaws)
    p, q = (law.q, law.p) if turned else (law.p, law.q)
    with mpmath.workdps(40):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        masses = [(_real(p[x]), _real(q[x])) for x in p.support | q.support]
        return sum(max(a - growth * b, mpmath.mpf(0)) for a, b in masses)


def _real(number: F) -> mpmath.mpf:
    with mpmath.workdps(40):
        return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("width", ["0.01", "0.3", "2", "12"])
def test_a_choice_is_dominated_in_both_orders(width: str) -> None:
    """The curve (1 - e^((x - w)/2))^2/(1 - e^-w) of bounded range w; from x = w on it is 0."""
    w = F(width)
    loss = dominated_choice(epsilon=w, neighbours=pld.ADD_REMOVE)
    for i in range(60):
        x = w * i / 50
        with mpmath.workdps(40):
            true = mpmath.mpf(0)
            if x < w:
                above = 1 - mpmath.exp((_real(x) - _real(w)) / 2)
                true = above**2 / (1 - mpmath.exp(-_real(w)))
        for turned in (False, True):
            bound = delta_of(loss, x, turned=turned)
            assert true <= bound < true + 0.002 * min(float(w), 1)


def test_counts_are_dominated_beyond_the_last_point_as_well() -> None:
    def delta(epsilon: F) -> F:
        return gshm.delta(k=3, sigma=20, tau=90, epsilon=epsilon).upper

    end = last_epsilon(delta, F(1, 2), F(1, 10**6))
    loss = dominated(delta, end=end, points=40, neighbours=pld.ADD_REMOVE)
    for i in range(100):
        x = end * i / 60
        true = _real(gshm.delta(k=3, sigma=20, tau=90, epsilon=x).lower)
        for turned in (False, True):
            assert true <= delta_of(loss, x, turned=turned) <= true * mpmath.mpf("1.15")


def test_masses_have_few_digits() -> None:
    """A statement allows 60 characters, also for the widest range."""
    loss = dominated_choice(epsilon=40, neighbours=pld.ADD_REMOVE)
    ((step, _),) = loss.steps
    for law in (step.removed.p, step.removed.q):  # type: ignore[attr-defined]
        assert all(10**57 % p.denominator == 0 for _, p in law.items())


def test_ranges_that_no_finite_law_covers_are_undecided() -> None:
    with pytest.raises(Undecided, match="try a smaller epsilon"):
        dominated_choice(epsilon=41, neighbours=pld.ADD_REMOVE)


def test_bounds_that_rise_by_rounding_are_taken_as_flat() -> None:
    """A curve falls, but the enclosures of a flat part end at different last digits."""
    loss = dominated(
        lambda x: F(1, 10) + F(round(x * 10) % 3, 10**24),
        end=F(2),
        points=20,
        neighbours=pld.ADD_REMOVE,
    )
    assert 0 <= delta_of(loss, F(1)) - _real(F(1, 10)) < 1e-7


@pytest.mark.parametrize("width", ["1e-9", "1e-12"])
def test_narrow_choices_are_dominated(width: str) -> None:
    """The largest delta at 0 is tanh(w/4)."""
    loss = dominated_choice(epsilon=width, neighbours=pld.ADD_REMOVE)
    with mpmath.workdps(40):
        true = mpmath.tanh(_real(F(width)) / 4)
        assert true <= delta_of(loss, F(0)) <= 2 * true
