"""Random sets of given sizes: coins, guesses and lists enumerated, together and each alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from exactdp.local import SubsetSelection
from exactdp.local.random_sets import Effort, ones_of, random_sets
from exactdp.samplers import SeededSource, Source, exact_law
from exactdp.samplers.source import Words
from tests.distributions import binomial_test


def uniform(population: int, size: int) -> dict[int, Fraction]:
    sets = [sum(1 << x for x in chosen) for chosen in combinations(range(population), size)]
    return {one: Fraction(1, comb(population, size)) for one in sets}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("population", "size", "guesses", "width"),
    [(3, 1, 0, 2), (3, 1, 3, 2), (3, 2, 2, 3), (4, 2, 0, 2), (4, 2, 1, 3), (4, 1, 2, 2),
     (5, 3, 0, 3), (5, 2, 1, 3), (3, 0, 2, 3), (3, 3, 2, 2), (33, 1, 1, 7), (33, 32, 1, 6)],
)  # fmt: skip
def test_after_any_number_of_guesses_every_set_is_as_likely(
    population: int, size: int, guesses: int, width: int
) -> None:
    def program(source: Source) -> int:
        effort = Effort(listed=0, guesses=guesses, width=width)
        rows = random_sets(population, np.array([size]), source, effort)
        return int.from_bytes(rows[0].tobytes(), "little")

    law = exact_law(program, residual=0)
    assert {subset: weight for subset, weight in law.items() if weight} == uniform(population, size)


@pytest.mark.parametrize(("population", "width"), [(3, 2), (5, 3), (6, 5), (999, 16), (5000, 32)])
def test_valid_guesses_are_uniform(population: int, width: int) -> None:
    """Every word of a width: as many for each element, and hardly any that is not valid."""
    step = 1 if width <= 16 else population * 65521
    words = np.arange(0, 1 << width, step, dtype=np.uint64)

    class Every(SeededSource):
        def words(self, n: int, bits: int) -> Words:
            assert (n, bits) == (len(words), width)
            return words

    elements, valid = Effort(width=width).guess(population, len(words), Every(1))
    whole, excess = divmod(1 << width, population)
    assert (elements == [int(w) * population >> width for w in words]).all()
    if step == 1:
        assert set(np.bincount(elements[valid]).tolist()) == {whole}
        assert int((~valid).sum()) == excess


@pytest.mark.few(1)
@pytest.mark.parametrize(("listed", "guesses"), [(2, 1), (0, 1), (1, 1)])
def test_two_users_have_independent_sets(listed: int, guesses: int) -> None:
    """Also where one of them is done, set aside or served by a list before the other."""

    def program(source: Source) -> tuple[int, ...]:
        rows = random_sets(3, np.array([1, 2]), source, Effort(listed, guesses, 2))
        return tuple(int.from_bytes(row.tobytes(), "little") for row in rows)

    law = exact_law(program, residual=0)
    first, second = uniform(3, 1), uniform(3, 2)
    assert dict(law.items()) == {(a, b): first[a] * second[b] for a in first for b in second}


@pytest.mark.few(1)
@pytest.mark.parametrize(("population", "size"), [(99, 27), (100, 3), (100, 98), (250, 125)])
def test_very_many_sets(population: int, size: int) -> None:
    """Sizes, every element's share and that of pairs; fixed seed, alpha = 1e-6 each."""
    n = 4000
    sizes = np.where(np.arange(n) % 3, size, size - 1)
    rows = random_sets(population, sizes, SeededSource(7))
    assert (ones_of(rows) == sizes).all()
    marks = np.unpackbits(rows, axis=1, bitorder="little")
    assert not marks[:, population:].any()
    marks = marks[:, :population]
    assert (marks.sum(axis=1) == sizes).all()
    share = float(sizes.mean()) / population
    level = 1e-6 / population
    assert min(binomial_test(int(s), n, share) for s in marks.sum(axis=0)) > level
    full = marks[sizes == size]
    pair = size * (size - 1) / (population * (population - 1))
    for one, two in ((0, 1), (0, population - 1), (3, 40), (population // 2, population // 2 + 8)):
        both = int((full[:, one] & full[:, two]).sum())
        assert binomial_test(both, len(full), pair) > 1e-6


@pytest.mark.parametrize(("k", "size"), [(8, 3), (9, 3), (10, 4), (17, 5), (64, 20), (65, 20)])
def test_rows_that_end_anywhere_in_a_byte(k: int, size: int) -> None:
    """Sizes, the own value's share and the last one's; fixed seed, alpha = 1e-6 each."""
    oracle, n = SubsetSelection(k, 1, size), 6000
    values = np.arange(n) % k
    marks = oracle.form.to_bits(oracle.form.rows(oracle.draw_many(values, SeededSource(k))))
    assert marks.shape == (n, k)
    assert (marks.sum(axis=1) == size).all()
    own = int(marks[np.arange(n), values].sum())
    assert binomial_test(own, n, float(oracle.kept)) > 1e-6
    others = values != k - 1
    last = int(marks[others, k - 1].sum())
    assert binomial_test(last, int(others.sum()), float(oracle.background)) > 1e-6


def test_ones_are_counted_over_parts() -> None:
    rows = np.random.default_rng(3).integers(0, 256, (3000, 125)).astype(np.uint8)
    assert (ones_of(rows) == np.unpackbits(rows, axis=1).sum(axis=1)).all()
    assert ones_of(rows[:0]).shape == (0,)
