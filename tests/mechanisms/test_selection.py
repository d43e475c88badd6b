"""Private choice: the laws that are drawn, and the probabilities that are stated."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.mechanisms import ExponentialMechanism, PermuteAndFlip
from exactdp.samplers import SeededSource
from tests.distributions import chi_square
from tests.reference import permute_and_flip

_UTILITIES = {"a": 3, "b": "2.5", "c": 0, "d": 3, "e": -4}


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_probabilities(kind: type, monotone: bool) -> None:
    mechanism = kind(epsilon="1.5", sensitivity=2, monotone=monotone)
    rate = 1.5 / 2 / (1 if monotone else 2)
    accepted = [math.exp(rate * (float(u) - 3)) for u in _UTILITIES.values()]
    expected = permute_and_flip(accepted)
    if kind is ExponentialMechanism:
        expected = [q / sum(accepted) for q in accepted]
    probabilities = mechanism.probabilities(_UTILITIES)
    assert list(probabilities) == list(_UTILITIES)
    for enclosure, value in zip(probabilities.values(), expected, strict=True):
        assert float(enclosure.lower) == pytest.approx(value, rel=1e-9)
        assert enclosure.upper <= enclosure.lower * (1 + Fraction(1, 10**12))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_draws_have_these_probabilities(kind: type) -> None:
    """alpha = 1e-3, fixed seed."""
    mechanism, source, count = kind(epsilon="1.5"), SeededSource(4), 20_000
    seen = Counter(mechanism.draw(_UTILITIES, source) for _ in range(count))
    expected = {o: float(p.lower) for o, p in mechanism.probabilities(_UTILITIES).items()}
    total = sum(expected.values())
    observed = [seen[option] for option in expected]
    assert chi_square(observed, [count * p / total for p in expected.values()]) > 1e-3
    half = kind(epsilon="0.75").probabilities(_UTILITIES)
    wrong = [count * float(p.lower) for p in half.values()]
    wrong = [value * count / sum(wrong) for value in wrong]
    assert chi_square(observed, wrong) < 1e-9


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_promises(kind: type) -> None:
    mechanism = kind(epsilon="0.5")
    assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta.upper) == (Fraction(1, 2), 0)
    assert mechanism.loss().delta("0.5").upper == 0
    alone = pld.approximate(epsilon="0.5", delta=0).composed(20).epsilon("1e-6")
    assert mechanism.loss().composed(20).epsilon("1e-6").upper < alone.lower
    assert mechanism.choose({"only": 1}) == "only"


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_refusals(kind: type) -> None:
    with pytest.raises(InvalidParameter, match="utilities"):
        kind(epsilon=1).choose({})
    with pytest.raises(InvalidParameter, match="utilities"):
        kind(epsilon=1).choose({"a": float("nan")})
