"""Uniform integers of different ranges side by side: every bit enumerated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.samplers import SeededSource, Source, exact_law
from exactdp.samplers.bulk_coins import scaled
from tests.samplers.bitwise import assert_encloses, bitwise_law, joint

F = Fraction


def uniform(sizes: list[int]) -> Law[tuple[int, ...]]:
    return joint(Law.uniform(range(size)) for size in sizes)


@pytest.mark.parametrize("sizes", [[], [1], [4], [3], [1, 5], [3, 8, 1], [2, 3]], ids=str)
def test_every_word_enumerated(sizes: list[int]) -> None:
    def program(source: Source) -> tuple[int, ...]:
        return tuple(source.below_each(np.array(sizes, np.int64)).tolist())

    expected = uniform(sizes)
    assert exact_law(program, residual=0) == expected
    law = bitwise_law(program, F(1, 2**6))
    assert set(law) == expected.support
    assert_encloses(law, expected)


@pytest.mark.parametrize(
    ("n", "size", "bits"),
    [(1, 1, 2), (1, 3, 3), (1, 5, 4), (1, 6, 3), (1, 8, 3), (1, 7, 5), (2, 3, 2), (2, 4, 2)],
)
def test_scaled_words_enumerated(n: int, size: int, bits: int) -> None:
    def program(source: Source) -> tuple[int, ...]:
        return tuple(scaled(n, size, source.words, bits).tolist())

    law, expected = bitwise_law(program, F(1, 2**5)), uniform([size] * n)
    assert set(law) == expected.support
    assert_encloses(law, expected)


@pytest.mark.parametrize("size", [1, 3, 2048, 2049, 1 << 24, (1 << 24) + 1, (1 << 61) + 1])
def test_many_of_every_size(size: int) -> None:
    """Fixed seed, alpha = 1e-9: thirds of the range are met equally often."""
    numbers = SeededSource(6).below_many(30_000, size)
    assert numbers.dtype == np.int64
    assert 0 <= numbers.min() <= numbers.max() < size
    if size >= 3:
        thirds = np.bincount(numbers // -(-size // 3), minlength=3)
        assert np.abs(thirds - 10_000).max() < 510
    assert exact_law(lambda s: int(s.below_many(1, 3)[0]), residual=0) == Law.uniform(range(3))


def test_small_and_large_ranges_side_by_side() -> None:
    sizes = np.tile(np.array([1, 3, 1 << 62]), 30_000)
    numbers = SeededSource(5).below_each(sizes).reshape(-1, 3)
    assert not numbers[:, 0].any()
    # alpha = 1e-9 each
    assert np.abs(np.bincount(numbers[:, 1], minlength=3) - 10_000).max() < 510
    assert abs(int((numbers[:, 2] >= 1 << 61).sum()) - 15_000) < 540
    assert numbers[:, 2].max() > 1 << 61


@pytest.mark.parametrize("sizes", [[0], [3, -1], [(1 << 62) + 1]], ids=str)
def test_sizes_are_checked(sizes: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="sizes"):
        SeededSource(1).below_each(np.array(sizes))
