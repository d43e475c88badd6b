"""The exact error law: against every string of bits, and against the estimator that ships."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.mechanisms import ALP, LogALP, SignedALP
from exactdp.mechanisms.projections import error_law as module
from exactdp.mechanisms.projections.error_law import estimate_law, wrong_one
from exactdp.mechanisms.projections.hashing import Tables
from exactdp.proofs_check.claims.alp import _model
from exactdp.samplers import SeededSource

F = Fraction


def brute(
    place: Fraction, m: int, flip: Fraction, collision: Fraction, before: int
) -> Law[Fraction]:
    """The law of the error over all strings of bits."""
    wrong, weights = wrong_one(flip, collision), {}
    for y, weight in _model.round_law(place).items():
        ups = [1 - wrong] * before + [1 - flip] * y + [wrong] * (m - y)
        for bits in product((0, 1), repeat=before + m):
            chance = weight
            for bit, up in zip(bits, ups, strict=True):
                chance *= up if bit else 1 - up
            error = _model.estimate(bits) - before - place
            weights[error] = weights.get(error, F(0)) + chance
    return Law(weights)


CASES = [
    (F(0), 5, F(1, 5), F(1, 10), 0),
    (F(5), 5, F(1, 3), F(0), 0),
    (F(7, 3), 6, F(1, 4), F(1, 5), 0),
    (F(1, 2), 4, F(2, 5), F(1, 10), 4),
]


@pytest.mark.parametrize(("place", "m", "flip", "collision", "before"), CASES, ids=range(4))
def test_against_every_string(
    place: Fraction, m: int, flip: Fraction, collision: Fraction, before: int
) -> None:
    law = estimate_law(place, m, flip, collision, before)
    plain = brute(place, m, flip, collision, before)
    for found, stated in (
        (law.mean_absolute(), plain.expectation(abs)),
        (law.mean(), plain.expectation()),
        (law.mean_square(), plain.expectation(lambda e: e * e)),
        *(
            (law.probability(lambda e, t=t: e > t), plain.probability(lambda e, t=t: e > t))
            for t in (-2.01, -0.9, 0.1, 1.3)
        ),
    ):
        assert found.lower <= stated <= found.upper
        assert found.upper - found.lower < F(1, 10**9)
    for beta in (F(1, 2), F(1, 10), F(1, 100)):
        bound = law.bound(beta)
        assert plain.probability(lambda e, b=bound: abs(e) > b + 1e-9) <= beta
        assert plain.probability(lambda e, b=bound: abs(e) >= b - 1e-9) > beta


def test_a_wrong_probability_would_be_noticed() -> None:
    place, m, flip, collision, before = CASES[0]
    law = estimate_law(place, m, flip + F(1, 10**6), collision, before).mean_absolute()
    stated = brute(place, m, flip, collision, before).expectation(abs)
    assert not law.lower <= stated <= law.upper


def test_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few ties told apart, short walks: wider answers, none of them wrong."""
    whole = estimate_law(F(20), 60, F(1, 4), F(1, 10))
    monkeypatch.setattr(module, "_MOST_TIES", 4)
    monkeypatch.setattr(module, "_FAR", 1e-3)
    module._offsets.cache_clear()
    cut = estimate_law(F(20), 60, F(1, 4), F(1, 10))
    module._offsets.cache_clear()
    assert cut.left > 1e-4
    for exact, wide in (
        (whole.mean_absolute(), cut.mean_absolute()),
        (whole.probability(lambda e: e > 2), cut.probability(lambda e: e > 2)),
    ):
        assert wide.lower <= exact.lower <= exact.upper <= wide.upper


@pytest.mark.parametrize("value", ["0", "3.5", "10"])
def test_the_estimator_that_ships_has_this_law(value: str) -> None:
    """Rows of their own, so no collisions: 20000 runs, five standard errors (alpha = 6e-7)."""
    n = 2500
    mechanism = ALP(d=n, k=n, s=2 * n + 1, beta=10, epsilon=1)
    law, source, found = mechanism.error(value, 0), SeededSource(11), []
    from exactdp.mechanisms.projections.sketch import Sketch

    hashes = Tables((tuple(range(n)),) * mechanism.levels)
    for _ in range(8):
        bits = mechanism.draw(dict.fromkeys(range(n), value), hashes, source)
        sketch = Sketch(mechanism, hashes, bits)  # type: ignore[arg-type]
        found.append(sketch._levels(np.arange(n, dtype=np.uint64), mechanism.walk))
    errors = np.concatenate(found) * float(mechanism.cells.width) - float(value)
    for seen, stated in (
        (abs(errors), law.mean_absolute()),
        (errors, law.mean()),
        (errors**2, law.mean_square()),
    ):
        allowed = 5 * seen.std() / len(seen) ** 0.5
        assert abs(seen.mean() - float(stated.upper)) < allowed


@pytest.mark.parametrize("of", [ALP, SignedALP])
def test_bounds_hold_for_the_worst_data(of: type[ALP]) -> None:
    """Every value, all collisions there can be: within the bound as often as stated."""
    mechanism = of(d=10**6, k=10, s=100, beta=12, epsilon=1)
    bound = mechanism.error_bound("0.05")
    for value in ("0", "1.7", "6", "11.9", "12"):
        for collision in ("0", "0.05", "0.1"):
            law = mechanism.error(value, collision)
            beyond = law.probability(lambda e: np.abs(e) > bound)
            assert beyond.upper <= F(1, 20)
    assert bound < 60


def test_bad_input() -> None:
    mechanism = ALP(d=10, k=1, s=3, beta=5, epsilon=1)
    for call in (
        lambda: mechanism.error(-1),
        lambda: mechanism.error("5.1"),
        lambda: mechanism.error(1, "0.9"),
        lambda: mechanism.error(1, "-0.1"),
        lambda: mechanism.error_bound(0),
        lambda: LogALP(d=10, k=1, s=3, beta=50, epsilon=1).error(1),
        lambda: estimate_law(F(3), 2, F(1, 5), F(0)),
        lambda: estimate_law(F(1), 2, F(1, 2), F(0)),
    ):
        with pytest.raises(InvalidParameter):
            call()
