"""Exact draws at any scale: a block from a table, a uniform offset, and rarely a rejection test.

To draw x with a weight g(|x|) that decreases in |x|, propose a block [b w, (b + 1) w), w = 2^m,
with probability proportional to g at its start, and a uniform x in the block. Accept x with
probability g(|x|)/g(start) = exp(-t), which is close to 1; otherwise start again. Block b >= 0
starts at b w. Block -1 - b is its mirror image x = -1 - (b w + r), whose distance from 0 is
b w + r + 1; so 0 is proposed only once.

The table also contains most of the acceptance test. A block of probability p is split into a sure
piece of probability s p, where s <= exp(-t) at the block's far end, and a doubtful piece of
probability (1 - s) p. In the sure piece x is always accepted; in the doubtful piece with
probability (exp(-t) - s)/(1 - s). In total s + (1 - s)(exp(-t) - s)/(1 - s) = exp(-t), so the law
is unchanged, and nearly all draws need one look-up, one uniform offset, and no test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.balls import ball
from exactdp.samplers.cdf import RealCdf
from exactdp.samplers.integer_law import Integers, slices
from exactdp.samplers.inverse_cdf import draw, settle
from exactdp.samplers.rejection import LIMIT, never_settled
from exactdp.samplers.source import Source
from exactdp.samplers.table import UNSETTLED, Table

Floats = NDArray[np.float64]

#: Bits of s. The error bound of an acceptance probability grows by 2^SURE_BITS, see _doubt.
SURE_BITS = 10

#: Error bound of _exp_minus on [0, 1/8] and of t, with a margin of 20: see its docstring.
_ERROR = 1e-14
_SMALL = 0.125

_BLOCKS_PER_SCALE = 64


@dataclass(frozen=True)
class Decay:
    """The decrease of the weight in block b >= 0: t = -log(g(y)/g(start)) for y = start + f w.

    approximate: on floats or float arrays (b, f), 0 <= f <= 1; relative error at most 1e-15.
    exact: for an integer b and a rational f, as a ball at the working precision.
    most: for an integer b, a rational that is at least t at f = 1.
    """

    approximate: Callable[[Any, Any], Any]
    exact: Callable[[int, Fraction], arb]
    most: Callable[[int], Fraction]


def block_bits(scale: int) -> int:
    """m: gives 64 to 128 blocks per scale, or up to 1024 if offsets then take fewer bytes."""
    most = (scale // _BLOCKS_PER_SCALE).bit_length() - 1
    whole = most // 8 * 8
    return whole if whole and most - whole <= 3 else most


def sure_share(decay: Decay, block: int, bits: int = SURE_BITS) -> Fraction:
    """s of a block b >= 0: a multiple of 2^-bits below 1, and below exp(-t) in the whole block.

    exp(-t) >= 1 - t, and t is largest at the far end of the block.
    """
    share = floor(max(1 - decay.most(block), Fraction(0)) * (1 << bits))
    return Fraction(min(share, (1 << bits) - 1), 1 << bits)


class BlockSampler:
    """The sampler of a decreasing weight.

    table: of the law of pieces. Pieces 2b and 2b + 1 are the sure and the doubtful piece of block
    b >= 0, and piece -1 - i mirrors piece i.
    width_bits: m, for blocks of 2^m values. decay: the weight. share: s by block b >= 0.
    """

    def __init__(
        self, table: Table, width_bits: int, decay: Decay, share: Callable[[int], Fraction]
    ) -> None:
        self.table = table
        self.width_bits = width_bits
        self._decay = decay
        self._share = share
        outcomes = table.outcomes
        last = max(abs(outcomes.start), outcomes.stop) >> 1
        self._shares = np.array([float(share(b)) for b in range(last + 1)])

    @cached_property
    def _starts(self) -> Integers:
        """For the first bits: the block's start if they determine a sure piece, else UNSETTLED."""
        place = self.table.lookup
        piece = place + np.int64(self.table.outcomes.start)
        sure = (place >= 0) & (_doubtful(piece) == 0)
        return np.where(sure, piece >> 1 << self.width_bits, UNSETTLED)

    def sample(self, source: Source) -> int:
        """One draw."""
        for _ in range(LIMIT):
            value = self.propose(source)
            if value is not None:
                return value
        raise never_settled("a draw by blocks")

    def propose(self, source: Source) -> int | None:
        """One proposal, or None if it is rejected."""
        piece = source.invert(self.table)
        value = (piece >> 1 << self.width_bits) + source.digits(self.width_bits)
        if _doubtful(piece) and source.invert(self._coin(value)):
            return None
        return value

    def _coin(self, value: int) -> _Coin:
        """The coin that is 0 if a value in a doubtful piece is accepted."""
        block, step = value >> self.width_bits, value & ((1 << self.width_bits) - 1)
        if block < 0:
            block, step = ~block, (1 << self.width_bits) - step
        part = Fraction(step, 1 << self.width_bits)
        return _Coin(self._decay, self._share(block), block, part, self.table.word_bits)

    def fill(self, values: Integers, source: Source) -> None:
        """Fill an array with independent draws."""
        rejected = self.propose_many(values, source)
        for _ in range(LIMIT):
            if not rejected.size:
                return
            again = np.empty(rejected.size, np.int64)
            still = self.propose_many(again, source)
            values[rejected] = again  # repeated rejections are overwritten in the next round
            rejected = rejected[still]
        raise never_settled("draws by blocks")

    def propose_many(self, values: Integers, source: Source) -> NDArray[np.intp]:
        """Fill an array with proposals; return the indices of rejected proposals."""
        doubtful = [
            self._propose_part(values[part], source) + part.start for part in slices(values.size)
        ]
        where = np.concatenate([np.empty(0, np.intp), *doubtful])
        return where[self._fails(values[where], source)]

    def _propose_part(self, values: Integers, source: Source) -> NDArray[np.intp]:
        """Fill an array with proposals; return the indices of those from doubtful pieces."""
        words = source.words(values.size, self.table.first_bits)
        self._starts.take(words, out=values, mode="clip")
        unsettled = np.flatnonzero(values == UNSETTLED)
        doubtful = unsettled[:0]
        if unsettled.size:
            piece = self.table.finish(words[unsettled], source)
            values[unsettled] = piece >> 1 << self.width_bits
            doubtful = unsettled[_doubtful(piece) == 1]
        if self.width_bits:
            place = source.words(values.size, self.width_bits)
            values += place.view(np.int64) if place.itemsize == 8 else place
        return doubtful

    def _fails(self, value: Integers, source: Source) -> NDArray[np.bool_]:
        """Whether each value in a doubtful piece is rejected."""
        bits = self.table.word_bits
        words = source.words(value.size, bits).astype(np.uint64)
        block, step = value >> self.width_bits, value & ((1 << self.width_bits) - 1)
        step = np.where(block < 0, (1 << self.width_bits) - step, step)
        block ^= block >> 63
        last = len(self._shares) - 1
        share = self._shares.take(np.minimum(block, last))
        part = step.astype(np.float64) * 2.0**-self.width_bits
        fails: NDArray[np.bool_]
        fails, sure = _compare(self._decay, share, block, part, words, bits)
        for i in np.flatnonzero(~sure | (block > last)):
            cdf = self._coin(int(value[i])).cdf
            fails[i] = draw(cdf, source.bits, int(words[i]), bits) == 1
        return fails


class _Coin:
    """1 with the probability that a value in a doubtful piece is rejected."""

    def __init__(
        self, decay: Decay, share: Fraction, block: int, part: Fraction, word_bits: int
    ) -> None:
        self.word_bits = word_bits
        self.cdf = RealCdf(0, 1, self._accepted)
        self._decay, self._share, self._block, self._part = decay, share, block, part

    def _accepted(self, _: int) -> arb:
        meets = (-self._decay.exact(self._block, self._part)).exp()
        return (meets - ball(self._share)) / ball(1 - self._share)

    def find(self, word: int) -> int | None:
        """The outcome if all uniform reals that start with these bits have the same, else None."""
        share, part = float(self._share), float(self._part)
        fails, sure = _compare(self._decay, share, self._block, part, word, self.word_bits)
        return int(fails) if sure else settle(self.cdf, word, self.word_bits)


def _compare(
    decay: Decay, share: Any, block: Any, part: Any, word: Any, word_bits: int
) -> tuple[Any, Any]:
    """Whether U >= (exp(-t) - s)/(1 - s) for U that starts with these bits; and if that is certain.

    For numbers or arrays. The error of exp(-t) is below _ERROR; dividing by 1 - s enlarges it.
    """
    t, rest = decay.approximate(block, part), 1.0 - share
    chance, u = (_exp_minus(t) - share) / rest, word * 2.0**-word_bits
    return u >= chance, (abs(u - chance) > _ERROR / rest + 2.0**-word_bits) & (t <= _SMALL)


def _doubtful(piece: Any) -> Any:
    """1 for doubtful pieces, 0 for sure pieces; for an integer or an array."""
    return (piece ^ (piece >> 31)) & 1


def _exp_minus(t: Any) -> Any:
    """exp(-t) for 0 <= t <= 1/8 with error below 4e-16, by correctly rounded operations only.

    The Taylor polynomial of degree 10 has an error below t^11/11! < 3e-18. In Horner's scheme each
    of the 20 roundings has an error of at most 2^-53 times a partial sum below 1.2, and all but the
    last two are multiplied by t <= 1/8 at least once.
    """
    total = 1.0
    for k in range(10, 0, -1):
        total = 1.0 - t * total / k
    return total


def pieces(share: Callable[[int], Fraction], beyond: Callable[[int], arb]) -> Callable[[int], arb]:
    """P(piece > i | piece >= 0), from beyond(b) = P(block > b | block >= 0)."""

    def value(i: int) -> arb:
        block = i >> 1
        if i & 1:
            return beyond(block)
        doubt = ball(1 - share(block))
        before = beyond(block - 1) if block else arb(1)
        return doubt * before + (1 - doubt) * beyond(block)

    return value


def both_sides(beyond: Callable[[int], arb]) -> RealCdf:
    """The symmetric law of pieces ..., -2, -1, 0, 1, ...: piece -1 - i is as likely as piece i.

    beyond(i): P(piece > i | piece >= 0).
    """

    def value(i: int) -> arb:
        if i == -1:
            return arb(1) / 2
        return 1 - beyond(i) / 2 if i >= 0 else beyond(-i - 2) / 2

    return RealCdf(None, None, value)
