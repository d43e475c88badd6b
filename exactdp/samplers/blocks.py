"""Bulk draws at any scale: a block from a table, a uniform place in it, an acceptance test.

A decreasing weight g on y = 0, 1, 2, ... is drawn by proposing the block b with probability
proportional to g(b w), w = 2^m, a uniform r < w, and accepting y = b w + r with probability
g(y)/g(b w). For two-sided laws a fair sign s turns this into y = b w + r + s and the value y or -y,
so that 0 is proposed once only. The acceptance probability exp(-t) is close to 1; nearly always 8
random bits show that it is met, and otherwise the comparison is refined until it is certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.errors import ExactDPError
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.inverse_cdf import RealCdf, draw
from exactdp.samplers.source import Source, Words, word_width
from exactdp.samplers.table import Table

__all__ = ["BlockSampler", "Decay", "Floats", "OutOfRange"]

Floats = NDArray[np.float64]

#: Error bound of _exp_minus on [0, 1/8] and of t, with a margin of 20: see its docstring.
_ERROR = 1e-14
_SMALL = 0.125


class OutOfRange(ExactDPError, OverflowError):
    """A draw fell outside int64."""


@dataclass(frozen=True)
class Decay:
    """t(start, y) = -log(g(y)/g(start)): how the weight falls from a block's start to a place.

    approximate: on float arrays (start, y); relative error at most 1e-15.
    exact: for integers, as a ball at the working precision.
    most: for integers (start, y), a rational that is at least t.
    """

    approximate: Callable[[Floats, Floats], Floats]
    exact: Callable[[int, int], arb]
    most: Callable[[int, int], Fraction]


class BlockSampler:
    """The sampler of one decreasing weight.

    blocks: table of the block law. width_bits: m, for blocks of 2^m values. decay: the weight.
    first_bits, word_bits: random bits of the first look at an acceptance, and of the second.
    """

    def __init__(
        self,
        blocks: Table,
        width_bits: int,
        decay: Decay,
        *,
        two_sided: bool,
        first_bits: int = 8,
        word_bits: int = 64,
    ) -> None:
        self.blocks = blocks
        self.width_bits = width_bits
        self._two_sided = two_sided
        self._decay = decay
        self._first_bits = first_bits
        self._word_bits = word_bits
        self._sure = self._sure_words()

    def _sure_words(self) -> NDArray[np.uint64]:
        """By block: a first word below this number accepts every place in the block.

        exp(-t) >= 1 - t, and t is largest at the block's end; the last entry stands for all blocks
        beyond the table, where nothing is sure.
        """
        width, scale = 1 << self.width_bits, 1 << self._first_bits
        sure = [
            floor(scale * max(1 - self._decay.most(b * width, (b + 1) * width), Fraction(0)))
            for b in range(self.blocks.largest + 1)
        ]
        return np.array([*sure, 0], dtype=f"u{word_width(self._first_bits)}")  # always < scale

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        result, rejected = self._propose(n, source)
        while rejected.size:
            values, again = self._propose(rejected.size, source)
            result[rejected] = values  # those rejected again are overwritten in the next round
            rejected = rejected[again]
        return result

    def _propose(self, n: int, source: Source) -> tuple[Integers, NDArray[np.intp]]:
        """Proposed values, and the places of those that are not accepted."""
        block = self.blocks.draw(n, source)
        if n and int(block.max()) >= 1 << 62 - self.width_bits:
            raise OutOfRange("a draw fell outside int64")
        words = source.words(n, self._first_bits)
        unsure = np.flatnonzero(words >= self._sure.take(block, mode="clip"))
        place = source.words(n, self.width_bits + self._two_sided).astype(np.int64)
        block <<= self.width_bits
        if not self._two_sided:
            place += block
            return place, self._rejected(unsure, words, block, place, source)
        sign = place & 1
        place >>= 1
        place += sign
        place += block
        rejected = self._rejected(unsure, words, block, place, source)
        sign <<= 1
        np.subtract(1, sign, out=sign)
        place *= sign
        return place, rejected

    def _rejected(
        self,
        unsure: NDArray[np.intp],
        words: Words,
        starts: Integers,
        places: Integers,
        source: Source,
    ) -> NDArray[np.intp]:
        """Which of the unsure proposals fail U < exp(-t), U read as far as the answer needs."""
        if not unsure.size:
            return unsure
        more_bits = self._word_bits - self._first_bits
        more = source.words(unsure.size, more_bits).astype(np.uint64)
        keys = words[unsure].astype(np.uint64) << np.uint64(more_bits) | more
        start, y = starts[unsure], places[unsure]
        t = self._decay.approximate(start.astype(np.float64), y.astype(np.float64))
        chance = _exp_minus(np.minimum(t, _SMALL))
        u = keys.astype(np.float64) * 2.0**-self._word_bits
        fails: NDArray[np.bool_] = u >= chance
        slack = _ERROR + 2.0**-self._word_bits
        for i in np.flatnonzero((np.abs(u - chance) <= slack) | (t > _SMALL)):
            fails[i] = not self._accepts(int(start[i]), int(y[i]), int(keys[i]), source)
        return unsure[fails]

    def _accepts(self, start: int, y: int, key: int, source: Source) -> bool:
        meets = RealCdf(0, 1, lambda _: (-self._decay.exact(start, y)).exp())
        return draw(meets, source.bits, key, self._word_bits) == 0


def _exp_minus(t: Any) -> Any:
    """exp(-t) on 0 <= t <= 1/8 within 4e-16, by correctly rounded operations only.

    Taylor's polynomial of degree 10 errs by less than t^11/11! < 3e-18; in Horner's scheme each of
    the 20 roundings errs by at most 2^-53 times a partial sum below 1.2, and all but the last two
    are damped by factors t <= 1/8.
    """
    total = np.ones_like(t)
    for k in range(10, 0, -1):
        total = 1 - t * total / k
    return total
