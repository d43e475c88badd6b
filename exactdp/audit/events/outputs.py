"""A batch of outputs, whatever they are: numbers, vectors, tuples with holes, sparse histograms."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.forms import NEGATIVE_ZERO, form, scalar, signs
from exactdp.audit.events.plain import NAN, Coded, plain
from exactdp.audit.events.trees import Tree
from exactdp.errors import Described, InvalidParameter

__all__ = ["Outputs", "as_floats", "as_outputs", "kind", "number", "numeric", "objects"]

_ALLOWED = "a function (dataset, n) that returns n outputs: an array, or a list of any objects"
_EXACT = 2**53  # every integer up to here is a double


class Outputs:
    """n outputs of one kind, with the views that features are computed from.

    matrix: the outputs as an (n, d) array of numbers, or None when they are not all numbers of one
        type and shape.
    """

    def __init__(self, raw: Any) -> None:
        self.matrix, self._form, self._raw = _read(raw)
        self.n = len(self._raw) if self.matrix is None else len(self.matrix)

    def __len__(self) -> int:
        return self.n

    @cached_property
    def items(self) -> list[Any]:
        """The outputs as plain values, see plain.py. Raises InvalidParameter where one has none."""
        if self.matrix is None:
            return _each(plain, self._raw)
        if self.matrix.shape[1] == 1:
            return [value if value == value else NAN for value in self.matrix[:, 0].tolist()]
        if self.matrix.dtype.kind == "f" and np.isnan(self.matrix).any():
            return [plain(row) for row in self.matrix.tolist()]
        return [tuple(row) for row in self.matrix.tolist()]

    @cached_property
    def wholes(self) -> NDArray[Any]:
        """Each output as one hashable value, in an object array."""
        return objects(self.items)

    @cached_property
    def forms(self) -> list[str]:
        """The types each output is made of, see forms.py."""
        if self.matrix is None:
            return [form(one) for one in self._raw]
        if self.matrix.dtype.kind == "f":
            return self._signed()
        return [self._form] * self.n

    def _signed(self) -> list[str]:
        """The form of each row of doubles: alike but for the signs of zeros and of NaN."""
        assert self.matrix is not None
        found = [self._form] * self.n
        odd = np.signbit(self.matrix) & ((self.matrix == 0) | np.isnan(self.matrix))
        for i in np.flatnonzero(odd.any(axis=1)).tolist():
            row = self.matrix[i]
            alone = NEGATIVE_ZERO if row[0] == 0 else f"-nan {self._form}"
            found[i] = alone if _alone(self._form) else self._form + signs(row)
        return found

    @cached_property
    def trees(self) -> list[Tree]:
        """Each output with what lies inside it, see trees.py."""
        return _each(Tree, self.items)

    @cached_property
    def tables(self) -> list[dict[Any, Any]]:
        """Each output as a dictionary; empty for outputs that are not sparse histograms."""
        if self.matrix is not None:
            return [{}] * self.n
        return [tree.inside if isinstance(tree.value, frozenset) else {} for tree in self.trees]

    @cached_property
    def key_orders(self) -> list[tuple[Any, ...]]:
        """The keys of each dictionary in its own order; empty for other outputs."""
        return [plain(tuple(one)) if isinstance(one, dict) else () for one in self._raw]

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """Each output as a tuple of its coordinates; a scalar is a tuple of one."""
        return [_row(item) for item in self.items]

    @cached_property
    def entries(self) -> list[tuple[Any, ...]]:
        """The values of each output: of its coordinates, or of the keys of a sparse histogram."""
        pairs = zip(self.items, self.rows, self.tables, strict=True)
        return [
            tuple(keyed.values()) if isinstance(item, frozenset) else row
            for item, row, keyed in pairs
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
        part._form, part._raw = self._form, self._raw[start:stop]
        part.n = len(range(self.n)[start:stop])
        for view in ("items", "tables", "trees", "entries"):
            if view in self.__dict__:
                part.__dict__[view] = self.__dict__[view][start:stop]
        return part

    @classmethod
    def joined(cls, parts: Sequence[Outputs]) -> Outputs:
        """Several batches as one; those of different types keep them."""
        first, *others = parts
        if not others:
            return first
        matrices = [part.matrix for part in parts if part.matrix is not None]
        whole = cls([])
        if len(matrices) == len(parts) and len({(p._form, p.width) for p in parts}) == 1:
            whole.matrix, whole._form = np.concatenate(matrices), first._form
            whole.n = len(whole.matrix)
        else:
            whole._raw = [one for part in parts for one in part._objects()]
            whole.n = len(whole._raw)
        return whole

    def _objects(self) -> list[Any]:
        """The outputs one by one, of the types they had."""
        if self.matrix is None:
            return self._raw
        rows: list[Any] = [row[0] for row in self.matrix] if _alone(self._form) else [*self.matrix]
        plainly = self._form in ("int", "float")
        return [row.item() for row in rows] if plainly else rows


def _each(function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """A function of every value, worked out once for one that stands there many times."""
    known: dict[int, Any] = {}
    return [
        known[id(one)] if id(one) in known else known.setdefault(id(one), function(one))
        for one in values
    ]


def as_outputs(raw: Any, n: int | None = None) -> Outputs:
    """The outputs of one call, checked to be n of them."""
    outputs = raw if isinstance(raw, Outputs) else Outputs(raw)
    if n is not None and len(outputs) != n:
        raise InvalidParameter(
            "run", Described(f"{len(outputs)} outputs where {n} were asked for"), _ALLOWED
        )
    return outputs


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """An object array of these values, one cell each whatever they are."""
    return np.fromiter(values, dtype=object)


def number(value: Any) -> float:
    """A value as a double; NaN for what is not a number. A coded value counts by its first part."""
    if type(value) is float:
        return value
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return float(value)
    if isinstance(value, Coded) and value.parts and not isinstance(value.parts[0], tuple):
        return number(value.parts[0])
    if isinstance(value, (int, numbers.Real)):
        try:
            return float(cast(SupportsFloat, value))
        except OverflowError:
            return float("inf") if cast(Any, value) > 0 else float("-inf")
    return float("nan")


def numeric(values: Sequence[Any]) -> NDArray[Any]:
    """Values as numbers, NaN for others: doubles, or exact objects where integers are wider.

    The two compare alike, so what a number is said to be does not depend on the others.
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
    """What a value is, in one word."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= 12 else "text"
    if isinstance(value, Coded):
        named = value.name in ("Enum", "exception", "type")
        return str(value.parts[-1 if value.name == "Enum" else 0]) if named else value.name.lower()
    return "number" if isinstance(value, numbers.Number) else "object"


def _read(raw: Any) -> tuple[NDArray[Any] | None, str, list[Any]]:
    """A matrix and the form of its rows, or the outputs one by one."""
    if isinstance(raw, np.ndarray):
        if not raw.ndim:
            raise InvalidParameter("run", Described("an array of shape ()"), _ALLOWED)
        if _plain_numbers(raw):
            shape = raw.shape[1:]
            return _flat(raw), (raw.dtype.name + str(shape) if shape else scalar(raw.dtype)), []
        return None, "", [*raw]
    if not isinstance(raw, (list, tuple)):
        raise InvalidParameter("run", Described(f"a {type(raw).__name__}"), _ALLOWED)
    return _from_list(list(raw))


def _from_list(items: list[Any]) -> tuple[NDArray[Any] | None, str, list[Any]]:
    kinds = set(map(type, items))
    if len(kinds) != 1:
        return None, "", items
    (only,) = kinds
    if only is int:
        try:
            return np.array(items, dtype=np.int64).reshape(-1, 1), "int", []
        except OverflowError:
            return None, "", items
    if only is float:
        return np.array(items, dtype=np.float64).reshape(-1, 1), "float", []
    if only is np.ndarray and len({(one.shape, one.dtype) for one in items}) == 1:
        together = np.array(items)
        if _plain_numbers(together):
            return _flat(together), form(np.zeros_like(items[0])), []
    if issubclass(only, np.number) and _plain_numbers(np.zeros(1, dtype=only)):
        return np.array(items, dtype=only).reshape(-1, 1), items[0].dtype.name, []
    return None, "", items


def _plain_numbers(values: NDArray[Any]) -> bool:
    return type(values) is np.ndarray and values.dtype.kind in "iufb" and values.itemsize <= 8


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    return values.reshape(len(values), int(np.prod(values.shape[1:], dtype=int)))


def _alone(described: str) -> bool:
    """Whether a form is that of a number, not of an array."""
    return "(" not in described


def _row(item: Any) -> tuple[Any, ...]:
    if isinstance(item, tuple):
        return item
    if isinstance(item, Coded) and item.parts and item != NAN:
        return item.parts
    return (item,)
