"""The exact error law: against every string of bits, and against the estimator that ships."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from exactdp_proofs.papers.alp import _model

from exactdp import Undecided
from exactdp.enclosure import Enclosure
from exactdp.law import Law
from exactdp.mechanisms import ALP, HistogramALP, LogALP, SignedALP
from exactdp.mechanisms.projections import error_law as module
from exactdp.mechanisms.projections.error_law import estimate_law, wrong_one
from exactdp.mechanisms.projections.unary_projection import Sketch, UnaryProjection
from exactdp.mechanisms.projections.universal_hashing import Tables
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
    (F(3), 6, F(1, 2) - F(1, 10**30), F(0), 0),  # as a double it is 1/2
]


@pytest.mark.parametrize(("place", "m", "flip", "collision", "before"), CASES, ids=range(5))
def test_against_every_string(
    place: Fraction, m: int, flip: Fraction, collision: Fraction, before: int
) -> None:
    law = estimate_law(place, m, flip, collision, before)
    plain = brute(place, m, flip, collision, before)
    for bounds, stated in (
        (law.mean_absolute(), plain.expectation(abs)),
        (law.mean(), plain.expectation()),
        (law.mean_square(), plain.expectation(lambda e: e * e)),
        *(
            (law.probability(lambda e, t=t: e > t), plain.probability(lambda e, t=t: e > t))
            for t in (-2.01, -0.9, 0.1, 1.3)
        ),
    ):
        assert bounds.lower <= stated <= bounds.upper
        assert bounds.upper - bounds.lower < F(1, 10**9)
    for beta in (F(1, 2), F(1, 10), F(1, 100)):
        bound = law.bound(beta)
        assert plain.probability(lambda e, b=bound: abs(e) > b + 1e-9) <= beta
        assert plain.probability(lambda e, b=bound: abs(e) >= b - 1e-9) > beta


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


def shipped(mechanism: UnaryProjection, value: str, n: int, times: int) -> np.ndarray:
    """Estimates of entries of one value in rows of their own, so without collisions."""
    source, hashes = SeededSource(11), Tables((tuple(range(n)),) * mechanism.levels)
    estimates = []
    for _ in range(times):
        bits = mechanism.draw(dict.fromkeys(range(n), value), hashes, source)
        sketch = Sketch(mechanism, hashes, bits)  # type: ignore[arg-type]
        estimates.append(sketch.estimate(range(n)))
    return np.concatenate(estimates)


def within_five_errors(seen: np.ndarray, stated: Enclosure) -> bool:
    """20000 runs, five standard errors: alpha = 6e-7."""
    return abs(seen.mean() - float(stated.upper)) < 5 * seen.std() / len(seen) ** 0.5 + 1e-12


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("of", "value"),
    [(ALP, "0"), (ALP, "3.5"), (ALP, "10"), (SignedALP, "3.5"), (HistogramALP, "7")],
)
def test_the_estimator_that_ships_has_this_law(of: type[ALP], value: str) -> None:
    n = 2500
    mechanism = of(d=n, k=n, s=2 * n + 1, largest=10, epsilon=1)
    law, errors = mechanism.error(value, 0), shipped(mechanism, value, n, 8) - float(value)
    assert within_five_errors(abs(errors), law.mean_absolute())
    assert within_five_errors(errors, law.mean())
    assert within_five_errors(errors**2, law.mean_square())


@pytest.mark.few(1)
@pytest.mark.parametrize("value", ["4", "30", "900"])
def test_factors_of_a_logarithmic_scale(value: str) -> None:
    n, size = 2500, float(value)
    mechanism = LogALP(d=n, k=n, s=2 * n + 1, largest=1000, epsilon=1, start=4)
    estimates = shipped(mechanism, value, n, 8)
    factors, law = np.maximum(estimates / size, size / estimates), mechanism.factor(value, 0)
    assert within_five_errors(factors, law.mean())
    assert within_five_errors(abs(estimates - size), mechanism.error(value, 0).mean_absolute())
    bound = mechanism.factor_bound("0.05")
    for collision in ("0", "0.2", None):
        beyond = mechanism.factor(value, collision).probability(lambda f: f > bound)
        assert beyond.upper <= F(1, 20)


@pytest.mark.parametrize("of", [ALP, SignedALP])
def test_bounds_hold_for_the_worst_data(of: type[ALP]) -> None:
    """Every value, all collisions there can be: within the bound as often as stated."""
    mechanism = of(d=10**6, k=10, s=100, largest=12, epsilon=1)
    bound = mechanism.error_bound("0.05")
    for value in ("0", "1.7", "6", "11.9", "12"):
        for collision in ("0", "0.05", "0.1"):
            law = mechanism.error(value, collision)
            beyond = law.probability(lambda e: np.abs(e) > bound)
            assert beyond.upper <= F(1, 20)
    assert bound < 60


def test_bits_that_say_next_to_nothing() -> None:
    with pytest.raises(Undecided, match="more than 1200 steps need too much memory"):
        estimate_law(Fraction(1500), 3000, Fraction("0.4875"), Fraction(0))
