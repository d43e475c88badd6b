"""One draw at a time: the look-up that ships has exactly the stated law, however it is read."""

from __future__ import annotations

import bisect
from fractions import Fraction

import numpy as np
import pytest

from exactdp.samplers import (
    BernoulliExp,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    RecordingSource,
    ReplaySource,
    SeededSource,
    Source,
    TwoSidedGeometric,
    exact_law,
)
from exactdp.samplers.block_sampler import BlockSampler
from exactdp.samplers.integer_law import IntegerLaw
from exactdp.samplers.inverse_cdf import settle
from exactdp.samplers.table import Table
from tests import distributions
from tests.samplers.bitwise import Bitwise
from tests.samplers.test_bulk import ALPHA, SETS, TABLES, WIDTHS, chi_square
from tests.samplers.tiny import (
    BLOCKS,
    Worded,
    assert_proposals,
    assert_same_law,
    gaussian_blocks,
    tiny_table,
)

F = Fraction


# Tiny words: every path is taken, by words and by bits


@pytest.mark.few(3)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize(("noise", "low", "high"), TABLES, ids=range(10))
def test_tiny_tables_by_words_and_by_bits(
    noise: IntegerLaw, low: int, high: int, widths: tuple[int, int, int]
) -> None:
    table = tiny_table(noise, low, high, widths)
    by_words = exact_law(lambda s: table.sample(Worded(s, table.word_bits)), residual=F(1, 2**9))
    by_bits = exact_law(lambda s: table.sample(Bitwise(s)), residual=F(1, 2**9))
    assert_same_law(by_words, noise)
    assert_same_law(by_bits, noise)


@pytest.mark.few(2)
@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize(("sigma2", "bits", "widths", "share_bits"), BLOCKS)
def test_tiny_blocks_by_words_and_by_bits(
    sigma2: str, bits: int, widths: tuple[int, int, int], share_bits: int, by_words: bool
) -> None:
    blocks = gaussian_blocks(F(sigma2), bits, widths, share_bits)

    def propose(source: Source) -> int | None:
        return blocks.propose(Worded(source, widths[2]) if by_words else Bitwise(source))

    assert_proposals(propose, DiscreteGaussian(sigma2=sigma2), F(1, 2**7))


@pytest.mark.slow
@pytest.mark.parametrize("error", [1e-14, 2.0])
def test_the_whole_loop(error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rejected proposals are drawn anew; with an error of 2, every coin is tossed by balls."""
    monkeypatch.setattr("exactdp.samplers.block_sampler._ERROR", error)
    blocks, noise = gaussian_blocks(F(3), 1, (1, 1, 2), 2), DiscreteGaussian(sigma2=3)
    law = exact_law(lambda source: blocks.sample(Bitwise(source)), residual="0.3")
    assert_same_law(law, noise)


# The tables that ship

BIG: list[tuple[IntegerLaw, int]] = [
    (DiscreteGaussian(sigma2=100), 0),
    (DiscreteGaussian(sigma2=300), 2),
    (DiscreteLaplace(scale=7), 1),
    (TwoSidedGeometric(q="9/10"), 2),
    (Geometric(p="1/12"), 1),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("noise", "bits"),
    [BIG[0], BIG[2], *(pytest.param(*big, marks=pytest.mark.slow) for big in (BIG[1], *BIG[3:]))],
)
def test_full_size_tables_of_blocks_enumerate_to_the_exact_law(
    noise: IntegerLaw, bits: int
) -> None:
    blocks = full_size(noise, bits)
    assert_proposals(lambda source: blocks.propose(Bitwise(source)), noise, F(1, 2**7))


def full_size(noise: IntegerLaw, bits: int) -> BlockSampler:
    if isinstance(noise, DiscreteGaussian):
        return noise._blocks(bits)
    return noise._blocks(int(noise._scale()), bits)  # type: ignore[attr-defined,no-any-return]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "noise",
    [
        DiscreteGaussian(sigma2="1/100"),
        DiscreteGaussian(sigma2=100),
        DiscreteGaussian(sigma2=10**6),
        pytest.param(DiscreteGaussian(sigma2=10**10), marks=pytest.mark.slow),
        DiscreteLaplace(scale="7/3"),
        DiscreteLaplace(scale=10**9),
        Geometric(p="1/1000"),
        Geometric(p="1e-9"),
        TwoSidedGeometric(q="1/3"),
        BernoulliExp(gamma="1/3"),
    ],
    ids=str,
)
def test_the_table_that_ships_at_all_words(noise: IntegerLaw) -> None:
    """Between two neighbouring words of this list nothing can change, so all 2^64 are covered.

    The levels are compared with mpmath in test_bulk; here the look-up is, with them.
    """
    sampler = noise._sampler
    table = sampler.table if isinstance(sampler, BlockSampler) else sampler
    assert isinstance(table, Table)
    levels = [int(level) for level in table._thresholds]
    known = set(levels)
    words = {t + d for t in levels for d in (-1, 0, 1)}
    words |= {(cell << 48) + d for cell in range(0, 2**16, 7) for d in (-1, 0)}
    last = table._first + len(levels)
    beyond = 0
    for word in sorted(words):
        if not 0 <= word < 2**64:
            continue
        z = table._first + bisect.bisect_left(levels, word)
        value = table.find(word)
        if word in known or (z == table._first and table._open_low) or z == last:
            beyond += 1
            if beyond % 97 == 1:  # the slow path, now and then
                assert value is None or value == settle(table.cdf, word, 64)
        else:
            assert value == z


@pytest.mark.parametrize("noise", [DiscreteGaussian(sigma2=300), DiscreteLaplace(scale=40)])
def test_the_look_up_agrees_with_inversion_by_balls_alone(noise: IntegerLaw) -> None:
    table = noise._sampler
    assert isinstance(table, Table)
    words = SeededSource(5).words(300, 64).tolist()
    for word in [0, 1, 2**63 - 1, 2**63, 2**64 - 1, *words]:
        assert table.find(word) == settle(noise._cdf, word, 64)


@pytest.mark.parametrize("noise", [DiscreteGaussian(sigma2=10**10), DiscreteLaplace(scale=10**9)])
def test_coins_of_doubtful_pieces_agree_with_balls_near_their_edge(noise: IntegerLaw) -> None:
    blocks = noise._sampler
    assert isinstance(blocks, BlockSampler)
    rng, floats = np.random.default_rng(3), 0
    for _ in range(40):
        value = int(rng.integers(-3, 3) * 10**5 + rng.integers(0, 10**5))
        coin = blocks._coin(value)
        edge = coin.cdf.bracket(0, 64)[0]
        for away in (-(2**30), -(2**12), -1, 0, 1, 2**12, 2**30):
            word = min(max(edge + away, 0), 2**64 - 1)
            assert coin.find(word) == settle(coin.cdf, word, 64)
        for word in SeededSource(value % 1000).words(20, 64).tolist():
            floats += coin.find(word) is not None
            assert coin.find(word) == settle(coin.cdf, word, 64)
    assert floats == 800


# Reading words and bits


class Few(SeededSource):
    """Reads bit by bit, as a source that is enumerated does."""

    def invert(self, table: Table) -> int:  # type: ignore[override]
        return Source.invert(self, table)


def test_random_bits_stay_near_the_entropy_where_bits_are_few() -> None:
    for noise, entropy in (
        (DiscreteGaussian(sigma2=1), 2.047),
        (DiscreteGaussian(sigma2=10**4), 8.691),
        (DiscreteLaplace(scale=100), 9.0865),
        (BernoulliExp(gamma="1/2"), 0.967),
    ):
        source, other = Few(11), SeededSource(11)
        for _ in range(100):
            noise.sample(source)
            other.inverse_cdf(noise._cdf)
        assert source.bits_used / 100 <= entropy + 3
        assert other.bits_used / 100 <= entropy + 3


def test_a_draw_reads_one_word_or_two() -> None:
    for noise, most in (
        (DiscreteGaussian(sigma2="0.01"), 64),
        (DiscreteLaplace(scale=300), 64),
        (DiscreteGaussian(sigma2=10**20), 128 + 4),
    ):
        source = SeededSource(3)
        for _ in range(400):
            noise.sample(source)
        assert 64 <= source.bits_used / 400 <= most


def test_records_of_draws_replay() -> None:
    for noise in (DiscreteGaussian(sigma2=9), DiscreteLaplace(scale="1e9")):
        recording, plain = RecordingSource(SeededSource(1)), SeededSource(1)
        draws = [noise.sample(recording) for _ in range(500)]
        assert draws == [noise.sample(plain) for _ in range(500)]
        replay = ReplaySource(recording.record)
        assert draws == [noise.sample(replay) for _ in range(500)]


# Words at the edge


class Scripted(SeededSource):
    """Serves one given word first."""

    def __init__(self, word: int) -> None:
        super().__init__(1)
        self._script = [word]

    def word(self) -> int:
        return self._script.pop() if self._script else super().word()


def test_a_word_on_a_step_is_decided_by_further_bits() -> None:
    noise = DiscreteGaussian(sigma2=100)
    level = int(noise._sampler._thresholds[30])  # type: ignore[attr-defined]
    z = noise._sampler._first + 30  # type: ignore[attr-defined]
    assert noise._sampler.find(level) is None  # type: ignore[attr-defined]
    values = set()
    for seed in range(40):
        source = Scripted(level)
        source.take(seed)
        values.add(noise.sample(source))
    assert values <= {z, z + 1}
    assert noise.sample(Scripted(level - 1)) == z
    assert noise.sample(Scripted(level + 1)) == z + 1


def test_words_beyond_the_table_are_settled_by_balls() -> None:
    noise = DiscreteGaussian(sigma2=100)
    assert noise.sample(Scripted(2**20)) == noise.quantile(F(2**20, 2**64))
    assert noise.sample(Scripted(2**64 - 2**20)) > 70


# Statistics

LARGE: list[tuple[IntegerLaw, int]] = [
    (DiscreteGaussian(sigma2=10**20), 4),
    (DiscreteGaussian(sigma2=F(10**41, 3)), 5),
    (DiscreteLaplace(scale="1e25"), 8),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("noise", "seed"), [*SETS[::2], *LARGE], ids=str)
def test_chi_square(noise: IntegerLaw, seed: int) -> None:
    source, n = SeededSource(seed), 30_000
    draws = np.array([noise.sample(source) for _ in range(n)], object)
    assert chi_square(noise, n, [draws]) > ALPHA


def test_the_lowest_digits_of_huge_draws_are_uniform() -> None:
    source, noise = SeededSource(12), DiscreteGaussian(sigma2=10**20)
    counts = np.bincount([noise.sample(source) % 64 for _ in range(30_000)], minlength=64)
    expected = 30_000 / 64
    assert distributions.chi_square(counts, np.full(64, expected)) > ALPHA
