"""Vectors as users write them: mappings of entries to values, lists, arrays and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real

#: A mapping of entries to values, or the values of the entries 0, 1, 2, ... in order. Missing
#: entries are 0.
Vector: TypeAlias = Mapping[Any, Real] | Sequence[Real] | NDArray[Any]


def labelled(name: str, column: Any) -> Mapping[Any, Any] | None:
    """A mapping as it is, a column with labels (a pandas Series) as a mapping; None for other
    values.

    Raises InvalidParameter for a label that occurs twice.
    """
    if isinstance(column, Mapping):
        return column
    labels = hasattr(column, "index") and callable(getattr(column, "items", None))
    if not labels or column.ndim != 1:
        return None
    by_label = dict(column.items())
    if len(by_label) < len(column):
        raise InvalidParameter(name, Described("a label twice"), "labels that occur once")
    return by_label


def by_entry(name: str, vector: Vector) -> Mapping[Any, Real]:
    """The values by entry; zeros of a list, an array or a column are left out.

    A column with labels (pandas) is read by its labels, other columns (polars, pyarrow) in order.
    Raises InvalidParameter for anything but a mapping, a list, a tuple, a one-dimensional array or
    a column.

    >>> by_entry("vector", [0, 3, 0, "0.5"])
    {1: 3, 3: '0.5'}
    """
    named = labelled(name, vector)
    if named is not None:
        return named
    for listing in ("to_pylist", "to_list"):  # columns of pyarrow and polars
        vector = getattr(vector, listing)() if hasattr(vector, listing) else vector
    if isinstance(vector, np.ndarray) and vector.ndim == 1:
        # other float types are read as the decimals they print
        plain = vector.dtype.kind in "iu" or vector.dtype == np.float64
        values: Sequence[Any] = vector.tolist() if plain else list(vector)
    elif isinstance(vector, list | tuple):
        values = vector
    else:
        shape = f" of shape {vector.shape}" if isinstance(vector, np.ndarray) else ""
        allowed = "a mapping of entries to values, a list, a column, or an array of one dimension"
        raise InvalidParameter(name, Described(f"{type(vector).__name__}{shape}"), allowed)
    return {i: x for i, x in enumerate(values) if not (isinstance(x, int | float) and x == 0)}
