"""Bulk draws have exactly the stated law: tables checked, every fallback forced and enumerated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter
from exactdp.samplers import (
    Bernoulli,
    BernoulliExp,
    BinaryRandomizedResponse,
    DiscreteGaussian,
    DiscreteLaplace,
    FastSample,
    Geometric,
    GeoSample,
    SeededSource,
    Source,
    TwoSidedGeometric,
    UniformInteger,
    exact_law,
)
from exactdp.samplers import discrete_gaussian as gaussian_module
from exactdp.samplers.block_sampler import BlockSampler, _exp_minus
from exactdp.samplers.cdf import RealCdf
from exactdp.samplers.count_samplers import CountSampler, GeometricSample
from exactdp.samplers.integer_law import CHUNK, IntegerLaw, Sampler
from exactdp.samplers.table import Table
from tests import distributions
from tests.samplers.tiny import (
    BLOCKS,
    assert_proposals,
    assert_same_law,
    gaussian_blocks,
    tiny_table,
)

F = Fraction


def many(blocks: BlockSampler) -> Callable[[Source], int | None]:
    def propose(source: Source) -> int | None:
        values = np.empty(1, np.int64)
        return None if blocks.propose_many(values, source).size else int(values[0])

    return propose


def first_of(bulk: Sampler) -> Callable[[Source], int]:
    def draw(source: Source) -> int:
        values = np.empty(1, np.int64)
        bulk.fill(values, source)
        return int(values[0])

    return draw


# The table, with words so short that every path is taken

WIDTHS = [(1, 1, 2), (1, 1, 3), (1, 2, 4), (2, 1, 5), (3, 2, 6)]
TABLES: list[tuple[IntegerLaw, int, int]] = [
    (DiscreteGaussian(sigma2=2), -2, 2),
    (DiscreteGaussian(sigma2=2), 0, 0),
    (DiscreteGaussian(sigma2="1/2"), -9, 9),
    (DiscreteLaplace(scale="3/2"), -3, 4),
    (Geometric(p="1/3"), 0, 3),
    (Geometric(p="1/2"), 0, 3),
    (TwoSidedGeometric(q="1/3"), -2, 2),
    (BernoulliExp(gamma="1/3"), 0, 0),
    (Bernoulli(p="1/2"), 0, 0),
    (UniformInteger(-2, 4), -2, 3),
]


@pytest.mark.few(15)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize(("noise", "low", "high"), TABLES, ids=range(10))
def test_tiny_tables_enumerate_to_the_exact_law(
    noise: IntegerLaw, low: int, high: int, widths: tuple[int, int, int]
) -> None:
    table = tiny_table(noise, low, high, widths)
    assert_same_law(exact_law(first_of(table), residual=F(1, 2**9)), noise)


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma2", "bits", "widths", "share_bits"), BLOCKS)
def test_tiny_blocks_enumerate_to_the_exact_law(
    sigma2: str, bits: int, widths: tuple[int, int, int], share_bits: int
) -> None:
    blocks = gaussian_blocks(F(sigma2), bits, widths, share_bits)
    assert_proposals(many(blocks), DiscreteGaussian(sigma2=sigma2), F(1, 2**7))


@pytest.mark.slow
def test_the_big_integer_comparison_alone_has_the_exact_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every acceptance decided by balls: the float bound is made useless, and nothing is sure."""
    monkeypatch.setattr("exactdp.samplers.block_sampler._ERROR", 2.0)
    blocks = gaussian_blocks(F(3), 1, (2, 1, 4), 0)
    assert_proposals(many(blocks), DiscreteGaussian(sigma2=3), F(1, 2**7))


@pytest.mark.slow
def test_rejected_draws_are_drawn_again_from_the_start() -> None:
    """The whole loop, as far as it can be enumerated."""
    law = exact_law(first_of(gaussian_blocks(F(3), 1, (1, 1, 2), 2)), residual="0.3")
    assert_same_law(law, DiscreteGaussian(sigma2=3))


# The real tables against an independent high-precision distribution function


def gaussian_levels(sigma2: int, reach: int) -> list[mpf]:
    terms = [mp.exp(-mpf(k * k) / (2 * sigma2)) for k in range(reach + 1)]
    total = 2 * mp.fsum(terms) - 1
    below = (total - 1) / 2
    levels = []
    for term in terms:
        below += term
        levels.append(below / total)
    return levels


@pytest.mark.parametrize("sigma", [1, 10, 300])
def test_every_gaussian_bracket(sigma: int) -> None:
    table = DiscreteGaussian(sigma2=sigma**2)._sampler
    assert isinstance(table, Table)
    thresholds = [int(t) for t in table._thresholds]
    middle = len(thresholds) // 2
    with mp.workprec(700):
        levels = gaussian_levels(sigma**2, 16 * sigma + 40)
        for z, level in enumerate(levels[:middle]):
            assert thresholds[middle + z] == mp.floor(level * 2**64)
            assert thresholds[middle - 1 - z] == mp.floor((1 - level) * 2**64)


@pytest.mark.parametrize("scale", [1, 40])
def test_every_laplace_bracket(scale: int) -> None:
    table = DiscreteLaplace(scale=scale)._sampler
    assert isinstance(table, Table)
    with mp.workprec(200):
        q = mp.exp(-mpf(1) / scale)
        for i, threshold in enumerate(table._thresholds):
            z = table._first + i
            level = q ** (-z) / (1 + q) if z < 0 else 1 - q ** (z + 1) / (1 + q)
            assert int(threshold) == mp.floor(level * 2**64)


@pytest.mark.parametrize("sigma", [10**6, 10**9])
def test_every_piece_of_a_block(sigma: int) -> None:
    sampler = DiscreteGaussian(sigma2=sigma**2)._sampler
    assert isinstance(sampler, BlockSampler)
    width, table = 1 << sampler.width_bits, sampler.table
    thresholds, zero = [int(t) for t in table._thresholds], -table.outcomes.start
    assert thresholds[zero - 1] == 2**63
    above, mirrored = thresholds[zero:], thresholds[: zero - 1][::-1]
    assert len(above) == len(mirrored) > 800
    with mp.workprec(160):
        terms = [
            mp.exp(-mpf((b * width) ** 2) / (2 * sigma**2)) for b in range(40 * sigma // width)
        ]
        total, level = mp.fsum(terms), mpf(1) / 2
        for b in range(len(above) // 2):
            least = mp.exp(-mpf(2 * b + 1) * width**2 / (2 * sigma**2))
            share = sampler._share(b)
            assert 0 <= share <= least.__float__()
            share_value = mpf(share.numerator) / share.denominator
            for piece, part in ((2 * b, share_value), (2 * b + 1, 1 - share_value)):
                level += terms[b] / total / 2 * part
                assert above[piece] == mp.floor(level * 2**64)
                assert mirrored[piece] == mp.floor((1 - level) * 2**64)


def test_exponential_of_small_arguments_is_within_its_bound() -> None:
    points = np.concatenate([np.linspace(0, 0.125, 4_001), 2.0 ** -np.arange(4, 60)])
    values = _exp_minus(points)
    with mp.workdps(40):
        worst = max(abs(mp.exp(-mpf(t)) - mpf(f)) for t, f in zip(points, values, strict=True))
    assert worst < 4e-16


def test_float_decay_is_within_its_bound() -> None:
    for sigma in (10**4, 10**6, 10**9, 10**15):
        sampler = DiscreteGaussian(sigma2=sigma**2)._sampler
        assert isinstance(sampler, BlockSampler)
        bits = sampler.width_bits
        decay = gaussian_module.decay(F(sigma**2, 4**bits))
        rng = np.random.default_rng(1)
        block, step = rng.integers(0, 7 * 128, 500), rng.integers(0, 1 << bits, 500)
        decays = decay.approximate(block, step.astype(float) * 2.0**-bits)
        for b, r, t in zip(block.tolist(), step.tolist(), decays, strict=True):
            exact = F(((b << bits) + r) ** 2 - (b << bits) ** 2, 2 * sigma**2)
            assert abs(F(float(t)) - exact) <= exact / 10**15


# Statistics: fixed seeds, alpha = 1e-6 each, no retries

ALPHA = 1e-6
SETS: list[tuple[IntegerLaw, int]] = [
    *((DiscreteGaussian(sigma2=s), n) for n, s in enumerate(["0.01", "1", "30", "10000"])),
    *(
        (DiscreteGaussian(sigma2=s * s), 10 + n)
        for n, s in enumerate([1000, 4000, 10**6, 10**9, 10**15])
    ),
    *((DiscreteLaplace(scale=t), 20 + n) for n, t in enumerate(["0.1", "7", "1000", "1e9"])),
    (Geometric(p="0.2"), 30),
    (Geometric(p="1e-7"), 31),
    (TwoSidedGeometric(q="999/1000"), 32),
    (TwoSidedGeometric(q="1/3"), 35),
    (Geometric(p="1/2"), 36),
    (UniformInteger(-7, 12), 33),
    (BernoulliExp(gamma="1/3"), 34),
]


def edges(noise: IntegerLaw, bins: int = 200) -> list[int]:
    """Integers that cut the law into about equal parts."""
    guesses = {noise._cdf.guess(i / bins) for i in range(1, bins)} - {None}
    if not guesses:
        low, high = noise._cdf.low or 0, noise._cdf.high or 0
        guesses = set(range(low, high))
    kept: list[int] = []
    for z in sorted(int(e) for e in guesses if e is not None):
        if not kept or noise.cdf(z).lower - noise.cdf(kept[-1]).upper > F(1, 10**4):
            kept.append(z)
    return [z for z in kept if F(1, 10**4) < noise.cdf(z).lower < 1 - F(1, 10**4)]


def chi_square(noise: IntegerLaw, n: int, draws: Iterable[Any]) -> float:
    """draws: n of them, in arrays."""
    cuts = edges(noise)
    counts = np.zeros(len(cuts) + 1, np.int64)
    for chunk in draws:
        places = np.searchsorted(cuts, chunk, side="left")
        counts += np.bincount(places, minlength=len(cuts) + 1)
    assert counts.sum() == n
    levels = [0.0, *(float(noise.cdf(z).lower) for z in cuts), 1.0]
    expected = n * np.diff(levels)
    return distributions.chi_square(counts, expected) if cuts else 1.0


@pytest.mark.few(6)
@pytest.mark.parametrize("n", [200_000, pytest.param(10**7, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("noise", "seed"), SETS, ids=[str(s[0]) for s in SETS])
def test_chi_square(noise: IntegerLaw, seed: int, n: int) -> None:
    assert chi_square(noise, n, noise.sample_chunks(n, SeededSource(seed))) > ALPHA


@pytest.mark.parametrize("c", [0, 3, 10])
def test_counting_samplers_in_bulk(c: int) -> None:
    for sampler in (
        GeoSample(n=10, epsilon="1/2"),
        FastSample(n=10, epsilon=1, gamma_inverse=3),
        FastSample(n=40, epsilon=1, gamma_inverse=4),
    ):
        n, law = 200_000, sampler.law(c)
        counts = np.bincount(sampler.sample_many(n, c, SeededSource(c)), minlength=sampler.n + 1)
        expected = n * np.array([float(law[z]) for z in range(sampler.n + 1)])
        keep = expected > 5
        assert distributions.chi_square(counts[keep], expected[keep]) > ALPHA


@pytest.mark.parametrize("kind", [GeoSample, FastSample, GeometricSample])
def test_many_different_counts_in_bulk(kind: type[CountSampler]) -> None:
    sampler = kind(n=12, epsilon="1/2")
    true = [0, 3, 12] * 20_000
    noisy = sampler.sample_each(true, SeededSource(3))
    for c in (0, 3, 12):
        seen = Counter(z for t, z in zip(true, noisy, strict=True) if t == c)
        for z in range(-9, 22):
            if kind is GeometricSample:
                chance = float(TwoSidedGeometric(q=sampler.q).pmf(z - c))
            else:
                chance = float(sampler.law(c)[z])
            assert abs(seen[z] - 20_000 * chance) < 5 * (20_000 * chance) ** 0.5 + 5


def test_few_counts_keep_the_exact_law() -> None:
    sampler = GeoSample(n=2, epsilon=2)
    law = exact_law(lambda source: tuple(sampler.sample_each([0, 2], source)), residual=0)
    assert law == sampler.law(0).product(sampler.law(2))


def test_randomized_response_on_arrays() -> None:
    response, bits = BinaryRandomizedResponse(p="1/5"), np.tile([0, 1, 1], 50_000)
    reported = response.sample_many(bits.reshape(3, -1), SeededSource(2))
    assert reported.shape == (3, 50_000)
    assert reported.dtype == bits.dtype
    flips = int((reported.ravel() != bits).sum())
    assert abs(flips - 30_000) < 6 * (150_000 * 0.16) ** 0.5
    flags = response.sample_many(np.array([True, False]), SeededSource(2))
    assert flags.dtype == bool
    with pytest.raises(InvalidParameter, match="bits"):
        response.sample_many(np.array([0, 2]), SeededSource(2))


def test_certain_coins() -> None:
    source = SeededSource(1)
    assert not Bernoulli(p=0).sample_many(1000, source).any()
    assert Bernoulli(p=1).sample_many(1000, source).all()
    assert BernoulliExp(gamma=0).sample_many(1000, source).all()
    assert not BernoulliExp(gamma=10**6).sample_many(1000, source).any()
    bits = np.array([0, 1, 1, 0])
    assert (BinaryRandomizedResponse(p=0).sample_many(bits, source) == bits).all()


def test_shapes_chunks_and_reproducibility() -> None:
    noise, n = DiscreteGaussian(sigma2=9), 2 * CHUNK + 5
    first = noise.sample_many(n, SeededSource(1))
    assert first.dtype == np.int64
    assert (first == np.concatenate(list(noise.sample_chunks(n, SeededSource(1))))).all()
    assert noise.sample_many(0, SeededSource(1)).shape == (0,)
    for bad in (-1, 1.5, "x"):
        with pytest.raises(InvalidParameter, match=r"^n must be"):
            noise.sample_many(bad, SeededSource(1))  # type: ignore[arg-type]


def test_scales_beyond_int64_raise_before_drawing() -> None:
    source = SeededSource(1)
    for noise in (
        DiscreteGaussian(sigma2="1e40"),
        DiscreteLaplace(scale="1e18"),
        Geometric(p="1e-18"),
        UniformInteger(0, 2**63),
    ):
        with pytest.raises(InvalidParameter):
            noise.sample_many(3, source)
    assert source.bits_used == 0
    assert abs(DiscreteGaussian(sigma2="1e40").sample(source)) < 10**22
    assert UniformInteger(-(2**63), 2**63 - 1).sample_many(100, source).min() < 0


def test_draws_beyond_the_table_come_from_the_exact_path() -> None:
    """A word of zeros falls below every threshold of the table."""

    class Zeros(SeededSource):
        def __init__(self) -> None:
            super().__init__(0)
            self.first = True

        def take(self, count: int) -> bytes:
            data = super().take(count)
            return bytes(count) if self.bits_used <= 80 and count <= 8 else data

    value = int(DiscreteGaussian(sigma2=100).sample_many(1, Zeros())[0])
    assert -200 < value < -70
    assert isinstance(DiscreteGaussian(sigma2=1)._cdf, RealCdf)
