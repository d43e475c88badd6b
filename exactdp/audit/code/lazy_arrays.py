"""An array of numbers that are drawn as far as the program looks at them: rng.random(k) < p."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from exactdp.audit.code.disguise import SeenAs
from exactdp.audit.code.functions import OF_ARRAYS, TRUTHS, UFUNCS
from exactdp.audit.code.lazy import LazyNumber


class LazyArray(NDArrayOperatorsMixin):
    """Compares and calculates element by element; any other use settles all of its numbers.

    items: an array of LazyNumbers and of floats, as objects.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, items: NDArray[Any]) -> None:
        self._items = items
        self.shape, self.size, self.ndim = items.shape, items.size, items.ndim

    __class__ = SeenAs(lambda _: np.ndarray)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        return _lazy(self._items[place])

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        settled = [_settled(x) for x in self._items.flat]
        array = np.array(settled, dtype or np.float64).reshape(self.shape).copy()
        array.setflags(write=False)  # what is written there would be lost
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return applied(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        known = _FUNCTIONS.get(function)
        if known is not None and not named.keys() - _OPTIONS:
            return known(*arguments, **named)
        if function not in _PURE:
            return NotImplemented
        return function(*map(_settled, arguments), **{k: _settled(v) for k, v in named.items()})

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__array__().__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name not in _PURE_METHODS:
            raise AttributeError(name)
        return getattr(self.__array__(), name)

    def reshape(self, *shape: Any) -> Any:
        """The method of arrays."""
        return _lazy(self._items.reshape(*shape))

    def round(self, decimals: int = 0) -> Any:
        """The method of arrays."""
        return _each(lambda x: x.round(decimals), (self,), np.dtype(np.float64))

    def astype(self, dtype: Any, **named: Any) -> Any:
        """The method of arrays."""
        if np.dtype(dtype) != np.int64 or named:
            return self.__array__().astype(dtype, **named)
        return _each(lambda x: x.astype(np.int64), (self,), np.dtype(np.int64))


def called(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What another function of numpy returns for lazy numbers."""
    known = _FUNCTIONS.get(function)
    if known is None or named.keys() - _OPTIONS:
        return function._implementation(*arguments, **named)
    return known(*arguments, **named)


def applied(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What a function of numpy returns for lazy numbers, or arrays of them."""
    known = UFUNCS.get(ufunc)
    if "out" in named:
        return NotImplemented  # what is written there would be lost
    if method != "__call__" or named or known is None:
        others = {name: _settled(value) for name, value in named.items()}
        return getattr(ufunc, method)(*map(_settled, inputs), **others)
    if not any(_is_array(each) for each in inputs):
        return known(*inputs)
    known = OF_ARRAYS.get(ufunc, known)
    truth = np.dtype(np.bool_ if ufunc in TRUTHS else np.float64)
    return _each(
        lambda *parts: (known if any(type(x) is LazyNumber for x in parts) else ufunc)(*parts),
        inputs,
        truth,
    )


def _each(function: Callable[..., Any], inputs: tuple[Any, ...], dtype: np.dtype[Any]) -> Any:
    """A function of each element, in an array of this type."""
    arrays = [_objects(each) for each in inputs]
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    arrays = [np.broadcast_to(each, shape) for each in arrays]
    results = np.empty(shape, object)
    for place in np.ndindex(shape):
        results[place] = function(*(each[place] for each in arrays))
    return results.astype(dtype)[()] if dtype != np.float64 else _lazy(results[()])


def _objects(value: Any) -> NDArray[Any]:
    """The elements, as numpy's own numbers, in an array of objects."""
    if type(value) is LazyArray:
        return value._items
    if type(value) is not LazyNumber:
        value = np.asarray(value)
    items = np.empty(np.shape(value) if type(value) is not LazyNumber else (), object)
    for place in np.ndindex(items.shape):
        items[place] = value[place] if type(value) is not LazyNumber else value
    return items


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, list, tuple))  # a LazyArray, too


def _lazy(items: Any) -> Any:
    """An array of lazy numbers, or an ordinary one if all of its numbers are known."""
    if type(items) is not np.ndarray:
        return items
    if any(type(each) is LazyNumber for each in items.flat):
        return LazyArray(items)
    return items.astype(np.float64)


def _settled(value: Any) -> Any:
    if type(value) is LazyNumber:
        return value.settle()
    return value.__array__() if type(value) is LazyArray else value


def _searched(items: Any, values: Any, side: Any = "left") -> Any:
    """np.searchsorted in a sorted array."""
    order = np.asarray(items)
    if not _is_rising(order):
        return np.searchsorted(order, _settled(values), side)
    return _each(lambda x: _place(order, x, side), (values,), np.dtype(np.int64))


def _is_rising(items: Any) -> bool:
    plain = items.ndim == 1 and items.dtype.kind in "fiu"
    return plain and bool(np.all(items[:-1] <= items[1:]))


def _place(order: Any, value: Any, side: Any) -> Any:
    if type(value) is not LazyNumber:
        return np.searchsorted(order, value, side)
    place = value.through(lambda v: np.searchsorted(order, v, side), True, False, None)
    return _settled(place)


def _digitized(values: Any, bins: Any) -> Any:
    """np.digitize in rising bins."""
    if _is_rising(np.asarray(bins)):
        return _searched(bins, values, "right")
    return np.digitize(_settled(values), bins)


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """np.where, with a condition that is known."""
    return _each(
        lambda c, a, b: _float(a if c else b), (_settled(condition), one, other), LazyArray.dtype
    )


def _float(value: Any) -> Any:
    return value if type(value) is LazyNumber else np.float64(value)


#: Functions and methods that change none of their arguments; they settle the numbers.
_PURE = {
    *(np.sum, np.mean, np.prod, np.cumsum, np.any, np.all, np.max, np.min, np.argmax, np.argmin),
    *(np.count_nonzero, np.array_equal, np.concatenate, np.stack, np.sort, np.argsort, np.clip),
    *(np.ndim, np.shape, np.size, np.median, np.var, np.std, np.dot, np.unique, np.isclose),
}
_PURE_METHODS = {
    *("sum", "mean", "prod", "cumsum", "any", "all", "max", "min", "argmax", "argmin", "tolist"),
    *("item", "copy", "flatten", "argsort", "clip", "var", "std", "dot", "nonzero", "take", "T"),
}
#: Named arguments that are known.
_OPTIONS = {"side", "decimals"}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.searchsorted: _searched,
    np.digitize: _digitized,
    np.where: _chosen,
    np.round: lambda values, decimals=0: values.round(decimals),
    np.reshape: lambda values, shape: values.reshape(shape),
}
