"""The operating system's randomness, safe across threads and forks."""

from __future__ import annotations

import os
import threading

import numpy as np

from exactdp.errors import RandomnessError
from exactdp.samplers.source import ByteSource, Spare, fit_for_release

#: Bytes per request to the operating system; larger blocks are not faster.
BLOCK = 1 << 16

#: Requests of at least this number of bytes bypass the blocks, which wastes none.
_DIRECT = 1 << 13

#: Bytes of words in stock for single draws: few, as a process may draw only once.
_WORD_BLOCK = 1 << 13

#: Two blocks of this number of truly random bytes are never equal in practice.
_DISTINCT = 16

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1  # bytes from the parent's pool are never served again


os.register_at_fork(after_in_child=_forked)


class _Pool(threading.local):
    """One thread's unused bytes."""

    def __init__(self) -> None:
        self.block = b""
        self.used = 0
        self.spare = Spare()


@fit_for_release
class SystemSource(ByteSource):
    """The operating system's randomness, fetched in blocks; the only source fit for a release.

    No bit is used twice. Every thread has its own pool of bytes; words of single draws come from
    one list, from which threads pop atomically. A forked process starts with empty pools. A read
    that fails, is short, or repeats itself raises RandomnessError.
    Subclasses are not fit for a release, because they may read other bits.
    """

    _ahead = 32

    def __init__(self) -> None:
        super().__init__()
        self._start_afresh()

    def __reduce__(self) -> tuple[type[SystemSource], tuple[()]]:
        return type(self), ()  # a copy starts with empty pools

    def word(self) -> int:
        if self._forks != _forks or self._process != os.getpid():
            self._start_afresh()
        self.bits_used += 64
        try:
            return self._words.pop()
        except IndexError:
            fresh: list[int] = np.frombuffer(self._fetch(_WORD_BLOCK), np.uint64).tolist()
            word = fresh.pop()
            self._words.extend(fresh)
            return word

    def take(self, count: int) -> bytes:
        if count >= _DIRECT:
            return self._fetch(count)
        pool = self._mine()
        if pool.used + count > len(pool.block):
            pool.block, pool.used = self._fetch(BLOCK), 0
        start = pool.used
        pool.used += count
        return pool.block[start : pool.used]

    def _spare(self) -> Spare:
        return self._mine().spare

    def _mine(self) -> _Pool:
        if self._forks != _forks or self._process != os.getpid():
            self._start_afresh()
        return self._pool

    def _start_afresh(self) -> None:
        self._words: list[int] = []
        self._pool = _Pool()
        self._process, self._forks = os.getpid(), _forks  # last: a thread that sees them is safe

    def _fetch(self, count: int) -> bytes:
        try:
            block = os.urandom(count)
        except (OSError, NotImplementedError) as error:
            raise RandomnessError(f"reading {count} random bytes failed: {error}") from error
        if len(block) != count:
            raise RandomnessError(f"asked for {count} random bytes, got {len(block)}")
        if block[:_DISTINCT] == block[-_DISTINCT:] and count > _DISTINCT:
            raise RandomnessError(f"{count} random bytes repeat earlier bytes")
        return block
