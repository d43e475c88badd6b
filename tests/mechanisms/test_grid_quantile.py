"""Quantiles on a grid: laws against a definition in plain numbers, losses, ranks and bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import mpmath
import pytest

from exactdp.errors import InvalidParameter
from exactdp.mechanisms import GridQuantile
from exactdp.samplers import exact_law

F = Fraction


def distance(values: list[int], point: int, rank: F) -> F:
    """How far the ranks of a point among these values are from a rank."""
    low = sum(v < point for v in values)
    high = sum(v <= point for v in values)
    return max(low - rank, rank - high, F(0))


def expected(mechanism: GridQuantile, values: list[int]) -> dict[int, mpmath.mpf]:
    """The law of the definition: the module's docstring, value by value."""
    q, m = mechanism.quantile, mechanism.most
    padded = [0] * mechanism.below + values + [mechanism.points - 1] * mechanism.above
    rank = q * len(values) + mechanism.above
    rate = mechanism.epsilon / (2 * m * max(q, 1 - q))
    with mpmath.workdps(40):
        losses = {x: rate * distance(padded, x, rank) for x in range(mechanism.points)}
        weights = {
            x: mpmath.exp(-mpmath.mpf(loss.numerator) / loss.denominator)
            for x, loss in losses.items()
        }
        total = sum(weights.values())
        return {x: weight / total for x, weight in weights.items()}


def histogram(values: list[int]) -> dict[int, int]:
    return {v: values.count(v) for v in values}


def some_mechanisms() -> Iterator[tuple[GridQuantile, list[int]]]:
    """Mechanisms at which the law can be listed, with data."""
    rng = random.Random(5)
    for _ in range(40):
        points = rng.choice([1, 2, 5, 9])
        mechanism = GridQuantile(
            quantile=rng.choice([F(0), F(1, 4), F(1, 2), F(2, 3), F(1)]),
            points=points,
            epsilon=rng.choice([F(1, 10), F(1), F(3)]),
            most=rng.choice([1, 3]),
            below=rng.choice([0, 0, 2]),
            above=rng.choice([0, 0, 3]),
        )
        yield mechanism, [rng.randrange(points) for _ in range(rng.choice([0, 1, 2, 7]))]


@pytest.mark.parametrize(("mechanism", "values"), list(some_mechanisms()))
def test_the_law_of_draws_is_the_law_of_the_definition(
    mechanism: GridQuantile, values: list[int]
) -> None:
    true = expected(mechanism, values)
    data = histogram(values)
    law = exact_law(lambda source: mechanism.draw(data, source), residual="1e-15")
    stated = mechanism.probabilities(data)
    assert stated.keys() == true.keys()
    for x, p in true.items():
        assert abs(mpmath.mpf(law[x].numerator) / law[x].denominator - p) < 1e-14
        assert float(stated[x].lower) <= float(p) * (1 + 1e-12)
        assert float(p) <= float(stated[x].upper) * (1 + 1e-12)
        assert stated[x].upper - stated[x].lower < 1e-12


def losses(mechanism: GridQuantile, values: list[int], joined: list[int]) -> list[float]:
    before, after = expected(mechanism, values), expected(mechanism, values + joined)
    return [float(mpmath.log(after[x] / before[x])) for x in before]


@pytest.mark.parametrize("q", [F(0), F(1, 4), F(1, 2), F(9, 10)])
@pytest.mark.parametrize("most", [1, 2])
def test_losses_of_all_small_neighbours_lie_in_a_range_of_epsilon(q: F, most: int) -> None:
    """Every table of at most four values on four points, and every user with at most m values."""
    mechanism = GridQuantile(quantile=q, points=4, epsilon=1, most=most)
    widest = 0.0
    tables = [list(t) for n in range(5) for t in combinations_with_replacement(range(4), n)]
    users = [
        list(u) for n in range(1, most + 1) for u in combinations_with_replacement(range(4), n)
    ]
    for values, joined in product(tables, users):
        own = losses(mechanism, values, joined)
        widest = max(widest, max(own) - min(own))
        assert max(map(abs, own)) <= 1 + 1e-12
    assert widest <= 1 + 1e-12
    if (q, most) in [(F(1, 4), 1), (F(1, 2), 1), (F(1, 2), 2)]:
        assert widest > 1 - 1e-12  # attained; others need larger tables


def test_the_loss_of_one_user_comes_close_to_epsilon() -> None:
    """A value at 2 of a long grid; a user adds one at 0. Points above 2 are nearly all, so that
    the point 1 becomes e^epsilon times as likely, up to a part of 1e-5."""
    mechanism = GridQuantile(quantile="1/2", points=10**6, epsilon=1)
    before, after = (mechanism.probabilities(data)[1] for data in ({2: 1}, {0: 1, 2: 1}))
    ratio = float(after.lower / before.upper)
    assert 2.71825 < ratio < 2.7182819


@pytest.mark.parametrize("seed", range(20))
def test_a_released_point_is_off_by_more_ranks_with_a_small_probability(seed: int) -> None:
    rng = random.Random(seed)
    q, points = rng.choice([F(1, 10), F(1, 2), F(3, 4)]), rng.choice([2, 30])
    mechanism = GridQuantile(quantile=q, points=points, epsilon=2, most=rng.choice([1, 2]))
    centre = rng.randrange(points)
    values = [centre] * rng.randrange(1, 60) + [rng.randrange(points) for _ in range(5)]
    bound, law = mechanism.rank_error("0.05"), expected(mechanism, values)
    far = [x for x in law if distance(values, x, q * len(values)) > bound]
    assert sum(law[x] for x in far) <= 0.05


def test_the_rank_error_is_sharp() -> None:
    """All values at one point: other points are equally far, and nearly as likely as allowed."""
    mechanism = GridQuantile(quantile="1/2", points=100, epsilon=1)
    bound = mechanism.rank_error("0.05")
    n = 2 * (int(bound) + 1)
    law = expected(mechanism, [50] * n)
    assert 0.015 < sum(p for x, p in law.items() if x != 50) <= 0.05


@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_on_the_right_side_of_every_quantile(seed: int) -> None:
    """The exact probability that a bound is above, or below, a q-quantile, is at most 2.5 %."""
    rng = random.Random(seed)
    q, points = rng.choice([F(0), F(1, 10), F(1, 2), F(3, 4), F(1)]), rng.choice([2, 12, 40])
    plain = GridQuantile(quantile=q, points=points, epsilon=1, most=rng.choice([1, 2]))
    margin = plain.margin("0.025")
    low = GridQuantile(q, points, 1, plain.most, below=margin)
    high = GridQuantile(q, points, 1, plain.most, above=margin)
    values = [rng.randrange(points) for _ in range(rng.choice([0, 1, 10, 60]))]
    quantiles = [x for x in range(points) if distance(values, x, q * len(values)) == 0]
    below, above = expected(low, values), expected(high, values)
    assert sum(p for x, p in below.items() if x > min(quantiles)) <= 0.025
    assert sum(p for x, p in above.items() if x < max(quantiles)) <= 0.025


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"quantile": "1.5"}, "quantile"), ({"epsilon": 0}, "epsilon"), ({"points": 0}, "points")],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        GridQuantile(**{"quantile": "1/2", "points": 5, "epsilon": 1, **wrong})  # type: ignore[arg-type]
    assert refusal.value.name == name


def test_values_outside_of_the_grid_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="points below 5"):
        GridQuantile(quantile="1/2", points=5, epsilon=1).law({5: 1})
