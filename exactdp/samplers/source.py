"""The interface of all sources of randomness.

Algorithms draw only through these methods, so the same code runs on the operating system's
randomness (SystemSource), reproducibly (SeededSource), and through all random choices
(EnumeratingSource).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, all_between, integer, probability
from exactdp.samplers.bulk_coins import LANES, below_each, packed, scaled, uneven
from exactdp.samplers.cdf import Cdf, RationalCdf
from exactdp.samplers.inverse_cdf import draw
from exactdp.samplers.rejection import LIMIT, never_settled

T = TypeVar("T")

#: An array of uniform unsigned integers.
Words = NDArray[np.unsignedinteger]

#: From this number of coins on, tables of patterns are faster.
MANY_COINS = 1 << 14


class Invertible(Protocol):
    """A distribution function with a table of outcomes for most uniform reals.

    find(word): the outcome if all uniform reals that start with these word_bits bits have the same,
    else None. The outcome is non-decreasing in the word.
    """

    @property
    def cdf(self) -> Cdf: ...

    @property
    def word_bits(self) -> int: ...

    def find(self, word: int) -> int | None: ...


class Source(ABC):
    """Uniform random bits, and the exact choices built from them."""

    @abstractmethod
    def bits(self, k: int) -> int:
        """A uniform integer of k >= 0 bits."""

    def digits(self, k: int) -> int:
        """A uniform integer of k bits, by the source's fastest method."""
        return self.bits(k)

    @abstractmethod
    def words(self, n: int, bits: int) -> Words:
        """An array of n independent uniform words of 1 to 64 bits, in the smallest dtype."""

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), n >= 1, from at most log2(n) + 2 bits on average.

        Source: Lumbroso 2013 (the fast dice roller), several bits at a time.
        """
        size = integer("n", n, least=1)
        range_, value = 1, 0
        for _ in range(LIMIT):
            missing = max((size - 1).bit_length() - range_.bit_length(), 0)
            if range_ << missing < size:
                missing += 1
            range_, value = range_ << missing, value << missing | self.bits(missing)
            if value < size:
                return value
            range_, value = range_ - size, value - size
        raise never_settled("a uniform integer")

    def bernoulli(self, p: Real) -> bool:
        """True with probability p, a rational in [0, 1]; reads two bits on average."""
        chance = probability("p", p)
        if chance.denominator == 1:
            return chance == 1
        numerator, denominator = chance.numerator, chance.denominator
        for _ in range(LIMIT):  # compare the bits of a uniform real with those of p
            numerator *= 2
            digit = numerator >= denominator
            if digit != bool(self.bits(1)):
                return digit
            numerator -= denominator if digit else 0
        raise never_settled("a coin")

    def coins(self, n: int, p: Real) -> Words:
        """n independent coins with P(1) = p, a rational in [0, 1], packed into uint64 words.

        Coin i is bit i % 64 of word i // 64; bits after the last coin are 0. Reads at most 1.5
        random bits per coin if n is large, else 7.4; exactly the law of bernoulli(p).
        """
        count, chance = integer("n", n, least=0), probability("p", p)
        # for p = 1/2, bulk_coins reads no more bits than tables of patterns
        if count < MANY_COINS or 2 % chance.denominator == 0:
            return packed(count, chance, self.words)
        from exactdp.samplers.coin_patterns import COINS, coin_patterns

        patterns = coin_patterns(chance).draw(-(-count // LANES) * LANES // COINS, self.words)
        words = patterns.astype("<u2", copy=False).view("<u8")
        if count % LANES:
            words[-1] &= np.uint64((1 << count % LANES) - 1)
        return words

    def uneven_coins(self, numerators: NDArray[Any], denominator: int) -> NDArray[np.bool_]:
        """Independent coins, the i-th with P(1) = numerators[i] / denominator.

        numerators: integers from 0 to denominator. denominator: >= 1; below 2^63 it is fastest.
        """
        size = integer("denominator", denominator, least=1)
        if numerators.size and not 0 <= numerators.min() <= numerators.max() <= size:
            all_between("numerators", numerators, 0, size)
        if size < 1 << 63:
            return uneven(numerators, size, self.words)
        return np.array([self.bernoulli(Fraction(int(x), size)) for x in numerators], bool)

    def below_many(self, n: int, size: int) -> NDArray[np.int64]:
        """n independent uniform integers in [0, size), 1 <= size <= 2^62."""
        count, limit = integer("n", n, least=0), integer("size", size, least=1)
        if limit <= 1 << 24:  # words are so wide that few are rejected
            return scaled(count, limit, self.words, 16 if limit <= 1 << 11 else 32)
        return self.below_each(np.full(count, limit))

    def below_each(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Independent uniform integers in [0, sizes[i]), for int64 sizes from 1 to 2^62."""
        if sizes.size and not 1 <= sizes.min() <= sizes.max() <= 1 << 62:
            all_between("sizes", sizes, 1, 1 << 62)
        return below_each(sizes, self.words)

    def index(self, weights: Sequence[int]) -> int:
        """An index drawn with probability proportional to integer weights >= 0."""
        if not weights or min(weights) < 0 or not any(weights):
            raise InvalidParameter("weights", list(weights)[:8], "integers >= 0, not all 0")
        sums = list(accumulate(weights))
        return self.inverse_cdf(RationalCdf(0, len(sums) - 1, sums.__getitem__, sums[-1]))

    def inverse_cdf(self, cdf: Cdf) -> int:
        """The least z with U < F(z) for a uniform real U, read bit by bit until z is known.

        Exact for rational and real F; reads at most entropy + 3 bits on average.
        """
        return draw(cdf, self.bits)

    def invert(self, table: Invertible) -> int:
        """The outcome of a table at a uniform real: exactly the law of its distribution function.

        The real is read bit by bit until its smallest and largest possible word have the same
        outcome; a WordSource reads a whole word. If all probabilities are rational, this is
        inverse_cdf.
        """
        if isinstance(table.cdf, RationalCdf):
            return self.inverse_cdf(table.cdf)
        prefix = 0
        for missing in range(table.word_bits, -1, -1):
            outcome = table.find(prefix << missing)
            if outcome is not None and (
                not missing or outcome == table.find((prefix + 1 << missing) - 1)
            ):
                return outcome
            if missing:
                prefix = prefix << 1 | self.bits(1)
        return draw(table.cdf, self.bits, prefix, table.word_bits)

    def fixed_inverse_cdf(self, cdf: RationalCdf) -> int:
        """A draw for a denominator 2^T that always reads T bits, in a fixed number of steps."""
        u = self.bits(cdf.bits)
        return cdf.search(u) if cdf.fixed is None else cdf.fixed(u)

    def integers(self, n: int, k: int) -> list[int]:
        """n independent uniform integers of k bits."""
        if k % 8:
            return [self.bits(k) for _ in range(n)]
        values: list[int] = self.words(n, k % 64 or 64).tolist()
        for _ in range((k - 1) // 64):
            words = self.words(n, 64).tolist()
            values = [x << 64 | word for x, word in zip(values, words, strict=True)]
        return values

    def fixed_below(self, sizes: Sequence[int], k: int) -> list[int]:
        """Independent integers in [0, sizes[i]), each from k random bits.

        Every integer has a probability within 2^-k of 1/sizes[i], or exactly that if 2^k is a
        multiple of the size.
        """
        pairs = zip(self.integers(len(sizes), k), sizes, strict=True)
        return [u * size >> k for u, size in pairs]

    def fixed_below_many(self, size: int, n: int, k: int) -> NDArray[Any]:
        """n independent integers in [0, size), each from k random bits, as in fixed_below."""
        kept = size.bit_length() - 1
        if size == 1 << kept and 0 < kept <= k <= 64:
            return self.words(n, k) >> (k - kept)
        return np.array(self.fixed_below([size] * n, k), np.uint64 if size <= 1 << 64 else object)

    def draws(self, used: int, always: int) -> int:
        """The number of draws to make.

        used: the number of draws that the result needs. always: the number of draws that every run
        makes, so that the random bits read do not depend on the data.
        """
        return always


class WordSource(Source):
    """A source that serves whole words of 64 bits quickly."""

    def word(self) -> int:
        """A uniform integer of 64 bits."""
        return self.bits(64)

    def digits(self, k: int) -> int:
        return self.word() >> (64 - k) if 0 < k <= 64 else self.bits(k)

    def invert(self, table: Invertible) -> int:
        word = self.word() >> (64 - table.word_bits)
        outcome = table.find(word)
        return draw(table.cdf, self.bits, word, table.word_bits) if outcome is None else outcome


class ByteSource(WordSource):
    """A source that serves bits from blocks of bytes, and counts them."""

    #: Smallest number of bytes to fetch when single bits run out.
    _ahead = 1

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
            count = max((missing + 7) // 8, self._ahead)
            fresh = int.from_bytes(self.take(count), "little")
            spare.value |= fresh << spare.count
            spare.count += 8 * count
        value = spare.value & ((1 << k) - 1)
        spare.value >>= k
        spare.count -= k
        self.bits_used += k
        return value

    def words(self, n: int, bits: int) -> Words:
        width, size = word_width(bits), (bits + 7) // 8
        self.bits_used += 8 * size * n
        raw = self._joined(self.take(size * n), n, size, width)
        return raw if bits == 8 * size else raw >> np.array(8 * size - bits, raw.dtype)

    @staticmethod
    def _joined(data: bytes, n: int, size: int, width: int) -> Words:
        """n words of `size` bytes each, assembled from parts of 8, 4, 2 and 1 bytes."""
        if size == width:
            return np.frombuffer(data, f"<u{width}")
        first, *rest = [part for part in (4, 2, 1) if part & size]
        joined = np.frombuffer(data, f"<u{first}", n).astype(f"<u{width}")
        start = first * n
        for part in rest:
            joined <<= np.array(8 * part, joined.dtype)
            joined |= np.frombuffer(data, f"<u{part}", n, start)
            start += part * n
        return joined


_Kind = TypeVar("_Kind", bound=type[Source])

#: The classes that are fit for a release; not their subclasses, which may read anything.
_VOUCHED: set[type[Source]] = set()


def fit_for_release(kind: _Kind) -> _Kind:
    """A decorator that declares a class of sources fit for a release.

    In this package only SystemSource is. Use the decorator, for example, for a hardware generator;
    every guarantee of a release then depends on your generator.
    """
    _VOUCHED.add(kind)
    return kind


def require_secure(source: Source) -> None:
    """Raise InvalidParameter for a source that is not declared fit for a release."""
    if type(source) not in _VOUCHED:
        name = type(source).__name__
        raise InvalidParameter("source", name, "a SystemSource (use draw for simulations)")


def word_width(bits: int) -> int:
    """Size in bytes of the smallest unsigned dtype with at least this number of bits."""
    if not 1 <= bits <= 64:
        raise InvalidParameter("bits", bits, "between 1 and 64")
    return next(width for width in (1, 2, 4, 8) if bits <= 8 * width)


class Spare:
    """Unused bits of the last byte."""

    __slots__ = ("count", "value")

    def __init__(self) -> None:
        self.value = 0
        self.count = 0
