"""Hadamard response: the sets of outputs are rows of a Hadamard matrix, in blocks.

CP: Xiong et al., "Compressive Privatization".
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, below, coins
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.mechanism import CountedNumbers
from exactdp.local.report_formats import Report, Reports
from exactdp.local.walsh import parity, walsh
from exactdp.samplers import Source

#: Largest number of outputs: a state has a counter for each.
_LARGEST = 1 << 28


@frozen
class HadamardResponse(CountedNumbers, FrequencyOracle):
    """Each value has a set of outputs; an output in the set is r times as likely as another.

    k: values are 0 to k - 1. epsilon: of one report. blocks: a power of two, by default the number
    with the least total variance. Each block has b outputs and b - 1 values, with b the smallest
    power of two for which all k values fit. The set of the j-th value of a block is half of the
    block, {y : <j + 1, y> even}. One block is the scheme for high privacy, which is compressive
    privatization (CP) with a Hadamard matrix. Raises InvalidParameter.
    Source: Acharya, Sun, Zhang 2018; CP, Section 2.

    >>> from exactdp.local import HadamardResponse
    >>> m = HadamardResponse(k=10_000, epsilon="0.5")
    >>> m.bits, m.blocks, HadamardResponse(k=10_000, epsilon=5).blocks
    (14, 1, 128)
    """

    blocks: int = whole(least=1, default=None)

    def __post_init__(self) -> None:
        if self.blocks is None:
            object.__setattr__(self, "blocks", self._best_blocks())
        if self.blocks & (self.blocks - 1):
            raise InvalidParameter("blocks", self.blocks, "a power of two")
        if self.cells > _LARGEST:
            raise InvalidParameter(
                "k, blocks", (self.k, self.blocks), f"at most {_LARGEST} outputs"
            )

    def _best_blocks(self) -> int:
        numbers = [1 << i for i in range(self.k.bit_length() + 1)]
        return min(numbers, key=lambda b: type(self)(self.k, self.epsilon, b).total_variance())

    source = "Acharya, Sun, Zhang 2018; CP equation (2) with sets of equal size"

    @property
    def cells(self) -> int:
        """One counter per output."""
        return self.blocks * self.width

    @cached_property
    def width(self) -> int:
        """b: the number of outputs of a block."""
        return 1 << (-(-self.k // self.blocks)).bit_length()

    @property
    def background(self) -> Fraction:
        """0: the score is +1 in the set, -1 in the rest of its block, 0 elsewhere."""
        return Fraction(0)

    @property
    def gain(self) -> Fraction:
        """(b/2)(r - 1)/N: P(output in the user's set) - P(output in the rest of its block)."""
        return self.width // 2 * (self.e_epsilon - 1) * self._unit

    def law(self, value: int) -> Law[Report]:
        """The exact law of the output."""
        own = self._checked([value])
        outputs = np.arange(self.cells)
        inside = self._inside(outputs, np.broadcast_to(own, outputs.shape))
        chance = (self._unit, self._unit * self.e_epsilon)
        return Law({y: chance[met] for y, met in enumerate(inside.tolist())})

    def total_variance(self) -> Fraction:
        """As for every frequency oracle; the worst data lie in a full block."""
        half, full = self.width // 2, min(self.k, self.width - 1)
        block = full * half * (self.e_epsilon + 1) + (self.k - full) * self.width
        return block * self._unit / self.gain**2 - 1

    def _square(self, x: int, value: int) -> Fraction:
        """The probability that the output lies in the block of x."""
        same = x // (self.width - 1) == value // (self.width - 1)
        return self.width // 2 * (self.e_epsilon + 1 if same else Fraction(2)) * self._unit

    @property
    def _unit(self) -> Fraction:
        """1/N: the probability of an output outside the set."""
        half = self.width // 2
        return 1 / (half * self.e_epsilon + self.blocks * self.width - half)

    def _place(self, values: Integers) -> tuple[Integers, Integers]:
        """The block of each value, and the value's row within the block."""
        block = values // (self.width - 1)
        return block, values - block * (self.width - 1) + 1

    def _inside(self, outputs: Integers, values: Integers) -> Integers:
        block, row = self._place(values)
        met: Integers = (outputs // self.width == block) & (parity(outputs & row) == 0)
        return met

    def _respond(self, values: Integers, source: Source) -> Reports:
        half, (block, row) = self.width // 2, self._place(values)
        outside = coins((self.cells - half) * self._unit, len(values), source)
        reports = self._half_block(block, row, below(half, len(values), source), 0)
        # outside the set: the other half of the block, or another block
        where = np.flatnonzero(outside)
        place = below(self.cells - half, where.size, source)
        other, near = place - half, place < half
        other += np.where(other >= block[where] * self.width, self.width, 0)
        odd = self._half_block(block[where], row[where], np.where(near, place, 0), 1)
        reports[where] = np.where(near, odd, other)
        return reports

    def _half_block(self, block: Integers, row: Integers, index: Integers, odd: int) -> Integers:
        """The index-th output y of a block with <row, y> = odd.

        The index holds the bits of y except the bit at the row's lowest 1, which is set so that the
        parity is right.
        """
        low = row & -row
        spread = ((index & -low) << 1) | (index & (low - 1))
        wrong = parity(spread & row, self.width.bit_length()) ^ odd
        outputs: Integers = block * self.width + (spread | wrong * low)
        return outputs

    def _scores(self, counts: Integers) -> Integers:
        rows = walsh(counts.reshape(self.blocks, self.width))
        scores: Integers = rows[:, 1:].reshape(-1)[: self.k]
        return scores
