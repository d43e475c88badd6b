"""assert_law and assert_private: exact where possible, statistical otherwise, never silent."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.oracle.assertions import assert_law, assert_private
from exactdp.oracle.recording import recording
from exactdp.samplers import GeoSample

COIN = Law({0: Fraction(1, 2), 1: Fraction(1, 2)})


def respond(bit: int, rng: random.Random) -> int:
    return bit if rng.randrange(4) else 1 - bit


@pytest.mark.slow
def test_an_exact_law() -> None:
    assert assert_law(lambda rng: rng.getrandbits(1), COIN).method == "exact"
    assert assert_law(lambda rng: int(rng.random() < 0.5), COIN).method == "exact"
    assert assert_law(lambda rng: rng.integers(2), COIN, interface="numpy").method == "exact"


def test_a_wrong_law_of_one_part_in_a_million_is_exact_news() -> None:
    with pytest.raises(AssertionError, match="total variation"):
        assert_law(lambda rng: int(rng.randrange(10**6) < 500_001), COIN)


def test_own_samplers() -> None:
    geo = GeoSample(n=2, epsilon=1)
    outcome = assert_law(lambda source: geo.sample(1, source), geo.law(1), interface="source")
    assert outcome.method == "exact"


def test_gauss_is_tested_by_drawing() -> None:
    def sign(rng: random.Random) -> int:
        return int(rng.gauss(0, 1) > 0)

    evidence = assert_law(sign, COIN, samples=20_000)
    assert evidence.method == "statistical"
    assert "alpha = 1e-6" in evidence.text
    assert "gauss" in evidence.text
    with pytest.raises(AssertionError, match="expected with probability"):
        assert_law(sign, Law({0: Fraction(9, 20), 1: Fraction(11, 20)}), samples=20_000)


def test_an_outcome_that_should_not_exist() -> None:
    with pytest.raises(AssertionError, match="2 occurred"):
        assert_law(lambda rng: 2 * (rng.gauss(0, 1) > 0), COIN, samples=500)


@pytest.mark.slow
def test_private() -> None:
    assert assert_private(respond, 0, 1, epsilon="1.0987").method == "exact"
    with pytest.raises(AssertionError, match="refuted"):
        assert_private(respond, 0, 1, epsilon="1.0986")
    assert assert_private(respond, 0, 1, epsilon="1", delta="0.1").method == "exact"


@pytest.mark.slow
def test_a_residual_is_stated_and_a_small_leak_is_not_hidden_by_it() -> None:
    def loop(bit: int, rng: random.Random) -> int:
        while rng.randrange(2):
            pass
        return 0

    assert "is unexplored residual" in str(assert_private(loop, 0, 1, epsilon=1))
    with pytest.raises(AssertionError, match="undecided"):
        assert_private(loop, 0, 1, epsilon=1, tolerance=0)

    def leaky(bit: int, rng: random.Random) -> int:
        return bit if rng.getrandbits(31) == 7 else 0

    with pytest.raises(AssertionError, match="refuted"):
        assert_private(leaky, 0, 1, epsilon=1)


def test_the_statistical_test_gets_the_kind_of_generator_that_the_exact_run_had() -> None:
    def careful(bit: int, rng: random.Random) -> float:
        if not isinstance(rng, random.SystemRandom):
            raise TypeError("not a secure generator")
        return round(bit + rng.gauss(0, 10))

    outcome = assert_private(careful, 0, 1, epsilon=1, delta="0.2", samples=2_000)
    assert outcome.method == "statistical"


@pytest.mark.slow
def test_private_by_drawing() -> None:
    def noisy(value: int, rng: random.Random) -> int:
        return round(16 * (value + rng.gauss(0, 1)))

    evidence = assert_private(noisy, 0, 1, epsilon=1, delta="0.2", samples=20_000)
    assert evidence.method == "statistical"
    with pytest.raises(AssertionError, match="violation"):
        assert_private(noisy, 0, 1, epsilon=1, delta="0.01", samples=50_000)


def test_floating_point_leaks() -> None:
    """Both keep (1, 0.2) on paper; the last bits of 1 + gauss tell it from 0 + gauss."""
    with pytest.raises(AssertionError, match="violation"):
        assert_private(lambda x, rng: x + rng.gauss(0, 1), 0, 1, epsilon=1, delta="0.2")


def test_randomness_from_elsewhere_is_noticed() -> None:
    hidden = random.Random(5)

    def leaky(bit: int, _: Any) -> int:
        return bit if hidden.random() < 0.6 else 1 - bit

    assert assert_private(leaky, 0, 1, epsilon=1, samples=5_000).method == "statistical"


def test_errors_of_the_code_under_test_are_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        assert_law(lambda rng: 1 // rng.getrandbits(1), COIN)


def test_recording() -> None:
    seen: list[str] = []
    with recording(seen.append):
        assert_law(lambda rng: rng.getrandbits(1), COIN)
    assert_law(lambda rng: rng.getrandbits(1), COIN)
    assert len(seen) == 1
    assert seen[0].startswith("exact:")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"interface": "dice"}, "interface must be"),
        ({"tolerance": -1}, "tolerance must be"),
    ],
)
def test_bad_input(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        assert_law(lambda rng: rng.getrandbits(1), COIN, **arguments)
