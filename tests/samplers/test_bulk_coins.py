"""Coins in bulk: enumerated toss by toss for words of one to three lanes, then counted."""

from __future__ import annotations

import threading
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.errors import RandomnessError
from exactdp.law import Law
from exactdp.samplers import SeededSource, Source, SystemSource, exact_law
from exactdp.samplers import bulk_coins as module
from exactdp.samplers.bulk_coins import packed
from exactdp.samplers.coin_patterns import COINS, CoinPatterns
from tests.distributions import binomial_test
from tests.samplers.bitwise import Bitwise, assert_encloses, bitwise_law, joint

F = Fraction
CHANCES = [F(0), F(1), F(1, 2), F(3, 4), F(3, 8), F(1, 5), F(2, 3), F(1, 33), F(10**40 - 1, 10**40)]


def independent(p: Fraction, n: int) -> Law[tuple[int, ...]]:
    return joint([Law({1: p, 0: 1 - p})] * n)


def bits_of(words: np.ndarray, n: int, lanes: int) -> tuple[int, ...]:
    return tuple(int(words[i // lanes]) >> i % lanes & 1 for i in range(n))


@pytest.mark.few(23)
@pytest.mark.parametrize("p", CHANCES, ids=str)
@pytest.mark.parametrize(("n", "lanes", "early"), [(1, 1, 0), (2, 1, 1), (2, 2, 0), (3, 2, 1)])
def test_every_toss_enumerated(
    p: Fraction, n: int, lanes: int, early: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words set aside at once and later, lanes that are not used, several words: all exact."""
    monkeypatch.setattr(module, "_EARLY", early)
    dyadic = p.denominator in (1, 2, 4, 8)
    residual = F(0) if dyadic else {1: F(1, 2**30), 2: F(1, 2**8), 3: F(1, 2)}[n]

    def program(source: Source) -> tuple[int, ...]:
        return bits_of(packed(n, p, source.words, lanes), n, lanes)

    law = bitwise_law(program, residual)
    assert_encloses(law, independent(p, n))
    assert law.residual == 0 or not dyadic


@pytest.mark.parametrize("p", [F(1, 5), F(3, 8), F(2, 3), F(1, 33)], ids=str)
@pytest.mark.parametrize(
    ("coins", "first", "cells"), [(1, 1, 2), (2, 1, 3), (2, 3, 4), (3, 4, 4), (2, 6, 3)]
)
def test_every_path_through_cells(p: Fraction, coins: int, first: int, cells: int) -> None:
    """So few cells that owned ones, and reading on at several depths, are all enumerated."""
    tables, residual = CoinPatterns(p, coins, first, cells), F(1, 2**12)
    law = bitwise_law(lambda source: int(tables.draw(1, source.words)[0]), residual)
    expected = independent(p, coins)
    for pattern, weight in law.items():
        stated = expected[tuple(pattern >> i & 1 for i in range(coins))]
        assert weight <= stated <= weight + law.residual
    assert len(tables.levels) > 1 or 2**first % p.denominator**coins == 0
    wrong = independent(p + F(1, 50), coins)
    assert any(
        not weight <= wrong[tuple(pattern >> i & 1 for i in range(coins))] <= weight + law.residual
        for pattern, weight in law.items()
    )


def test_two_patterns_read_on_independently() -> None:
    p, tables = F(2, 5), CoinPatterns(F(2, 5), 1, 1, 2)
    law = bitwise_law(lambda source: tuple(tables.draw(2, source.words).tolist()), F(1, 2**8))
    assert_encloses(law, independent(p, 2))


@pytest.mark.parametrize("p", [F(1, 5), F(3, 8), F(10**30 - 1, 10**30), F(1, 10**12)], ids=str)
def test_cells_pay_every_pattern_its_probability(p: Fraction) -> None:
    """The tables that ship, as deep as they go here: what is owned never exceeds what is due."""
    tables, cell, paid = CoinPatterns(p), F(1), [F(0)] * (COINS + 1)
    ones = np.bitwise_count(np.arange(1 << COINS))
    for depth in range(4):
        level = tables.level(depth)
        cell /= 1 << level.bits
        counts = np.bincount(level.table[: level.owned], minlength=1 << COINS)
        for n in range(COINS + 1):
            (each,) = set(counts[ones == n].tolist())  # patterns of as many ones are paid alike
            paid[n] += each * cell
        assert len(level.table) == level.owned + level.nobodys <= 1 << 18
        if not level.nobodys:
            break
    short = [p**n * (1 - p) ** (COINS - n) - paid[n] for n in range(COINS + 1)]
    assert all(0 <= rest < cell for rest in short)
    assert sum(comb(COINS, n) * rest for n, rest in enumerate(short)) == level.nobodys * cell


def test_threads_that_read_on_at_once_make_the_same_tables() -> None:
    p, barrier = F(2, 7), threading.Barrier(4)
    for _ in range(5):
        shared, alone = CoinPatterns(p), CoinPatterns(p)

        def read_on(tables: CoinPatterns = shared) -> None:
            barrier.wait()
            tables.level(5)

        threads = [threading.Thread(target=read_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for depth in range(6):
            assert (shared.level(depth).table == alone.level(depth).table).all()


@pytest.mark.parametrize("p", CHANCES, ids=str)
def test_enumerating_sources_branch_over_the_coins_themselves(p: Fraction) -> None:
    assert exact_law(lambda s: bits_of(s.coins(3, p), 3, 64), residual=0) == independent(p, 3)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 64 * (1 << 14) + 7])
def test_all_parts_and_ends(n: int) -> None:
    words = SeededSource(1).coins(n, F(1))
    assert words.dtype == np.uint64
    assert len(words) == -(-n // 64)
    assert int(np.bitwise_count(words).sum()) == n
    assert not SeededSource(1).coins(n, F(0)).any()


@pytest.mark.parametrize("p", [F(1, 5), F(1, 2), F(3, 4), F(1, 33)], ids=str)
def test_counts_and_bits_read(p: Fraction) -> None:
    """Fixed seed, alpha = 1e-6 each; neighbours, lanes and words alike."""
    n, source = 64 * 20_000, SeededSource(4)
    bits = np.unpackbits(source.coins(n, p).view(np.uint8), bitorder="little")
    assert source.bits_used / n <= {2: 1}.get(p.denominator, 1.3)
    for part in (bits, bits[::64], bits[63::64], bits[:64000], bits[-64000:]):
        assert binomial_test(int(part.sum()), len(part), float(p)) > 1e-6
    both = bits[:-1:2] & bits[1::2]
    assert binomial_test(int(both.sum()), len(both), float(p) ** 2) > 1e-6
    across = bits[:-64] & bits[64:]
    every = across.reshape(-1, 64)[::2].ravel()
    assert binomial_test(int(every.sum()), len(every), float(p) ** 2) > 1e-6


@pytest.mark.parametrize(
    "chances", [[F(0), F(1)], [F(1, 3), F(5, 6)], [F(2, 3), F(1, 6)], [F(1, 8), F(7, 8)]]
)
def test_uneven_coins(chances: list[Fraction]) -> None:
    denominator = 6 if chances[0].denominator != 8 else 8
    numerators = np.array([int(p * denominator) for p in chances])

    def program(source: Source) -> tuple[bool, ...]:
        return tuple(source.uneven_coins(numerators, denominator).tolist())

    expected = joint(Law({True: p, False: 1 - p}) for p in chances)
    assert exact_law(program, residual=0) == expected
    law = exact_law(lambda source: program(Bitwise(source)), residual=F(1, 8))
    assert law.residual < 1
    assert_encloses(law, expected)


@pytest.mark.parametrize("size", [(1 << 62) + 1, 10**30])
def test_uneven_coins_of_a_large_denominator(size: int) -> None:
    numerators = np.array([0, size, size // 3] * 2000)
    coins = SeededSource(9).uneven_coins(numerators, size).reshape(-1, 3)
    assert not coins[:, 0].any()
    assert coins[:, 1].all()
    assert binomial_test(int(coins[:, 2].sum()), 2000, 1 / 3) > 1e-6


def test_bad_input() -> None:
    source = SystemSource()
    for call in (
        lambda: source.coins(-1, F(1, 2)),
        lambda: source.coins(3, F(3, 2)),
        lambda: source.coins(3, float("nan")),
        lambda: source.uneven_coins(np.array([2]), 1),
        lambda: source.uneven_coins(np.array([-1]), 1),
        lambda: source.uneven_coins(np.array([0]), 0),
    ):
        with pytest.raises(InvalidParameter):
            call()


def test_a_source_that_is_not_random_is_given_up() -> None:
    class Ones(SeededSource):
        def take(self, count: int) -> bytes:
            return b"\xff" * count

    with pytest.raises(RandomnessError):
        Ones(1).coins(100, F(1, 3))
