"""Where randomness comes from: one small interface, and the operating system behind it.

Algorithms draw through these methods only, so the same code runs on the operating system's
randomness (SystemSource), reproducibly (SeededSource), and through all its choices
(EnumeratingSource).
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.parameters import Real, integer, rational
from exactdp.samplers.inverse_cdf import Cdf, RationalCdf, draw

__all__ = [
    "ByteSource",
    "RandomnessError",
    "Source",
    "Spare",
    "SystemSource",
    "Words",
    "word_width",
]

#: An array of uniform unsigned integers.
Words = NDArray[np.unsignedinteger]

#: Bytes asked of the operating system at once; larger blocks are not faster.
BLOCK = 1 << 16


class RandomnessError(ExactDPError, OSError):
    """The operating system did not deliver the randomness it was asked for."""


class Source(ABC):
    """Uniform random bits, and the exact choices built from them.

    secure: whether outputs may be released; only the operating system's randomness is.
    """

    secure = False

    @abstractmethod
    def bits(self, k: int) -> int:
        """A uniform integer of k >= 0 bits."""

    @abstractmethod
    def words(self, n: int, bits: int) -> Words:
        """An array of n independent uniform words of 1 to 64 bits, in the smallest dtype."""

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), n >= 1: the papers' oracle. About log2(n) + 2 bits at most.

        Source: Lumbroso 2013 (the fast dice roller), several bits at a time.
        """
        size = integer("n", n, least=1)
        range_, value = 1, 0
        while True:
            missing = max((size - 1).bit_length() - range_.bit_length(), 0)
            if range_ << missing < size:
                missing += 1
            range_, value = range_ << missing, value << missing | self.bits(missing)
            if value < size:
                return value
            range_, value = range_ - size, value - size

    def bernoulli(self, p: Real) -> bool:
        """True with probability p, a rational in [0, 1]. Two bits on average."""
        chance = rational("p", p)
        if not 0 <= chance <= 1:
            raise InvalidParameter("p", p, ">= 0 and <= 1")
        if chance.denominator == 1:
            return chance == 1
        numerator, denominator = chance.numerator, chance.denominator
        while True:  # compare the bits of a uniform real with those of p
            numerator *= 2
            digit = numerator >= denominator
            if digit != bool(self.bits(1)):
                return digit
            numerator -= denominator if digit else 0

    def index(self, weights: Sequence[int]) -> int:
        """An index drawn with probability proportional to integer weights >= 0."""
        if not weights or min(weights) < 0 or not any(weights):
            raise InvalidParameter("weights", list(weights)[:8], "integers >= 0, not all 0")
        sums = list(accumulate(weights))
        return self.inverse_cdf(RationalCdf(0, len(sums) - 1, sums.__getitem__, sums[-1]))

    def inverse_cdf(self, cdf: Cdf) -> int:
        """The least z with U < F(z) for a uniform real U, read bit by bit until z is certain.

        Exact for every F, rational or real; at most the entropy + 3 bits on average.
        """
        return draw(cdf, self.bits)

    def strict_inverse_cdf(self, cdf: RationalCdf) -> int:
        """The same for a denominator 2^T, reading exactly T bits whatever the outcome."""
        size = cdf.denominator.bit_length() - 1
        if cdf.denominator != 1 << size:
            raise InvalidParameter("denominator", cdf.denominator, "a power of two")
        u, low, high = self.bits(size), cdf.low, cdf.high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if cdf.numerator(middle) > u else (middle + 1, high)
        return low

    def skip(self, k: int) -> None:
        """Read k bits and forget them, so that every run reads as many."""
        self.bits(k)


class ByteSource(Source):
    """A source that serves bits out of blocks of bytes, and counts them."""

    def __init__(self) -> None:
        self.bits_used = 0

    @abstractmethod
    def take(self, count: int) -> bytes:
        """The next count random bytes."""

    @abstractmethod
    def _spare(self) -> Spare:
        """Bits left over from the last byte."""

    def bits(self, k: int) -> int:
        if k < 0:
            raise InvalidParameter("k", k, "an integer >= 0")
        spare = self._spare()
        missing = k - spare.count
        if missing > 0:
            count = (missing + 7) // 8
            fresh = int.from_bytes(self.take(count), "little")
            spare.value |= fresh << spare.count
            spare.count += 8 * count
        value = spare.value & ((1 << k) - 1)
        spare.value >>= k
        spare.count -= k
        self.bits_used += k
        return value

    def words(self, n: int, bits: int) -> Words:
        width = word_width(bits)
        self.bits_used += 8 * width * n
        raw = np.frombuffer(self.take(width * n), dtype=f"<u{width}")
        return raw if bits == 8 * width else raw >> np.array(8 * width - bits, raw.dtype)


def word_width(bits: int) -> int:
    """Bytes of the smallest unsigned dtype that holds so many bits."""
    if not 1 <= bits <= 64:
        raise InvalidParameter("bits", bits, "between 1 and 64")
    return next(width for width in (1, 2, 4, 8) if bits <= 8 * width)


class Spare:
    """Unused bits of the last byte."""

    __slots__ = ("count", "value")

    def __init__(self) -> None:
        self.value = 0
        self.count = 0


class _Pool(threading.local):
    """One thread's unused randomness, in one process and one generation of forks."""

    def __init__(self) -> None:
        self.owner: tuple[int, int] | None = None
        self.block = b""
        self.used = 0
        self.spare = Spare()


_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1  # whatever a parent had pooled is never served again


os.register_at_fork(after_in_child=_forked)


class SystemSource(ByteSource):
    """The operating system's randomness, fetched in blocks; the only source fit for a release.

    Every thread has its own pool, and a forked process starts with none, so no two of them ever
    see the same bits. A read that fails or comes short raises RandomnessError.
    """

    secure = True

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        super().__init__()
        self._read = read
        self._pool = _Pool()

    def take(self, count: int) -> bytes:
        pool = self._mine()
        if count >= BLOCK:
            return self._fetch(count)
        if pool.used + count > len(pool.block):
            pool.block, pool.used = self._fetch(BLOCK), 0
        start = pool.used
        pool.used += count
        return pool.block[start : pool.used]

    def __reduce__(self) -> tuple[type[SystemSource], tuple[Callable[[int], bytes]]]:
        return SystemSource, (self._read,)  # a copy starts with an empty pool

    def _spare(self) -> Spare:
        return self._mine().spare

    def _mine(self) -> _Pool:
        pool = self._pool
        owner = (os.getpid(), _forks)
        if pool.owner != owner:
            pool.owner, pool.block, pool.used, pool.spare = owner, b"", 0, Spare()
        return pool

    def _fetch(self, count: int) -> bytes:
        try:
            block = self._read(count)
        except (OSError, NotImplementedError) as error:
            raise RandomnessError(f"reading {count} random bytes failed: {error}") from error
        if len(block) != count:
            raise RandomnessError(f"asked for {count} random bytes, got {len(block)}")
        return block
