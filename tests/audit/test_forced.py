"""Laws of numpy's own draws come from numpy's own answers."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from exactdp.audit import private
from exactdp.audit.code import numpy_floats
from exactdp.audit.code.forced import FORCED
from exactdp.audit.code.numpy_laws import binomial_weights

_TOP = (1 << 53) - 1


def once_in_a_while(bit: int, rng: Any) -> int:
    return int(rng.binomial(60_000, 5e-17) > 0) if bit else 0


def any_of_three(bit: int, rng: Any) -> bool:
    return bool((rng.binomial(1000, 1e-17, size=3) > 0).any()) if bit else False


def of_categories(bit: int, rng: Any) -> bool:
    return bool(rng.multinomial(1000, [1e-17, 1 - 1e-17])[0] > 0) if bit else False


@pytest.mark.parametrize("program", [once_in_a_while, any_of_three, of_categories])
def test_a_success_that_numpy_can_draw_is_not_left_out(program: Any) -> None:
    verdict = private(program, 0, 1, epsilon=0, delta=0, interface="numpy").verdict
    assert verdict == "refuted"


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.8, 1.0])
def test_the_law_is_the_binomial_law_up_to_rounding(p: float) -> None:
    n = 20
    weights = binomial_weights(n, p)
    assert weights is not None
    assert sum(weights) == 1
    for x, weight in enumerate(weights):
        exact = math.comb(n, x) * p**x * (1 - p) ** (n - x)
        assert abs(float(weight) - exact) < 1e-12


@pytest.mark.parametrize(("n", "p"), [(1000, 1e-3), (20, 0.3), (20, 0.8)])
def test_chosen_doubles_have_the_outcomes_of_the_law(n: int, p: float) -> None:
    weights = binomial_weights(n, p)
    assert weights is not None
    rising = weights[::-1] if p > 0.5 else weights
    ends = np.cumsum([float(weight) for weight in rising])
    for k in random.Random(1).sample(range(1 << 53), 500):
        u = k * 2.0**-53
        place = int(np.searchsorted(ends, u))
        if min(abs(ends - u)) > 1e-9:
            successes = FORCED.answer("binomial", (n, p), k)
            assert successes == (n - place if p > 0.5 else place)


def test_a_generator_that_is_computed_in_another_way_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p = 0.4142
    sums = numpy_floats.geometric_sums(p)
    assert sums is not None
    assert numpy_floats.is_numpys_geometric(p)
    other = [*sums[:-1], np.nextafter(sums[-1], 0)]
    other[3] = sums[3] - 2.0**-52
    monkeypatch.setattr(numpy_floats, "geometric_sums", lambda _: other)
    numpy_floats.is_numpys_geometric.cache_clear()
    assert not numpy_floats.is_numpys_geometric(p)
    numpy_floats.is_numpys_geometric.cache_clear()


def test_a_draw_that_needs_several_doubles_is_told_apart() -> None:
    assert FORCED.answer("random", (), _TOP) == _TOP * 2.0**-53
    assert FORCED.answer("random", (2,), 5) is None


@pytest.mark.parametrize("words", [2, 3, 4, 5, 9])
def test_draws_of_several_doubles_are_told_from_draws_of_one(words: int) -> None:
    assert FORCED.answer("random", (1,), 3 << 51) == 0.75
    assert FORCED.answer("random", (words,), 3 << 51) is None
