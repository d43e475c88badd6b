"""A cache that forgets the results used longest ago once all take more than a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
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

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of this key; it is made where it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += self._size(made)
            while self._bytes > self._limit:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= self._size(oldest)
        return made
