"""A batch of outputs of any type: numbers, vectors, records, sparse histograms, texts."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.values import NAN, array_types, common, type_name, types_of
from exactdp.errors import Described, InvalidParameter

__all__ = ["Outputs", "as_floats", "as_outputs", "kind", "number", "numeric", "objects"]

_ALLOWED = "a function (dataset, n) that returns n outputs: an array, or a list of any objects"
_EXACT = 2**53  # every integer up to here is a double


class Outputs:
    """n outputs, with the views that features are computed from.

    matrix: the outputs as an (n, d) array of numbers, or None when they are not all numbers or
        arrays of one type and shape.
    """

    def __init__(self, outputs: Any) -> None:
        self.matrix, self._type, self._listed = _read(outputs)
        self.n = len(self._listed) if self.matrix is None else len(self.matrix)

    def __len__(self) -> int:
        return self.n

    @cached_property
    def raw(self) -> list[Any]:
        """The outputs one by one, with the types they had."""
        if self.matrix is None:
            return self._listed
        if _is_array(self._type):
            return [*self.matrix]
        column = self.matrix[:, 0]
        return column.tolist() if self._type in ("int", "float") else [*column]

    @cached_property
    def items(self) -> list[Any]:
        """The outputs as common values. Raises InvalidParameter where there is none."""
        if self.matrix is None:
            return _each(common, self._listed)
        if not _is_array(self._type):
            return [value if value == value else NAN for value in self.matrix[:, 0].tolist()]
        if self.matrix.dtype.kind == "f" and np.isnan(self.matrix).any():
            return [common(row) for row in self.matrix.tolist()]
        return [tuple(row) for row in self.matrix.tolist()]

    @cached_property
    def types(self) -> list[str]:
        """The types in each output, see values.types_of."""
        if self.matrix is None:
            return _each(types_of, self._listed)
        found = [self._type] * self.n
        if self.matrix.dtype.kind == "f":
            negative = (self.matrix == 0) & np.signbit(self.matrix)
            for i in np.flatnonzero(negative.any(axis=1)).tolist():
                at = f" at {np.flatnonzero(negative[i]).tolist()}" if _is_array(self._type) else ""
                found[i] += f" -0.0{at}"
        return found

    @cached_property
    def tables(self) -> list[dict[Any, Any]]:
        """Each output as a dictionary; empty for outputs that are not sparse histograms."""
        return [{}] * self.n if self.matrix is not None else _each(_table, self.items)

    @cached_property
    def key_orders(self) -> list[tuple[Any, ...]]:
        """The keys of each dictionary in its own order; empty for other outputs."""
        return [common(tuple(one)) if isinstance(one, dict) else () for one in self.raw]

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """Each output as a tuple of its coordinates; a scalar is a tuple of one."""
        return [item if isinstance(item, tuple) else (item,) for item in self.items]

    @cached_property
    def entries(self) -> list[tuple[Any, ...]]:
        """The values of each output: of its coordinates, or of the keys of a sparse histogram."""
        pairs = zip(self.rows, self.items, self.tables, strict=True)
        return [
            tuple(table.values()) if isinstance(item, frozenset) else row
            for row, item, table in pairs
        ]

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The numbers of each output, NaN for others: as many columns as the longest one has."""
        if self.matrix is not None:
            return self.matrix
        rows = [[*map(number, row)] for row in self.entries]
        most = max(map(len, rows), default=0)
        filled = [row + [np.nan] * (most - len(row)) for row in rows]
        return np.array(filled, dtype=float).reshape(self.n, most)

    @cached_property
    def sparse(self) -> bool:
        """Whether every output is a sparse histogram (a dictionary or a set of pairs)."""
        return self.matrix is None and all(isinstance(item, frozenset) for item in self.items)

    @cached_property
    def width(self) -> int:
        """The largest number of coordinates."""
        if self.matrix is not None:
            return int(self.matrix.shape[1])
        return 0 if self.sparse else max(map(len, self.rows), default=0)

    def take(self, start: int, stop: int) -> Outputs:
        """Some of the outputs."""
        part = Outputs.__new__(Outputs)
        part.matrix = None if self.matrix is None else self.matrix[start:stop]
        part._type, part._listed = self._type, self._listed[start:stop]
        part.n = len(range(self.n)[start:stop])
        for view in ("items", "tables", "entries"):
            if view in self.__dict__:
                part.__dict__[view] = self.__dict__[view][start:stop]
        return part

    @classmethod
    def joined(cls, batches: Sequence[Outputs]) -> Outputs:
        """Several batches as one; those of different types keep them."""
        first, *others = batches
        if not others:
            return first
        matrices = [one.matrix for one in batches if one.matrix is not None]
        whole = cls([])
        if len(matrices) == len(batches) and len({(o._type, o.width) for o in batches}) == 1:
            whole.matrix, whole._type = np.concatenate(matrices), first._type
            whole.n = len(whole.matrix)
        else:
            whole._listed = [one for batch in batches for one in batch.raw]
            whole.n = len(whole._listed)
        return whole


def _each(function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """A function of every value, computed once for an object that is listed many times."""
    known: dict[int, Any] = {}
    return [
        known[id(one)] if id(one) in known else known.setdefault(id(one), function(one))
        for one in values
    ]


def _table(item: Any) -> dict[Any, Any]:
    """A set of pairs as a dictionary; for another set, which elements it has."""
    if not isinstance(item, frozenset):
        return {}
    if {*map(type, item)} <= {tuple} and {*map(len, item)} <= {2}:
        found = dict(item)
        if len(found) == len(item):
            return found
    return dict.fromkeys(item, True)


def as_outputs(outputs: Any, n: int | None = None) -> Outputs:
    """The outputs of one call, checked to be n of them."""
    batch = outputs if isinstance(outputs, Outputs) else Outputs(outputs)
    if n is not None and len(batch) != n:
        found = Described(f"{len(batch)} outputs where {n} were asked for")
        raise InvalidParameter("run", found, _ALLOWED)
    return batch


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """An object array of these values, one cell each whatever they are."""
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


def numeric(values: Sequence[Any]) -> NDArray[Any]:
    """Values as numbers, NaN for others: doubles, or exact objects where integers are wider.

    The two compare alike, so what is said of a number does not depend on the others.
    """
    found = [value if type(value) is int else number(value) for value in values]
    if any(type(one) is int and not -_EXACT <= one <= _EXACT for one in found):
        return objects(found)
    return np.array(found, dtype=np.float64)


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


def _read(outputs: Any) -> tuple[NDArray[Any] | None, str, list[Any]]:
    """A matrix and the type of its rows, or the outputs one by one."""
    if isinstance(outputs, np.ndarray):
        if not outputs.ndim:
            raise InvalidParameter("run", Described("an array of shape ()"), _ALLOWED)
        if _is_numeric(outputs):
            return _as_matrix(outputs), _row_type(outputs), []
        return None, "", [*outputs]
    if not isinstance(outputs, (list, tuple)):
        raise InvalidParameter("run", Described(f"a {type(outputs).__name__}"), _ALLOWED)
    return _from_list(list(outputs))


def _from_list(items: list[Any]) -> tuple[NDArray[Any] | None, str, list[Any]]:
    kinds = set(map(type, items))
    if len(kinds) != 1:
        return None, "", items
    (only,) = kinds
    if only in (int, float):
        try:
            dtype = np.int64 if only is int else np.float64
            return np.array(items, dtype=dtype).reshape(-1, 1), only.__name__, []
        except OverflowError:
            return None, "", items
    if only is np.ndarray and len({(one.shape, one.dtype) for one in items}) == 1:
        together = np.array(items)
        if _is_numeric(together):
            return _as_matrix(together), _row_type(together), []
    if issubclass(only, np.number) and _is_numeric(np.zeros(1, dtype=only)):
        return np.array(items, dtype=only).reshape(-1, 1), type_name(only), []
    return None, "", items


def _is_numeric(values: NDArray[Any]) -> bool:
    return type(values) is np.ndarray and values.dtype.kind in "iufb" and values.itemsize <= 8


def _as_matrix(values: NDArray[Any]) -> NDArray[Any]:
    return values.reshape(len(values), int(np.prod(values.shape[1:], dtype=int)))


def _row_type(values: NDArray[Any]) -> str:
    """The type of one output of an array of outputs: a number, or an array."""
    if values.ndim == 1:
        return type_name(values.dtype.type)
    return array_types(np.ones(values.shape[1:], dtype=values.dtype))


def _is_array(described: str) -> bool:
    return "(" in described
