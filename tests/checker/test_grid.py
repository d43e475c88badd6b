"""Grids of any kind bound the delta of random laws, which is summed outcome by outcome."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from tests.checker.examples import dpcheck

Pairs = list[tuple[Fraction, Fraction]]


def _law(rng: random.Random) -> Pairs:
    """Up to five outcomes, some of probability 0 on one side, some with ratios on a grid."""
    if rng.random() < 0.2:
        return [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
    weights = [[rng.choice([0, 1, 2, 3, 50, 1000]) for _ in range(5)] for _ in range(2)]
    sums = [sum(row) or 1 for row in weights]
    if 0 in map(sum, weights):
        return _law(rng)
    return [(Fraction(a, sums[0]), Fraction(b, sums[1])) for a, b in zip(*weights, strict=True)]


def _delta(laws: list[Pairs], epsilon: Fraction) -> mpf:
    """The larger delta of both orders, exactly, with e^epsilon to 80 digits."""
    masses: dict[tuple[Fraction, Fraction], int] = defaultdict(int)
    for outcomes in itertools.product(*laws):
        p = q = Fraction(1)
        for a, b in outcomes:
            p, q = p * a, q * b
        masses[p, q] += 1
    with mp.workdps(80):
        x = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        sums = [mpf(0), mpf(0)]
        for (p, q), count in masses.items():
            for order, (a, b) in enumerate(((p, q), (q, p))):
                gain = mpf(a.numerator) / a.denominator - x * b.numerator / b.denominator
                sums[order] += count * max(gain, mpf(0))
        return max(sums)


def _adaptive(laws: list[Pairs], x: mpf) -> mpf:
    """The largest delta if each law is run in any order, which earlier outcomes may decide."""
    if not laws:
        return max(1 - x, mpf(0))
    first, *rest = laws
    orders = (first, [(q, p) for p, q in first])
    return max(
        sum(_mp(p) * _adaptive(rest, x * _mp(q) / _mp(p)) for p, q in order if p)
        for order in orders
    )


def _mp(number: Fraction) -> mpf:
    return mpf(number.numerator) / number.denominator


def _bound(
    laws: list[Pairs], rule: dict[str, Any], epsilon: Fraction, upper: bool, named: bool = True
) -> Fraction | None:
    releases = [{"mechanism": "finite-law", "times": 1, "outcomes": law} for law in laws]
    try:
        return dpcheck.delta(releases, rule, epsilon, upper, named)
    except dpcheck.Stop:
        return None


def _check(seed: int) -> tuple[int, int]:
    """Whether a bound was found, above and below."""
    rng = random.Random(seed)
    same = [_law(rng)] * rng.randint(1, 4)
    laws = rng.choice([same, [_law(rng) for _ in range(rng.randint(1, 4))]])
    step = rng.choice([Fraction(1, 50), Fraction(1, 7), Fraction(69, 100), Fraction(3)])
    size = rng.choice([5, 30, 150])
    rule = {
        "rule": "grid",
        "step": step,
        "mass_bits": rng.choice([16, 40, 100]),
        "nodes": [[-rng.randint(1, size), rng.randint(0, size)] for _ in laws],
        "window": [-rng.randint(1, 2 * size), rng.randint(0, 2 * size)],
    }
    epsilon = Fraction(rng.choice([0, 10, 69, 100, 300]), 100)
    truth = _delta(laws, epsilon)
    above, below = (_bound(laws, rule, epsilon, upper) for upper in (True, False))
    any_order = _bound(laws, rule, epsilon, upper=True, named=False)
    with mp.workdps(80):
        hair = mpf(10) ** -60
        if above is not None:
            assert _mp(above) >= truth - hair, seed
        if below is not None:
            assert _mp(below) <= truth + hair, seed
        if any_order is not None:
            assert _mp(any_order) >= _adaptive(laws, mp.exp(_mp(epsilon))) - hair, seed
    return above is not None and any_order is not None, below is not None


def test_orders_that_differ_between_runs() -> None:
    """Outcomes (.5, .49, .01) and (.35, .63, .02), twice, epsilon .95: 9.500162e-4 in two ways."""
    law = [
        (Fraction(p), Fraction(q)) for p, q in [("0.5", "0.35"), ("0.49", "0.63"), ("0.01", "0.02")]
    ]
    epsilon = Fraction("0.95")
    with mp.workdps(40):
        x = mp.exp(_mp(epsilon))
        p, q = mpf("0.5") * mpf("0.02"), mpf("0.35") * mpf("0.01")
        assert abs(_adaptive([law, law], x) - (p - x * q)) < mpf(10) ** -30
        assert abs(_delta([law, law], epsilon) - mpf("0.000141421")) < mpf(10) ** -7
    rule = {
        "rule": "grid",
        "step": Fraction(1, 512),
        "mass_bits": 82,
        "nodes": [[-356, 356]] * 2,
        "window": [-720, 720],
    }
    most, least = (_bound([law, law], rule, epsilon, upper, named=False) for upper in (True, False))
    assert most is not None
    assert least is not None
    assert Fraction("0.000950016192395") <= most <= Fraction("0.0019")
    assert least <= Fraction("0.00014143")  # one order for both


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_random_grids(part: int) -> None:
    counts = [_check(seed) for seed in range(10 * part, 10 * part + 10)]
    assert all(sum(column) >= 5 for column in zip(*counts, strict=True))


@pytest.mark.slow
def test_many_random_grids() -> None:
    for seed in range(1000, 3000):
        _check(seed)
