"""Results that the library keeps for the next question, and how to let go of them."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Results by key, least recently used first.

    limit: in bytes. size: the bytes of one result. A result above the limit is not kept.
    """

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit, self._size = limit, size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """The bytes of all results that are kept."""
        return self._bytes

    def get(self, key: Hashable) -> T | None:
        """The result of this key, if the cache holds it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, result: T) -> T:
        """Keep the result of this key, and return it."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = result
                self._bytes += self._size(result)
            while self._bytes > self._limit:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= self._size(oldest)
        return result

    def cache_clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


_Cached = type(lru_cache(len))


def clear_caches() -> None:
    """Let go of all results that the library keeps: the next answers take as long as the first.

    A loss of sampled steps keeps about a megabyte for later questions, up to a bound of some
    hundred megabytes in all. Call this between many different questions if memory is short. No
    answer changes.
    """
    for held in gc.get_objects():
        if type(held) is BoundedCache or (
            type(held) is _Cached and held.__module__.startswith("exactdp")
        ):
            held.cache_clear()
