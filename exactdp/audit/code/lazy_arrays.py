"""An array of numbers that are drawn as far as the program looks at them: rng.random(k) < p."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.code.lazy import LazyNumber


class LazyArray:
    """Compares and calculates element by element; any other use settles all of its numbers.

    items: an array of LazyNumbers, as objects.
    """

    __array_ufunc__ = None  # numpy leaves an operation to the methods below
    dtype = np.dtype(np.float64)

    def __init__(self, items: NDArray[Any]) -> None:
        self._items = items
        self.shape, self.size, self.ndim = items.shape, items.size, items.ndim

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The type that isinstance sees."""
        return np.ndarray

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        return _lazy(self._items[place])

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        settled = [x.settle() if isinstance(x, LazyNumber) else x for x in self._items.flat]
        return np.array(settled, dtype or np.float64).reshape(self.shape).copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__array__().__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return getattr(self.__array__(), name)


def _lazy(items: Any) -> Any:
    return LazyArray(items) if isinstance(items, np.ndarray) else items


def _by_element(name: str, result: Callable[[Any], Any]) -> Callable[[LazyArray, Any], Any]:
    def method(self: LazyArray, other: Any) -> Any:
        theirs = other._items if type(other) is LazyArray else other
        return result(getattr(self._items, name)(theirs))

    return method


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _method = _by_element(f"__{_name}__", lambda items: items.astype(bool))
    setattr(LazyArray, f"__{_name}__", _method)
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(LazyArray, f"__{_name}__", _by_element(f"__{_name}__", _lazy))
