"""The set of keys: the largest probabilities that privacy allows, and not more."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp.accounting.divergence import hockey_stick
from exactdp.errors import InvalidParameter
from exactdp.mechanisms import PartitionSelection
from exactdp.samplers import SeededSource, exact_law


def _mp(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("0.05", "1e-9"), ("7", "0.2")])
def test_every_inequality_of_privacy_and_no_room(epsilon: str, delta: str) -> None:
    """p(n) and p(n - 1) against the definition, for both outcomes, at 80 digits."""
    mechanism = PartitionSelection.for_target(k=1, epsilon=epsilon, delta=delta)
    with mp.workdps(80):
        growth, d, hair = mp.exp(mpf(epsilon)), mpf(delta), mpf(10) ** -70
        before = _mp(mechanism.chance(0))
        assert before == 0
        for users in range(1, mechanism.half * 3):
            p = _mp(mechanism.chance(users))
            room = [
                growth * before + d - p,
                growth * p + d - before,
                growth * (1 - before) + d - (1 - p),
                growth * (1 - p) + d - (1 - before),
            ]
            assert min(room) >= -(mpf(10) ** -76)  # the error of the 80 digits
            assert p == 1 or min(room[0], room[3]) <= hair  # p cannot be larger
            before = p
    assert mechanism.chance(mechanism.half) >= Fraction(1, 2) > mechanism.chance(mechanism.half - 1)


def test_the_enumerated_delta_is_the_target() -> None:
    mechanism = PartitionSelection.for_target(k=1, epsilon=1, delta="0.01")
    worst = Fraction(0)
    for users in range(12):
        with_, without = (
            exact_law(lambda source, n=n: tuple(mechanism.draw({"a": n, "b": 3}, source)))
            for n in (users + 1, users)
        )
        for p, q in ((with_, without), (without, with_)):
            worst = max(worst, hockey_stick(p, q, epsilon=1).upper)
    assert Fraction(99999999, 10**10) <= worst <= Fraction(1, 100) * (1 + Fraction(1, 10**12))


def test_two_keys_keep_the_promise_together() -> None:
    mechanism = PartitionSelection(2, "0.6", "0.01", 1, "0.1")
    laws = [
        exact_law(lambda source, n=n: tuple(mechanism.draw({"a": n, "b": n + 2}, source)))
        for n in (2, 3)
    ]
    for p, q in (laws, laws[::-1]):
        assert hockey_stick(p, q, epsilon=1).upper <= mechanism.guarantee.delta.upper
    with pytest.raises(InvalidParameter, match="delta"):
        PartitionSelection(2, "0.6", "0.01", 1, "0.09")


def test_many_keys_take_the_better_composition() -> None:
    few, many = (PartitionSelection.for_target(k=k, epsilon=1, delta="1e-6") for k in (2, 200))
    assert few.key_epsilon == Fraction(1, 2)
    assert many.key_epsilon > 3 * Fraction(1, 200)
    assert many.guarantee.delta.upper <= Fraction(1, 10**6)
    plain = PartitionSelection(200, "1/200", "5e-9", 1, "1e-6")
    assert many.half < plain.half / 2


@pytest.mark.slow
def test_draws() -> None:
    """alpha = 1e-6: six deviations of a binomial."""
    mechanism, source = PartitionSelection.for_target(k=1, epsilon=1, delta="1e-5"), SeededSource(3)
    users, count = mechanism.half, 4000
    seen = sum(
        mechanism.draw({"x": users, "y": 10**9, "z": 0}, source) == ["x", "y"] for _ in range(count)
    )
    p = float(mechanism.chance(users))
    assert abs(seen - count * p) < 6 * (count * p * (1 - p)) ** 0.5
    with pytest.raises(InvalidParameter, match="key_epsilon"):
        PartitionSelection.for_target(k=1, epsilon="1e-9", delta="1e-9").chance(5)
