"""Vectors as users write them: mappings of entries to values, lists, and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real

__all__ = ["Vector", "by_entry"]

#: A mapping of entries to values, or the values of the entries 0, 1, 2, ... in order. Missing
#: entries are 0.
Vector: TypeAlias = Mapping[Any, Real] | Sequence[Real] | NDArray[Any]


def by_entry(name: str, vector: Vector) -> Mapping[Any, Real]:
    """The values by entry; zeros of a list or an array are left out.

    Raises InvalidParameter for anything but a mapping, a list, a tuple or a one-dimensional array.

    >>> by_entry("vector", [0, 3, 0, "0.5"])
    {1: 3, 3: '0.5'}
    """
    if isinstance(vector, Mapping):
        return vector
    if isinstance(vector, np.ndarray) and vector.ndim == 1:
        # other float types are read as the decimals they print
        plain = vector.dtype.kind in "iu" or vector.dtype == np.float64
        values: Sequence[Any] = vector.tolist() if plain else list(vector)
    elif isinstance(vector, list | tuple):
        values = vector
    else:
        shape = f" of shape {vector.shape}" if isinstance(vector, np.ndarray) else ""
        allowed = "a mapping of entries to values, a list, or an array of one dimension"
        raise InvalidParameter(name, Described(f"{type(vector).__name__}{shape}"), allowed)
    return {i: x for i, x in enumerate(values) if not (isinstance(x, int | float) and x == 0)}
