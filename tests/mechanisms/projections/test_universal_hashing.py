"""Hash functions: every function of small words counted, large keys against plain integers."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes, words_per_key
from exactdp.samplers import SeededSource


def every_function(word_bits: int) -> np.ndarray:
    """All coefficients (a_0, a_1, b) of words of so few bits, one function per row."""
    return np.array(list(product(range(1 << word_bits), repeat=3)), np.uint64)


def mixed_values(word_bits: int) -> np.ndarray:
    """v of every function (row) and every key (column)."""
    words, keys = every_function(word_bits), 1 << word_bits
    hashes = UniversalHashes(keys, 1, words, (), word_bits)
    prepared = hashes.keys(range(keys))
    return np.array([hashes._mixed(prepared, level) for level in range(len(words))])


def test_half_words_are_uniform_and_pairwise_independent() -> None:
    """All 4096 functions of keys of 4 bits: every pair of values equally often."""
    values = mixed_values(4)
    for x, y in combinations(range(16), 2):
        counts = np.bincount(values[:, x] * 4 + values[:, y], minlength=16)
        assert set(counts.tolist()) == {4096 // 16}


def test_a_lost_coefficient_would_be_noticed() -> None:
    words = every_function(4)
    words[:, 1] = 0
    hashes = UniversalHashes(16, 1, words, (), 4)
    keys = hashes.keys(range(16))
    values = np.array([hashes._mixed(keys, level) for level in range(len(words))])
    counts = [np.bincount(values[:, 0] * 4 + values[:, y], minlength=16) for y in range(1, 16)]
    assert any(set(c.tolist()) != {256} for c in counts)


@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_exactly_universal(s: int) -> None:
    """Collisions over all words and over every (c, e) of a small prime, for the values sent on."""
    prime, keys = 17, 16
    values = mixed_values(4)
    uneven = 4 % s
    rest = np.array([[(c * x + e) % prime % s for x in range(keys)]
                     for c in range(1, prime) for e in range(prime)])  # fmt: skip
    for x, y in combinations(range(keys), 2):
        v, w = values[:, x], values[:, y]
        sent_x, sent_y = v * s % 4 < uneven, w * s % 4 < uneven
        rows_x, rows_y = v * s // 4, w * s // 4
        both = (sent_x & sent_y).sum() * (rest[:, x] == rest[:, y]).sum()
        neither = (~sent_x & ~sent_y & (rows_x == rows_y)).sum() * len(rest)
        one = np.bincount(rest[:, x], minlength=4)[rows_y[sent_x & ~sent_y]].sum()
        other = np.bincount(rest[:, y], minlength=4)[rows_x[~sent_x & sent_y]].sum()
        total = both + neither + one + other
        assert total * s <= len(values) * len(rest)


@pytest.mark.parametrize(
    ("d", "s"), [(1, 1), (10**6, 1000), (2**64, 2**31 - 1), (2**64 + 1, 2**31), (2**300, 3 << 29)]
)
def test_rows_against_integers(d: int, s: int) -> None:
    """The same by Python's integers, the rare rows of the second family among them."""
    hashes = UniversalHashes.draw(3, d, s, SeededSource(5))
    source = SeededSource(6)
    ids = [source.below(d) for _ in range(300)] + [0, d - 1]
    keys, uneven, sent = hashes.keys(ids), 2**32 % s, 0
    for level in range(3):
        a = [int(x) for x in hashes.words[level]]
        c, e = hashes.rest[level]
        rows = hashes.rows(keys, level)
        for x, row in zip(ids, rows.tolist(), strict=True):
            halves = [x >> 32 * i & 0xFFFFFFFF for i in range(2 * words_per_key(d))]
            pairs = range(0, len(halves), 2)
            mixed = sum((halves[i + 1] + a[i]) * (halves[i] + a[i + 1]) for i in pairs) + a[-1]
            v = mixed % 2**64 >> 32
            if v * s % 2**32 < uneven:
                prime = next(2**m - 1 for m in (61, 89, 127, 521) if 2**m > max(d, 2))
                assert row == (c * x + e) % prime % s
                sent += 1
            else:
                assert row == v * s >> 32
    assert (sent > 0) == (uneven > 2**29)


@pytest.mark.parametrize("d", [5, 2**64, 2**100])
def test_bytes(d: int) -> None:
    hashes = UniversalHashes.draw(2, d, 7, SeededSource(5))
    data = hashes.to_bytes()
    assert len(data) == UniversalHashes.size(2, d)
    again = UniversalHashes.from_bytes(data, 2, d, 7)
    assert (again.words == hashes.words).all()
    assert again.rest == hashes.rest
    with pytest.raises(InvalidParameter, match="hash functions"):
        UniversalHashes.from_bytes(data[:-1] + b"\xff", 2, d, 7)
