"""Reproducible randomness for tests and experiments, and records of drawn bits."""

from __future__ import annotations

import hashlib

import gmpy2
import numpy as np

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import integer
from exactdp.samplers.source import ByteSource, Source, Spare, Words, WordSource, word_width

_DOMAIN = b"exactdp seeded source, version 1\x00"
_BLOCK = 1 << 14


class SeededSource(ByteSource):
    """A reproducible stream of bits; never for a release.

    seed: an integer >= 0, or bytes. Construction, the same in every version and on every platform:
    block i = 0, 1, 2, ... of 16384 bytes is SHAKE-128 of the concatenation of the ASCII bytes
    "exactdp seeded source, version 1", a zero byte, the seed (an integer as its decimal digits in
    ASCII), a zero byte, and i as 8 bytes little-endian. Bytes are served in order; an integer of k
    bits takes the lowest unused bits of the next byte first.

    >>> SeededSource(1).bits(32)
    3707995574
    """

    def __init__(self, seed: int | bytes) -> None:
        super().__init__()
        text = seed if isinstance(seed, bytes) else _digits(integer("seed", seed, least=0))
        self._key = _DOMAIN + text + b"\x00"
        self._block = b""
        self._number = 0
        self._used = 0
        self._leftover = Spare()

    def take(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            if self._used == len(self._block):
                self._next_block()
            part = self._block[self._used : self._used + missing]
            self._used += len(part)
            missing -= len(part)
            parts.append(part)
        return b"".join(parts)

    def _next_block(self) -> None:
        key = self._key + self._number.to_bytes(8, "little")
        self._block = hashlib.shake_128(key).digest(_BLOCK)
        self._number += 1
        self._used = 0

    def _spare(self) -> Spare:
        return self._leftover


def _digits(number: int) -> bytes:
    return f"{gmpy2.mpz(number)}".encode()  # str(int) stops at 4300 digits


class RecordingSource(WordSource):
    """Draws from another source and records every draw.

    record: the draws as (number of bits, value) pairs; ReplaySource repeats a record.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.record: list[tuple[int, int]] = []

    @property
    def bits_used(self) -> int:
        """Number of bits drawn so far."""
        return sum(k for k, _ in self.record)

    def bits(self, k: int) -> int:
        value = self._source.bits(k)
        self.record.append((k, value))
        return value

    def words(self, n: int, bits: int) -> Words:
        values = self._source.words(n, bits)
        self.record.extend((bits, int(value)) for value in values)
        return values


class ReplaySource(WordSource):
    """Repeats a record; raises InvalidParameter if a program draws another number of bits."""

    def __init__(self, record: list[tuple[int, int]]) -> None:
        self._rest = iter(list(record))

    def bits(self, k: int) -> int:
        size, value = next(self._rest, (None, 0))
        if size != k:
            raise InvalidParameter("record", Described(f"{size} bits"), f"{k} bits at this draw")
        return value

    def words(self, n: int, bits: int) -> Words:
        values = [self.bits(bits) for _ in range(n)]
        return np.array(values, dtype=f"<u{word_width(bits)}")
