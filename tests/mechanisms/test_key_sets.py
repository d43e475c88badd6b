"""Sets of keys in rounds: sensitivity, leaks by enumeration, and what is released."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.mechanisms import MAD2R, SIPS, WeightedGaussian
from exactdp.mechanisms.key_sets.privacy import Noise, Round
from exactdp.mechanisms.key_sets.weights import Pairs, Rule
from exactdp.samplers import DiscreteGaussian, SeededSource
from tests.reference import cdf, discrete_gaussian, gaussian, leaked

KINDS = (WeightedGaussian, SIPS, MAD2R)


def pairs_of(sets: dict[int, dict[int, int]]) -> Pairs:
    """Pairs from user -> key -> number of the pair."""
    rows = [(u, key, n) for u, own in sorted(sets.items()) for key, n in sorted(own.items())]
    users, keys, order = np.array(rows, object).reshape(-1, 3).T
    return Pairs(users.astype(np.int64), keys.astype(np.int64), order.astype(np.uint64))


@st.composite
def data(draw: st.DrawFn) -> dict[int, dict[int, int]]:
    """Users with sets of up to 6 of 8 keys, each pair with a number of its own; user 0 has keys."""
    sets = {}
    for user in range(draw(st.integers(2, 25))):
        own = draw(st.sets(st.integers(0, 7), min_size=user == 0, max_size=6))
        sets[user] = {key: draw(st.integers(0, 2**40)) for key in own}
    return sets


@pytest.mark.slow
@given(
    data(),
    st.integers(1, 6),
    st.sampled_from((2, 5, 64)),
    st.integers(1, 14),
    st.integers(1, 6),
    st.lists(st.integers(0, 3000), min_size=8, max_size=8),
)
def test_one_more_user_moves_weights_by_at_most_one(
    sets: dict[int, dict[int, int]],
    k: int,
    grid: int,
    degree: int,
    enough: int,
    expected: list[int],
) -> None:
    rule = Rule(k, grid, degree)
    weights, mine = [], set()
    for users in (sets, {u: own for u, own in sets.items() if u}):
        pairs = pairs_of(users)
        kept = pairs.only(pairs.firsts(k))
        mine |= set(kept.keys[kept.users == 0].tolist())
        likely = np.array(expected, np.int64)[kept.keys]
        weights.append(rule.weights(kept, 8, enough * grid, likely, 700).keys)
        seen = set(kept.keys.tolist())
    moved = (weights[0] - weights[1]).tolist()
    assert sum(x * x for x in moved) <= rule.unit**2
    for key in mine - seen:  # new keys
        assert rule.least * rule.degree <= moved[key] <= rule.unit


def reference(
    rule: Rule, pairs: Pairs, enough: int, expected: list[int], needed: int
) -> dict[int, int]:
    """The weights of keys by the definition, user by user and pair by pair."""
    own: dict[int, list[int]] = {}
    for i, user in enumerate(pairs.users.tolist()):
        own.setdefault(user, []).append(i)
    share, offer = {}, {}
    for places in own.values():
        even, left, others = math.isqrt(rule.grid**2 // len(places)), rule.grid**2, 0
        for i in places:
            if expected[i] > needed:
                share[i] = max(even * needed // expected[i], math.isqrt(rule.grid**2 // rule.k))
                left -= share[i] ** 2
            else:
                others += 1
        share |= {i: math.isqrt(left // others) for i in places if i not in share}
        total = sum(share[i] for i in places)
        for i in places:
            most = math.floor(2 * (share[i] - Fraction(total, rule.degree)))
            few = 1 < rule.degree >= len(places)
            offer[i] = max(0, min(share[i], most)) if few else 0
    held: dict[int, int] = {}
    back = dict.fromkeys(own, 0)
    for i in sorted(share, key=lambda i: (int(pairs.order[i]) * ODD % 2**64, pairs.users[i])):
        key, user = int(pairs.keys[i]), int(pairs.users[i])
        kept = min(offer[i], enough - held.get(key, 0))
        held[key] = held.get(key, 0) + kept
        back[user] += offer[i] - kept
        share[i] -= offer[i] - kept
    weights: dict[int, int] = {}
    for i, weight in share.items():
        key, user = int(pairs.keys[i]), int(pairs.users[i])
        weights[key] = weights.get(key, 0) + rule.degree * weight + back[user]
    return weights


ODD = 0x9E3779B97F4A7C15


@pytest.mark.slow
@given(
    data(),
    st.integers(1, 6),
    st.integers(1, 14),
    st.integers(1, 3),
    st.lists(st.integers(0, 3000), min_size=8, max_size=8),
)
def test_weights_are_those_of_the_definition(
    sets: dict[int, dict[int, int]], k: int, degree: int, enough: int, expected: list[int]
) -> None:
    pairs, rule = pairs_of(sets), Rule(k, 64, degree)
    kept = pairs.only(pairs.firsts(k))
    for user, own in sets.items():
        first = sorted(own, key=lambda key: (own[key], key))[:k]
        assert set(kept.keys[kept.users == user].tolist()) == set(first)
    likely = np.array(expected, np.int64)[kept.keys]
    weights = rule.weights(kept, 8, enough * 64, likely, 700).keys
    defined = reference(rule, kept, enough * 64, likely.tolist(), 700)
    assert {key: w for key, w in enumerate(weights.tolist()) if w} == defined


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("_shares", "squared weights"),
        ("_offered", "offers too much"),
        ("firsts", "more than k keys"),
    ],
)
def test_a_wrong_weight_releases_nothing(
    monkeypatch: pytest.MonkeyPatch, fault: str, what: str
) -> None:
    if fault == "_shares":
        monkeypatch.setattr(Rule, fault, lambda self, users, *_: np.full(len(users), self.grid))
    elif fault == "_offered":
        monkeypatch.setattr(Rule, fault, lambda self, users, shares: shares)
    else:
        monkeypatch.setattr(Pairs, fault, lambda self, k: np.arange(len(self)))
    mechanism = MAD2R.for_target(k=2, epsilon=1, delta="1e-3")
    sets = {user: ["a", "b", "c"][: 2 + (fault == "firsts")] for user in range(9)}
    if fault == "_offered":
        object.__setattr__(mechanism, "degree", 2)
        del mechanism.__dict__["_rounds"]
    with pytest.raises(ExactDPError, match=what):
        mechanism.select(*_numbered(sets), SeededSource(1))


def _numbered(sets: dict[int, list[str]]) -> tuple[Pairs, int]:
    pairs, named = Pairs.of(sets)
    return pairs, len(named)


def _tail(z: int, sigma2: Fraction) -> float:
    """P(N_Z(0, sigma2) > z), summed term by term."""
    masses = discrete_gaussian(float(sigma2), 40 * int(math.sqrt(sigma2) + 1))
    return sum(w for n, w in masses.items() if n > z)


@pytest.mark.parametrize("least", [3, 7, 20])
def test_the_rate_is_the_largest_over_all_weights(least: int) -> None:
    each = Round(Fraction(3, 2), 150, 20, least)
    rates = [-math.log1p(-_tail(150 - w, each.noise.sigma2)) * 400 / w**2 for w in range(least, 21)]
    assert max(rates) <= float(each.rate().lower()) <= max(rates) * (1 + 2**-9)


def _law(sigma: Fraction, limits: list[int], weights: list[Any], unit: int) -> dict[Any, float]:
    """The law of the released keys without rerouting; d keys of a user weigh floor(unit/sqrt d).

    weights: the keys of each user.
    """
    laws: dict[Any, float] = {frozenset(): 1.0}
    for limit in limits:
        new: dict[Any, float] = {}
        for gone, p in laws.items():
            offered: dict[str, int] = {}
            for own in weights:
                left = [key for key in own if key not in gone]
                for key in left:
                    offered[key] = offered.get(key, 0) + math.isqrt(unit**2 // len(left))
            chances = {key: _tail(limit - w, (sigma * unit) ** 2) for key, w in offered.items()}
            for released in product((False, True), repeat=len(chances)):
                q = p
                for yes, c in zip(released, chances.values(), strict=True):
                    q *= c if yes else 1 - c
                out = gone | {key for yes, key in zip(released, chances, strict=True) if yes}
                new[out] = new.get(out, 0.0) + q
        laws = new
    return laws


SMALL = [
    ["a"], ["b"], ["a", "b"], ["a", "c"], ["a", "b", "c"], ["b", "c"],
]  # fmt: skip


@pytest.mark.slow
def test_three_rounds_leak_no_more_than_they_promise() -> None:
    """Enumeration of all released sets, for all users with up to three keys, beside five others."""
    unit, sigma, epsilon = 6, Fraction(3), Fraction(1)
    limits, worst = [30, 24, 20], 0.0
    rounds = tuple(Fraction(limit, unit) for limit in limits)
    mechanism = SIPS(3, (sigma,) * 3, rounds, epsilon, "0.9", grid=unit)
    promised = float(mechanism.guarantee.delta.upper)
    others = SMALL[:2]
    without = _law(sigma, limits, others, unit)
    for user in [*SMALL, ["x"], ["x", "y"], ["x", "y", "z"], ["a", "x", "y"]]:
        with_ = _law(sigma, limits, [*others, user], unit)
        worst = max(worst, leaked(with_, without, 1.0))
    assert promised / 4 < worst <= promised


def enumerated(mechanism: Any, sets: Any, sigma2: float, reach: int) -> dict[Any, float]:
    """The law of what is released, by all values of every noise up to +-reach."""
    chances = {z: math.exp(-z * z / (2 * sigma2)) for z in range(-reach, reach + 1)}
    total, law = sum(chances.values()), {}
    paths: list[tuple[int, ...]] = [()]

    class More(Exception):
        pass

    while paths:
        path = paths.pop()
        left = iter(path)

        def scripted(_noise: Any, n: int, _source: Any, left: Any = left) -> list[int]:
            draws = list(islice(left, n))
            if len(draws) < n:
                raise More
            return draws

        with patch.object(DiscreteGaussian, "sample_each", scripted):
            try:
                out = frozenset(mechanism.draw(sets, SeededSource(0)))
            except More:
                paths += [(*path, z) for z in chances]
            else:
                law[out] = law.get(out, 0.0) + math.prod(chances[z] / total for z in path)
    return law


class TwoRounds(SIPS):
    """Two rounds with any noise, few enough to be enumerated."""

    PARTS = (Fraction(1, 2),) * 2

    def __post_init__(self) -> None:
        pass


@pytest.mark.slow
def test_the_code_has_the_law_of_its_definition() -> None:
    sigma, limits, sets = Fraction(2, 5), [3, 2], {0: ["a", "b"], 1: ["a"]}
    mechanism = TwoRounds(2, (sigma,) * 2, (Fraction(3, 2), Fraction(1)), 1, "0.9", grid=2)
    law = enumerated(mechanism, sets, 0.64, 2)
    assert law == pytest.approx(_law(sigma, limits, list(sets.values()), 2), abs=5e-3)
    exact = {frozenset(out): float(p) for out, p in mechanism.law(sets).items()}
    assert exact == pytest.approx(law, abs=5e-3)


@pytest.mark.slow
def test_two_adaptive_rounds_leak_no_more_than_they_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All noises of a user with a shared and a new key, or with either, beside one other user."""
    monkeypatch.setattr(Noise, "spare", 1)
    mechanism = MAD2R(2, ("0.75", "0.75"), ("1.75", "1.5"), 1, "0.99", grid=2, degree=2)
    promised, worst = float(mechanism.guarantee.delta.upper), 0.0
    reach, lost = 8, 4 * 2 * _tail(8, Fraction(9))
    without = enumerated(mechanism, {0: ["a"]}, 9.0, reach)
    for own in (["a", "b"], ["a"], ["b"]):
        with_ = enumerated(mechanism, {0: ["a"], 1: own}, 9.0, reach)
        exact = {frozenset(out): float(p) for out, p in mechanism.law({0: ["a"], 1: own}).items()}
        assert exact == pytest.approx(with_, abs=lost)
        worst = max(worst, leaked(with_, without, 1.0))
    assert promised / 6 < worst <= promised + 2 * lost


def test_one_round_has_the_delta_of_its_larger_end() -> None:
    """Against the two ends, integrated on their own: the noise, and new keys."""
    mechanism = WeightedGaussian.for_target(k=20, epsilon=1, delta="1e-5")
    (sigma,), (threshold,) = mechanism.sigmas, mechanism.thresholds
    noise = float(gaussian(1.0, 1 / float(sigma)))
    new = max(1 - cdf((float(threshold) - d**-0.5) / float(sigma)) ** d for d in range(1, 21))
    delta = float(mechanism.guarantee.delta.upper)
    assert max(noise, new) <= delta * (1 + 1e-4)
    assert delta <= 1.003 * max(noise, new)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_frequent_keys_are_released_and_rare_ones_are_not(kind: Any) -> None:
    mechanism = kind.for_target(k=3, epsilon=1, delta="1e-6")
    sets = {user: ["the", "of", "and", f"only {user}"] for user in range(600)}
    assert mechanism.draw(sets, SeededSource(2)) == ["and", "of", "the"]
    assert mechanism.guarantee.delta.upper <= Fraction(1, 10**6)
    assert mechanism.draw({}, SeededSource(2)) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_half(kind: Any) -> None:
    """alpha = 1e-6: five deviations of a binomial."""
    mechanism = kind.for_target(k=4, epsilon=2, delta="1e-3")
    keys = list("wxyz")
    for users, above in ((mechanism.half, True), (mechanism.half - 1, False)):
        sets = dict.fromkeys(range(users), keys)
        seen = sum("w" in mechanism.draw(sets, SeededSource(n)) for n in range(60))
        if kind is WeightedGaussian:
            assert (seen > 10) if above else (seen < 50)
        assert not above or seen > 10


def test_counts_of_released_keys() -> None:
    """Each of 900 users has six keys and counts for four. alpha = 1e-6: five deviations."""
    mechanism = MAD2R.for_target(k=4, epsilon=2, delta="1e-6", counts="1/2", times=3)
    sigma = float(mechanism.count_sigma or 0)
    pairs, named = Pairs.of(dict.fromkeys(range(900), "abcdef"))
    pairs = Pairs(pairs.users, pairs.keys, SeededSource(1).words(len(pairs), 64).astype(np.uint64))
    keys = mechanism.select(pairs, len(named), SeededSource(1))
    counts = [mechanism.count_users(pairs, keys, SeededSource(n)) for n in range(50)]
    assert [named[i] for i in keys] == list("abcdef")
    assert abs(sum(map(sum, counts)) / 50 - 3600) < 5 * sigma * (6 / 50) ** 0.5
    spread = np.std(np.array(counts), axis=0, ddof=1)
    assert ((0.5 * sigma < spread) & (spread < 1.6 * sigma)).all()
    with pytest.raises(InvalidParameter, match="count_sigma"):
        MAD2R.for_target(k=4, epsilon=2, delta="1e-6").count_users(pairs, keys, SeededSource(1))


def test_several_releases_and_counts_add_up() -> None:
    """Sums of mu^2 and of rates, integrated with plain numbers."""
    mechanism = SIPS.for_target(k=9, epsilon=1, delta="1e-5", times=4, counts="0.3")
    mu2 = (
        4 * sum(float(s) ** -2 for s in mechanism.sigmas)
        + 36 / float(mechanism.count_sigma or 0) ** 2
    )
    rate = 4 * sum(
        max(
            -math.log1p(-(1 - cdf((float(t) - w) / float(s)))) / w**2
            for w in np.linspace(1 / 3, 1, 500)
        )
        for s, t in zip(mechanism.sigmas, mechanism.thresholds, strict=True)
    )
    total = float(gaussian(1.0, mu2**0.5)) + 1 - math.exp(-rate)
    delta = float(mechanism.guarantee.delta.upper)
    assert total <= delta * (1 + 1e-6)
    assert delta <= min(1.01 * total, 1e-5)
