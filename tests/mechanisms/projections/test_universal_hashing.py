"""Hash functions: every function of small words counted, large keys against plain integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from exactdp.mechanisms.projections.universal_hashing import (
    UniversalHashes,
    collision_bound,
    words_per_key,
)
from exactdp.samplers import SeededSource


def every_function(word_bits: int) -> np.ndarray:
    """All coefficients (a_0, a_1, b) of words of so few bits, one function per row."""
    return np.array(list(product(range(1 << word_bits), repeat=3)), np.uint64)


def mixed_values(word_bits: int) -> np.ndarray:
    """v of every function (row) and every key (column)."""
    words, keys = every_function(word_bits), 1 << word_bits
    hashes = UniversalHashes(keys, 1 << word_bits // 2, words, word_bits)  # a row for each v
    prepared = hashes.keys(range(keys))
    return np.array([hashes.rows(prepared, level) for level in range(len(words))])


def test_half_words_are_uniform_and_pairwise_independent() -> None:
    """All 4096 functions of keys of 4 bits: every pair of values equally often."""
    values = mixed_values(4)
    for x, y in combinations(range(16), 2):
        counts = np.bincount(values[:, x] * 4 + values[:, y], minlength=16)
        assert set(counts.tolist()) == {4096 // 16}


@pytest.mark.few(2)
@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_collisions(s: int) -> None:
    """Of all functions of 4-bit words: no more than the rows' largest number of values allows."""
    hashes = UniversalHashes(16, s, every_function(4), 4)
    keys = hashes.keys(range(16))
    rows = np.array([hashes.rows(keys, level) for level in range(4096)])
    most = max((rows[:, x] == rows[:, y]).mean() for x, y in combinations(range(16), 2))
    assert most <= -(-4 // s) / 4  # 4 values v, as a half word has 2 bits


def test_the_bound_of_collisions() -> None:
    for s in (1, 3, 1000, 2**31 - 1, 2**32):
        values = max(-(-(2**32 * (r + 1)) // s) - -(-(2**32 * r) // s) for r in range(min(s, 50)))
        assert collision_bound(s) >= Fraction(values, 2**32) >= Fraction(1, s) - Fraction(1, 2**32)
        assert collision_bound(s) - Fraction(1, s) < Fraction(1, 2**32)


@pytest.mark.parametrize(
    ("d", "s"), [(1, 1), (10**6, 1000), (2**64, 2**31 - 1), (2**64 + 1, 2**31), (2**300, 3 << 29)]
)
def test_rows_against_integers(d: int, s: int) -> None:
    """The same by Python's integers."""
    hashes = UniversalHashes.draw(3, d, s, SeededSource(5))
    source = SeededSource(6)
    ids = [source.below(d) for _ in range(300)] + [0, d - 1]
    keys = hashes.keys(ids)
    for level in range(3):
        a = [int(x) for x in hashes.words[level]]
        for x, row in zip(ids, hashes.rows(keys, level).tolist(), strict=True):
            halves = [x >> 32 * i & 0xFFFFFFFF for i in range(2 * words_per_key(d))]
            pairs = range(0, len(halves), 2)
            mixed = sum((halves[i + 1] + a[i]) * (halves[i] + a[i + 1]) for i in pairs) + a[-1]
            assert row == (mixed % 2**64 >> 32) * s >> 32


@pytest.mark.parametrize("d", [5, 2**64, 2**100])
def test_bytes(d: int) -> None:
    hashes = UniversalHashes.draw(2, d, 7, SeededSource(5))
    data = hashes.to_bytes()
    assert len(data) == UniversalHashes.size(2, d)
    again = UniversalHashes.from_bytes(data, 2, d, 7)
    assert (again.words == hashes.words).all()
