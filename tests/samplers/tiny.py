"""Samplers with words so short that every one of their paths is enumerated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest

from exactdp.law import Law
from exactdp.samplers import Source, exact_law
from exactdp.samplers import discrete_gaussian as gaussian_module
from exactdp.samplers.block_sampler import BlockSampler, sure_share
from exactdp.samplers.integer_law import IntegerLaw, floor_at
from exactdp.samplers.source import Words, WordSource
from exactdp.samplers.table import Table

F = Fraction

#: sigma^2, bits of a block's width, widths of the table, bits of a sure share
BLOCKS = [
    ("0.5", 0, (2, 1, 3), 1),
    ("3", 1, (2, 1, 4), 3),
    ("3", 1, (1, 1, 2), 2),
    pytest.param("12", 2, (3, 1, 4), 4, marks=pytest.mark.slow),
    ("40", 2, (1, 1, 3), 0),
]


class Worded(WordSource):
    """An enumerating source whose words have so few bits; what it shows first are the top ones."""

    def __init__(self, source: Source, word_bits: int) -> None:
        self._source, self._word_bits = source, word_bits

    def word(self) -> int:
        return self.bits(self._word_bits) << 64 - self._word_bits

    def bits(self, k: int) -> int:
        return self._source.bits(k)

    def digits(self, k: int) -> int:
        return self.bits(k)

    def words(self, n: int, bits: int) -> Words:
        return self._source.words(n, bits)


def tiny_table(noise: IntegerLaw, low: int, high: int, widths: tuple[int, int, int]) -> Table:
    first_bits, second_bits, word_bits = widths
    levels = [floor_at(noise._cdf, z, word_bits) for z in range(low, high + 1)]
    return Table(
        noise._cdf,
        low,
        levels,
        first_bits=first_bits,
        second_bits=second_bits,
        word_bits=word_bits,
    )


def gaussian_blocks(
    sigma2: Fraction, bits: int, widths: tuple[int, int, int], share_bits: int
) -> BlockSampler:
    scaled = sigma2 / 4**bits
    decay = gaussian_module.decay(scaled)
    share = partial(sure_share, decay, bits=share_bits)
    law = gaussian_module.piece_law(scaled, share)
    first_bits, second_bits, word_bits = widths
    levels = [floor_at(law, i, word_bits) for i in range(-5, 4)]
    table = Table(
        law, -5, levels, first_bits=first_bits, second_bits=second_bits, word_bits=word_bits
    )
    return BlockSampler(table, bits, decay, share)


def assert_same_law(law: Law[int], noise: IntegerLaw) -> None:
    for z, weight in law.items():
        stated = noise.pmf(z)
        low, high = (stated, stated) if isinstance(stated, F) else (stated.lower, stated.upper)
        assert weight <= high
        assert low <= weight + law.residual


def assert_proposals(
    propose: Callable[[Source], int | None], noise: IntegerLaw, residual: Fraction
) -> None:
    """One proposal, enumerated: given that it is accepted, its value has the stated law."""
    law = exact_law(propose, residual=residual)
    accepted = law.probability(lambda value: value is not None)
    for z in {value for value in law if value is not None}:
        stated, weight = noise.pmf(z), law[z]
        low, high = (stated, stated) if isinstance(stated, F) else (stated.lower, stated.upper)
        assert weight <= high * (accepted + law.residual)
        assert low * accepted <= weight + law.residual
