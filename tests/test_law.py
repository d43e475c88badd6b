from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from exactdp import Enclosure, InvalidParameter
from exactdp.accounting.divergence import hockey_stick, max_loss, renyi, total_variation
from exactdp.law import Law

weights = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)
laws = weights.map(lambda w: Law({i: Fraction(x, sum(w)) for i, x in enumerate(w)}))
F = Fraction


def test_construction_is_checked() -> None:
    for bad in ({0: F(1, 2)}, {0: F(3, 2), 1: F(-1, 2)}, {}):
        with pytest.raises(InvalidParameter):
            Law(bad)
    with pytest.raises(InvalidParameter, match="residual"):
        Law({0: F(3, 2)}, F(-1, 2))
    assert Law({0: 1, 1: 0}).support == {0}
    assert Law({0: F(1, 2)}, F(1, 2)).residual == F(1, 2)


def test_algebra() -> None:
    die = Law.uniform(range(1, 7))
    assert die.expectation() == F(7, 2)
    assert die.expectation(lambda x: x * x) == F(91, 6)
    assert die.probability(lambda x: x > 4) == F(1, 3)
    assert die.condition_on(lambda x: x % 2 == 0) == Law.uniform([2, 4, 6])
    assert die.map(lambda x: x % 2)[0] == F(1, 2)
    assert die.product(die).map(sum)[7] == F(1, 6)
    assert die.then(lambda x: Law.uniform(range(x)))[0] == sum(F(1, 6 * x) for x in range(1, 7))
    mix = Law.mixture([(F(1, 4), Law.point("a")), (F(3, 4), Law({"b": F(1, 2)}, F(1, 2)))])
    assert (mix["a"], mix["b"], mix.residual) == (F(1, 4), F(3, 8), F(3, 8))
    assert hash(Law.point(1)) == hash(Law({1: 1}))
    assert Law.uniform("aab")["a"] == F(2, 3)
    assert list(iter(Law.point(3))) == [3]
    assert "residual" in repr(mix) + str(mix)
    assert str(Law.uniform(range(30))).count("\n") == 21
    for call in (
        lambda: mix.condition_on(lambda _: True),
        mix.expectation,
        lambda: Law.uniform([]),
    ):
        with pytest.raises(InvalidParameter):
            call()
    with pytest.raises(InvalidParameter, match="event"):
        die.condition_on(lambda x: x > 9)


@given(laws, laws, st.fractions(1, 5))
def test_hockey_stick_is_the_supremum_over_all_events(
    p: Law[int], q: Law[int], factor: Fraction
) -> None:
    events = chain.from_iterable(combinations(range(4), size) for size in range(5))
    worst = max(sum(p[x] - factor * q[x] for x in event) for event in events)
    assert hockey_stick(p, q, e_epsilon=factor) == Enclosure.exact(worst)
    assert total_variation(p, q) == hockey_stick(p, q, epsilon=0)


@given(laws, laws, st.fractions("0.01", 3))
def test_hockey_stick_at_a_real_factor(p: Law[int], q: Law[int], epsilon: Fraction) -> None:
    divergence = hockey_stick(p, q, epsilon=epsilon)
    with mp.workdps(60):
        factor = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        value = sum(
            max(
                mpf(p[x].numerator) / p[x].denominator - factor * q[x].numerator / q[x].denominator,
                0,
            )
            for x in range(4)
        )
        low = mpf(divergence.lower.numerator) / divergence.lower.denominator
        high = mpf(divergence.upper.numerator) / divergence.upper.denominator
        assert low - mpf(10) ** -50 <= value <= high + mpf(10) ** -50
        assert divergence.width < F(1, 10**25)


@given(laws, laws)
def test_max_loss_and_hockey_stick_agree(p: Law[int], q: Law[int]) -> None:
    loss = max_loss(p, q)
    if loss == math.inf:
        assert hockey_stick(p, q, e_epsilon=10**9) > 0
    else:
        assert loss >= 1
        assert hockey_stick(p, q, e_epsilon=Fraction(loss)) == Enclosure.exact(0)
        if loss > 1:
            assert hockey_stick(p, q, e_epsilon=max(F(1), F(loss) - F(1, 1000))) > 0


def test_renyi() -> None:
    p, q = Law({0: F(2, 3), 1: F(1, 3)}), Law({0: F(1, 3), 1: F(2, 3)})
    for order in ("0.5", "1", "2", "7.25"):
        divergence = renyi(p, q, order=order)
        with mp.workdps(40):
            a = mpf(order)
            if a == 1:
                value = mpf(1) / 3 * mp.log(2)
            else:
                total = (mpf(2) / 3) ** a * (mpf(1) / 3) ** (1 - a)
                total += (mpf(1) / 3) ** a * (mpf(2) / 3) ** (1 - a)
                value = mp.log(total) / (a - 1)
        assert abs(divergence.float_lower() - float(value)) < 1e-14
    assert renyi(p, p, order=3) == Enclosure.exact(0)
    with pytest.raises(InvalidParameter, match="order"):
        renyi(Law.uniform([0, 1]), Law.point(0), order=2)


def test_residual_mass_widens_or_is_refused() -> None:
    p, q = Law({0: F(1, 2), 1: F(1, 4)}, F(1, 4)), Law({0: F(1, 4), 1: F(5, 8)}, F(1, 8))
    divergence = hockey_stick(p, q, e_epsilon=1)
    assert (divergence.lower, divergence.upper) == (F(1, 8), F(1, 2))
    with pytest.raises(InvalidParameter, match="residual"):
        max_loss(p, q)
    with pytest.raises(InvalidParameter, match="residual"):
        renyi(p, q, order=2)


def test_bad_divergence_calls() -> None:
    p = Law.point(0)
    for call in (
        lambda: hockey_stick(p, p),
        lambda: hockey_stick(p, p, epsilon=1, e_epsilon=2),
        lambda: hockey_stick(p, p, e_epsilon="0.5"),
        lambda: hockey_stick(p, p, epsilon=-1),
        lambda: renyi(p, p, order=0),
    ):
        with pytest.raises(InvalidParameter):
            call()
