"""A batch of outputs, whatever they are: numbers, vectors, tuples with holes, sparse histograms."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter

__all__ = ["Outputs", "as_outputs"]

_ALLOWED = "a function (dataset, n) that returns n outputs: an array, or a list of hashable objects"


class Outputs:
    """n outputs of one kind, with the views that features are computed from.

    matrix: the outputs as an (n, d) array of numbers, or None when they are not all numbers.
    items: the outputs as a list of Python objects, always available.
    """

    def __init__(self, raw: Any) -> None:
        self.matrix, self._items = _read(raw)
        self.n = len(self.matrix) if self.matrix is not None else len(self._items or ())

    def __len__(self) -> int:
        return self.n

    @cached_property
    def items(self) -> list[Any]:
        """The outputs as hashable objects: scalars, tuples, frozensets of (key, value) pairs."""
        if self._items is not None:
            return self._items
        assert self.matrix is not None
        if self.matrix.shape[1] == 1:
            return list(self.matrix[:, 0].tolist())
        return [tuple(row) for row in self.matrix.tolist()]

    @cached_property
    def wholes(self) -> NDArray[Any]:
        """Each output as one hashable value, in an object array."""
        return objects(map(_hashable, self.items))

    @cached_property
    def tables(self) -> list[dict[Any, Any]]:
        """Each output as a dictionary; empty for outputs that are not sparse histograms."""
        return [_table(item) for item in self.items]

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """Each output as a tuple of its coordinates; a scalar is a tuple of one."""
        return [_row(item) for item in self.items]

    @cached_property
    def entries(self) -> list[tuple[Any, ...]]:
        """The values of each output: of its coordinates, or of the keys of a sparse histogram."""
        pairs = zip(self.items, self.rows, self.tables, strict=True)
        return [tuple(table.values()) if _is_table(item) else row for item, row, table in pairs]

    @cached_property
    def sparse(self) -> bool:
        """Whether every output is a sparse histogram (a dictionary or a set of pairs)."""
        return self.matrix is None and all(_is_table(item) for item in self.items)

    @cached_property
    def width(self) -> int:
        """The largest number of coordinates."""
        if self.matrix is not None:
            return int(self.matrix.shape[1])
        return 0 if self.sparse else max(map(len, self.rows), default=0)

    def take(self, start: int, stop: int) -> Outputs:
        """Some of the outputs."""
        if self.matrix is not None:
            return Outputs(self.matrix[start:stop])
        return Outputs(self.items[start:stop])

    @classmethod
    def joined(cls, parts: Sequence[Outputs]) -> Outputs:
        """Several batches as one."""
        matrices = [part.matrix for part in parts]
        if matrices and all(matrix is not None for matrix in matrices):
            known = [matrix for matrix in matrices if matrix is not None]
            if len({matrix.shape[1] for matrix in known}) == 1:
                return cls(np.concatenate(known))
        return cls([item for part in parts for item in part.items])


def as_outputs(raw: Any, n: int | None = None) -> Outputs:
    """The outputs of one call, checked to be n of them."""
    outputs = raw if isinstance(raw, Outputs) else Outputs(raw)
    if n is not None and len(outputs) != n:
        raise InvalidParameter("run", f"{len(outputs)} outputs where {n} were asked for", _ALLOWED)
    return outputs


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """An object array of these values, one cell each whatever they are."""
    return np.fromiter(values, dtype=object)


def number(value: Any) -> float:
    """A value as a double; NaN for what is not a number."""
    if isinstance(value, (int, float, np.number, np.bool_)):
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    if isinstance(value, numbers.Number) and not isinstance(value, complex):
        return float(cast(SupportsFloat, value))
    return float("nan")


def kind(value: Any) -> str:
    """What a value is, in one word."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= 12 else "text"
    if isinstance(value, float) and value != value:
        return "nan"
    return "number" if isinstance(value, numbers.Number) else "object"


def _read(raw: Any) -> tuple[NDArray[Any] | None, list[Any] | None]:
    if isinstance(raw, np.ndarray):
        if raw.ndim not in (1, 2):
            raise InvalidParameter("run", f"an array of shape {raw.shape}", _ALLOWED)
        if raw.dtype.kind in "iufb":
            return raw.reshape(len(raw), -1), None
        raw = raw.tolist()
    if not isinstance(raw, (list, tuple)):
        raise InvalidParameter("run", f"a {type(raw).__name__}", _ALLOWED)
    return _from_list(list(raw))


def _from_list(items: list[Any]) -> tuple[NDArray[Any] | None, list[Any] | None]:
    kinds = set(map(type, items))
    if kinds and all(issubclass(one, (float, np.floating)) for one in kinds):
        return np.array(items, dtype=np.float64).reshape(-1, 1), None
    if kinds and all(issubclass(one, (int, np.integer)) and one is not bool for one in kinds):
        try:
            return np.array(items, dtype=np.int64).reshape(-1, 1), None
        except OverflowError:
            return None, items
    if kinds == {np.ndarray} and len({item.shape for item in items}) == 1:
        return np.array(items).reshape(len(items), -1), None
    return None, items


def _hashable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return frozenset((key, _hashable(inner)) for key, inner in value.items())
    if isinstance(value, (list, np.ndarray)):
        return tuple(_hashable(inner) for inner in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(_hashable(inner) for inner in value)
    if isinstance(value, np.generic):
        return cast(Hashable, value.item())
    return cast(Hashable, value)


def _is_table(item: Any) -> bool:
    return isinstance(item, (dict, set, frozenset))


def _table(item: Any) -> dict[Any, Any]:
    if isinstance(item, dict):
        return item
    if isinstance(item, (set, frozenset)):
        if all(isinstance(pair, tuple) and len(pair) == 2 for pair in item):
            return dict(item)
        return dict.fromkeys(item, True)
    return {}


def _row(item: Any) -> tuple[Any, ...]:
    if isinstance(item, tuple):
        return item
    if isinstance(item, (list, np.ndarray)):
        return tuple(item)
    return (item,)
