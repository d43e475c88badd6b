"""A batch of outputs of any type: numbers, vectors, records, sparse histograms, texts."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.values import NAN, Table, common, types_of
from exactdp.errors import Described, InvalidParameter

_ALLOWED = "a function (dataset, n) that returns n outputs: an array, or a list of any objects"
_EXACT = 2**53  # every integer up to here is a double

#: One value for each output: numbers, or an object array of hashable values.
Column = NDArray[Any]
#: Steps from an output to a value inside it: an index into a tuple, bytes or a flattened array, a
#: key of a dictionary, the name of a field, an element of a set.
Path = tuple[Any, ...]


class Outputs:
    """n outputs, with the views that features are computed from.

    matrix: the outputs as an (n, d) array of numbers, or None when they are not all numbers or
        arrays of one type and shape.
    """

    def __init__(self, outputs: Any) -> None:
        if isinstance(outputs, np.ndarray) and outputs.ndim:
            array, self._python = _if_numeric(outputs), False
        elif isinstance(outputs, (list, tuple)):
            array = _if_numeric(_array(outputs))
            self._python = array is not None and type(outputs[0]) in (int, float)
        else:
            description = f"a {type(outputs).__name__}" if np.ndim(outputs) else "a single value"
            raise InvalidParameter("run", Described(description), _ALLOWED)
        self._array, self._listed = array, [] if array is not None else [*outputs]

    @classmethod
    def _build(cls, array: NDArray[Any] | None, listed: list[Any], python: bool) -> Outputs:
        batch = cls.__new__(cls)
        batch._array, batch._listed, batch._python = array, listed, python
        return batch

    def __len__(self) -> int:
        return len(self._listed if self._array is None else self._array)

    @cached_property
    def matrix(self) -> NDArray[Any] | None:
        """See the class."""
        array = self._array
        return None if array is None else array.reshape(len(array), int(np.prod(array.shape[1:])))

    @cached_property
    def raw(self) -> list[Any]:
        """The outputs one by one, with the types they had."""
        if self._array is None:
            return self._listed
        return self._array.tolist() if self._python else [*self._array]

    @cached_property
    def items(self) -> list[Any]:
        """The outputs as common values. Raises InvalidParameter where there is none."""
        if self._array is None or self.matrix is None:
            return _each(common, self._listed)
        if self._array.ndim == 1:
            return [value if value == value else NAN for value in self._array.tolist()]
        undefined = self._array.dtype.kind == "f" and np.isnan(self._array).any()
        return [common(row) if undefined else tuple(row) for row in self.matrix.tolist()]

    @cached_property
    def types(self) -> list[str]:
        """The types in each output, see values.types_of."""
        if self._array is None:
            return _each(types_of, self._listed)
        return [types_of(one) for one in self.raw[:1]] * len(self)

    @cached_property
    def entries(self) -> list[tuple[Any, ...]]:
        """The values that each output contains; a scalar is a tuple of one."""
        return [
            item
            if type(item) is tuple
            else tuple(item.values())
            if type(item) is Table
            else (item,)
            for item in self.items
        ]

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The numbers of each output, NaN for others: as many columns as the longest one has."""
        if self.matrix is not None:
            return self.matrix
        rows = [[*map(number, row)] for row in self.entries]
        filled = [row + [np.nan] * (self.width - len(row)) for row in rows]
        return np.array(filled, dtype=float).reshape(len(self), self.width)

    @cached_property
    def width(self) -> int:
        """The largest number of entries."""
        if self.matrix is not None:
            return int(self.matrix.shape[1])
        return max(map(len, self.entries), default=0)

    def at(self, path: Path, missing: Any = None) -> list[Any]:
        """The value at the end of a path inside each output; `missing` where it leads nowhere."""
        values = self.items
        for step in path:
            values = [
                one.get(step, missing) if type(one) is Table else _entry(one, step, missing)
                for one in values
            ]
        return values

    def take(self, start: int, stop: int) -> Outputs:
        """Some of the outputs."""
        array = None if self._array is None else self._array[start:stop]
        part = self._build(array, self._listed[start:stop], self._python)
        if "items" in self.__dict__:
            part.__dict__["items"] = self.items[start:stop]
        return part

    @classmethod
    def joined(cls, batches: Sequence[Outputs]) -> Outputs:
        """Several batches as one; outputs keep their types."""
        arrays = [one._array for one in batches if one._array is not None]
        kinds = {(array.dtype, array.shape[1:]) for array in arrays}
        python = {one._python for one in batches}
        if len(arrays) == len(batches) and len(kinds) == len(python) == 1:
            return cls._build(np.concatenate(arrays), [], *python)
        return cls._build(None, [one for batch in batches for one in batch.raw], False)


def _array(listed: Sequence[Any]) -> NDArray[Any] | None:
    """Numbers, or arrays, of one type as an array."""
    kinds = {*map(type, listed)}
    only = kinds.pop() if len(kinds) == 1 else object
    if only is np.ndarray:
        same = len({(one.shape, one.dtype) for one in listed}) == 1
        return np.array(listed) if same else None
    if only not in (int, float) and not issubclass(only, np.number):
        return None
    try:
        return np.array(listed, dtype=np.int64 if only is int else only)
    except OverflowError:
        return None


def _if_numeric(array: NDArray[Any] | None) -> NDArray[Any] | None:
    plain = type(array) is np.ndarray and array.dtype.kind in "iufb" and array.itemsize <= 8
    return array if plain else None


def _each(function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """A function of every value, computed once for an object that is listed many times."""
    known: dict[int, Any] = {}
    return [
        known[id(one)] if id(one) in known else known.setdefault(id(one), function(one))
        for one in values
    ]


def _entry(value: Any, step: Any, missing: Any) -> Any:
    """One step of a path, but for Tables; a scalar is a vector of one coordinate."""
    if type(value) in (tuple, bytes):
        return value[step] if type(step) is int and 0 <= step < len(value) else missing
    return value if step == 0 else missing


def as_outputs(outputs: Any, n: int | None = None) -> Outputs:
    """The outputs of one call, checked to be n of them."""
    batch = outputs if isinstance(outputs, Outputs) else Outputs(outputs)
    if n is not None and len(batch) != n:
        description = Described(f"{len(batch)} outputs where {n} were asked for")
        raise InvalidParameter("run", description, _ALLOWED)
    return batch


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """An object array with one cell for each value, of any type."""
    return np.fromiter(values, dtype=object)


def number(value: Any) -> float:
    """A common value as a double; NaN for what is not a number."""
    if type(value) is float:
        return value
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return float(value)
    if isinstance(value, numbers.Real):
        try:
            return float(cast(SupportsFloat, value))
        except OverflowError:
            return float("inf") if cast(Any, value) > 0 else float("-inf")
    return float("nan")


def exact(values: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers that compares exactly with any double: wide integers as objects."""
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > _EXACT:
        return objects(values.tolist())
    return values.astype(np.int64, copy=False)


def numeric(values: Sequence[Any]) -> NDArray[Any]:
    """Values as numbers, NaN for others: doubles, or exact objects where integers are wider.

    The two compare alike, so what is said of a number does not depend on the others.
    """
    entries = [value if type(value) is int else number(value) for value in values]
    if any(type(one) is int and not -_EXACT <= one <= _EXACT for one in entries):
        return objects(entries)
    return np.array(entries, dtype=np.float64)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """A column of numbers as doubles, rounded where need be."""
    if values.dtype != object:
        return values.astype(np.float64)
    return np.array([number(value) for value in values.tolist()], dtype=np.float64)


def kind(value: Any) -> str:
    """What a common value is, in one word; a short text is its own kind."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= 12 else "text"
    return "number" if isinstance(value, numbers.Number) else "object"
