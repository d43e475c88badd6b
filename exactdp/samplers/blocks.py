"""Bulk draws at any scale: a block from a table, a uniform place in it, an acceptance test.

A weight g(|x|) that falls with |x| is drawn by proposing a block [b w, (b + 1) w), w = 2^m, with
probability proportional to g at its start, and a uniform place x in it; x is accepted with
probability g(|x|)/g(start). The start of block b is b w for b >= 0. Block -1 - b mirrors it, as
x = -1 - (b w + r), whose distance from 0 is b w + r + 1: so 0 is proposed once only, and the start
is b w again. The acceptance probability exp(-t) is close to 1; nearly always 8 random bits show
that it is met, and otherwise the comparison is refined until it is certain.
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

from exactdp.samplers.integer_law import Integers
from exactdp.samplers.inverse_cdf import RealCdf, draw
from exactdp.samplers.source import Source, Words, word_width
from exactdp.samplers.table import Table

__all__ = ["BlockSampler", "Decay", "Floats", "both_sides"]

Floats = NDArray[np.float64]

#: Error bound of _exp_minus on [0, 1/8] and of t, with a margin of 20: see its docstring.
_ERROR = 1e-14
_SMALL = 0.125


@dataclass(frozen=True)
class Decay:
    """t = -log(g(y)/g(start)): how the weight falls from a block's start to y = start + step.

    approximate: on float arrays (start, step); relative error at most 1e-15.
    exact: for integers (start, step), as a ball at the working precision.
    most: for integers (start, step), a rational that is at least t.
    """

    approximate: Callable[[Floats, Floats], Floats]
    exact: Callable[[int, int], arb]
    most: Callable[[int, int], Fraction]


class BlockSampler:
    """The sampler of one falling weight.

    blocks: table of the block law. width_bits: m, for blocks of 2^m values. decay: the weight.
    first_bits, word_bits: random bits of the first look at an acceptance, and of the second.
    """

    def __init__(
        self,
        blocks: Table,
        width_bits: int,
        decay: Decay,
        *,
        first_bits: int = 8,
        word_bits: int = 64,
    ) -> None:
        self.blocks = blocks
        self.width_bits = width_bits
        self._decay = decay
        self._first_bits = first_bits
        self._word_bits = word_bits
        self._offset = blocks.outcomes.start << width_bits
        self._sure = self._sure_words()

    def _sure_words(self) -> NDArray[np.unsignedinteger]:
        """By place of a block in the table: a first word below this accepts all of the block.

        exp(-t) >= 1 - t, and t is largest at the far end. The first and last entries also stand for
        the blocks beyond the table, where nothing is sure.
        """
        width, scale = 1 << self.width_bits, 1 << self._first_bits
        starts = [max(b, -1 - b) * width for b in self.blocks.outcomes]
        sure = [floor(scale * max(1 - self._decay.most(s, width), Fraction(0))) for s in starts]
        if self.blocks.outcomes.start < 0:
            sure[0] = 0
        sure[-1] = 0
        return np.array(sure, dtype=f"u{word_width(self._first_bits)}")

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        result, rejected = self._propose(n, source)
        while rejected.size:
            values, again = self._propose(rejected.size, source)
            result[rejected] = values  # those rejected again are overwritten in the next round
            rejected = rejected[again]
        return result

    def _propose(self, n: int, source: Source) -> tuple[Integers, NDArray[np.intp]]:
        """Proposed values, and the indices of those that are not accepted."""
        block = self.blocks.draw_places(n, source)
        words = source.words(n, self._first_bits)
        unsure = np.flatnonzero(words >= self._sure.take(block, mode="clip"))
        value = block
        value <<= self.width_bits
        if self._offset:
            value += self._offset
        corner = value[unsure]
        if self.width_bits:
            place = source.words(n, self.width_bits)
            value += place.view(np.int64) if place.itemsize == 8 else place
        if unsure.size:
            unsure = unsure[self._fails(words[unsure], corner, value[unsure], source)]
        return value, unsure

    def _fails(
        self, words: Words, corner: Integers, value: Integers, source: Source
    ) -> NDArray[np.bool_]:
        """Which proposals fail U < exp(-t), U read as far as the answer needs."""
        more_bits = self._word_bits - self._first_bits
        more = source.words(words.size, more_bits).astype(np.uint64)
        keys = words.astype(np.uint64) << np.uint64(more_bits) | more
        start = np.where(corner >= 0, corner, -corner - (1 << self.width_bits))
        step = np.abs(value) - start
        t = self._decay.approximate(start.astype(np.float64), step.astype(np.float64))
        chance = _exp_minus(np.minimum(t, _SMALL))
        u = keys.astype(np.float64) * 2.0**-self._word_bits
        fails: NDArray[np.bool_] = u >= chance
        slack = _ERROR + 2.0**-self._word_bits
        for i in np.flatnonzero((np.abs(u - chance) <= slack) | (t > _SMALL)):
            fails[i] = not self._accepts(int(start[i]), int(step[i]), int(keys[i]), source)
        return fails

    def _accepts(self, start: int, step: int, key: int, source: Source) -> bool:
        meets = RealCdf(0, 1, lambda _: (-self._decay.exact(start, step)).exp())
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


def both_sides(beyond: Callable[[int], arb]) -> RealCdf:
    """The law of blocks ..., -2, -1, 0, 1, ... whose mirror images are equally likely.

    beyond(b): the probability of a block > b given that it is >= 0.
    """

    def value(b: int) -> arb:
        if b == -1:
            return arb(1) / 2
        return 1 - beyond(b) / 2 if b >= 0 else beyond(-b - 2) / 2

    return RealCdf(None, None, value)
