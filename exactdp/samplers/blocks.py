"""Bulk draws at any scale: a block from a table, a uniform place in it, an acceptance test.

A decreasing weight g on y = 0, 1, 2, ... is drawn by proposing the block b with probability
proportional to g(b w), w = 2^m, a uniform r < w, and accepting y = b w + r with probability
g(y)/g(b w). For two-sided laws a fair sign s turns this into y = b w + r + s and the value y or -y,
so that 0 is proposed once only. The acceptance probability exp(-t) is close to 1; nearly always 16
random bits show that it is met, and otherwise the comparison is refined until it is certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.errors import ExactDPError
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.inverse_cdf import RealCdf, draw
from exactdp.samplers.source import Source
from exactdp.samplers.table import FIRST_BITS, WORD_BITS, Table

__all__ = ["BlockSampler", "Decay"]

Floats = NDArray[np.float64]

#: Error bound of _exp_minus on [0, 1/8], with a margin of 30: see its docstring.
_ERROR = 1e-14
_SMALL = 0.125


class OutOfRange(ExactDPError, OverflowError):
    """A draw fell outside int64."""


@dataclass(frozen=True)
class Decay:
    """t(b, y) = -log(g(y)/g(b w)): how the weight falls from a block's start to a place in it.

    approximate: on float arrays (block start, y); relative error at most 1e-15.
    exact: for integers, as a ball at the working precision.
    """

    approximate: Callable[[Floats, Floats], Floats]
    exact: Callable[[int, int], arb]


@dataclass(frozen=True)
class BlockSampler:
    """The sampler of one decreasing weight; blocks is the table of the block law."""

    blocks: Table
    width_bits: int
    two_sided: bool
    decay: Decay
    first_bits: int = FIRST_BITS
    word_bits: int = WORD_BITS

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        result = np.empty(n, np.int64)
        missing: NDArray[np.intp] | slice = slice(None)
        count = n
        while count:
            values, accepted = self._propose(count, source)
            result[missing] = values  # rejected ones are overwritten in the next round
            rejected = np.flatnonzero(~accepted)
            missing = rejected if isinstance(missing, slice) else missing[rejected]
            count = rejected.size
        return result

    def _propose(self, n: int, source: Source) -> tuple[Integers, NDArray[np.bool_]]:
        block = self.blocks.draw(n, source)
        self._check_range(block)
        place = source.words(n, self.width_bits + self.two_sided).astype(np.int64)
        negative = None
        if self.two_sided:
            negative = place & 1
            place = (place >> 1) + negative
        start = block << self.width_bits
        y = start + place
        accepted = self._accept(start, y, source)
        if negative is not None:
            y = np.where(negative, -y, y)
        return y, accepted

    def _check_range(self, block: Integers) -> None:
        if block.size and int(block.max()) >= 1 << 62 - self.width_bits:
            raise OutOfRange("a draw fell outside int64")

    def _accept(self, start: Integers, y: Integers, source: Source) -> NDArray[np.bool_]:
        """Whether U < exp(-t), for uniform U read as far as the answer needs."""
        words = source.words(start.size, self.first_bits)
        t = self.decay.approximate(start.astype(np.float64), y.astype(np.float64))
        ahead = (words.astype(np.float64) + 1) * 2.0**-self.first_bits
        accepted = ahead <= 1 - t * (1 + _ERROR) - _ERROR  # exp(-t) >= 1 - t
        unsettled = np.flatnonzero(~accepted)
        if unsettled.size:
            more_bits = self.word_bits - self.first_bits
            more = source.words(unsettled.size, more_bits).astype(np.uint64)
            keys = words[unsettled].astype(np.uint64) << np.uint64(more_bits) | more
            self._settle(accepted, unsettled, keys, t[unsettled], start, y, source)
        return accepted

    def _settle(
        self,
        accepted: NDArray[np.bool_],
        where: NDArray[np.intp],
        keys: NDArray[np.uint64],
        t: Floats,
        start: Integers,
        y: Integers,
        source: Source,
    ) -> None:
        chance = _exp_minus(np.minimum(t, _SMALL))
        u = keys.astype(np.float64) * 2.0**-self.word_bits
        slack = _ERROR + 2.0**-self.word_bits
        accepted[where] = u < chance
        for i in np.flatnonzero((np.abs(u - chance) <= slack) | (t > _SMALL)):
            at = where[i]
            accepted[at] = self._accept_exactly(int(start[at]), int(y[at]), int(keys[i]), source)

    def _accept_exactly(self, start: int, y: int, key: int, source: Source) -> bool:
        meets = RealCdf(0, 1, lambda _: (-self.decay.exact(start, y)).exp())
        return draw(meets, source.bits, key, self.word_bits) == 0


def _exp_minus(t: Any) -> Any:
    """exp(-t) on 0 <= t <= 1/8 within 3e-16, by correctly rounded operations only.

    Taylor's polynomial of degree 10 errs by less than t^11/11! < 3e-18; in Horner's scheme each of
    the 20 roundings errs by at most 2^-53 times a partial sum below 1.2, and all but the last two
    are damped by factors t <= 1/8.
    """
    total = np.ones_like(t)
    for k in range(10, 0, -1):
        total = 1 - t * total / k
    return total
