"""Public matrices: a set C_x of outputs for every value x, from a public seed.

Neither client nor server stores the matrix: a column depends only on the seed and its number. The
matrix is public, so privacy does not depend on how it is drawn; recovery works for most matrices.
CP: Xiong et al., "Compressive Privatization".
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import Bits, Integers
from exactdp.local.walsh import parity
from exactdp.parameters import Real, delta_target

_DOMAIN = b"exactdp public columns, version 1\x00"

#: Largest number of outputs, and number of matrix entries that are processed at a time.
_MOST_ROWS, _AT_ONCE = 1 << 24, 1 << 23


class PublicColumns(ABC):
    """k sets of outputs in [0, m), none of them empty or complete."""

    k: int
    m: int

    @abstractmethod
    def marks(self, values: Integers) -> Bits:
        """Membership of the outputs in the sets of the values: a boolean array, values x m."""

    @abstractmethod
    def configuration(self) -> Mapping[str, str | int]:
        """The parameters of the matrix."""

    @cached_property
    def sizes(self) -> Integers:
        """|C_x| for every x."""
        parts = [self.marks(part).sum(axis=1) for part in portions(np.arange(self.k), self.m)]
        sizes = np.concatenate(parts).astype(np.int64)
        wrong = np.flatnonzero((sizes == 0) | (sizes == self.m))
        if wrong.size:
            raise InvalidParameter(
                "columns", Described(f"a constant column {wrong[0]}"), "non-constant columns"
            )
        return sizes


def _rounded_share(name: str, value: Real) -> Fraction:
    share = Fraction(round(delta_target(name, value) * 2**32), 2**32)
    if not 0 < share < 1:
        raise InvalidParameter(name, value, "> 0 and < 1 as a multiple of 2^-32")
    return share


@frozen
class BalancedColumns(PublicColumns):
    """Random sets of equal size: the outputs with the smallest pseudorandom keys.

    k: number of values. m: number of outputs. seed: integer >= 0. ones: size of every set.
    Source: CP, Section 2, property P1 with beta = 0.
    """

    k: int = whole(least=2, most=1 << 24)
    m: int = whole(least=2, most=1 << 24)
    seed: int = whole(least=0, most=1 << 256)
    ones: int = whole(least=1)

    def __post_init__(self) -> None:
        if self.ones >= self.m:
            raise InvalidParameter("ones", self.ones, f"< m = {self.m}, as no column is constant")

    @cached_property
    def sizes(self) -> Integers:
        """|C_x| = ones for every x."""
        return np.broadcast_to(np.int64(self.ones), self.k)

    def marks(self, values: Integers) -> Bits:
        """The outputs with the smallest keys; equal keys are ordered by output."""
        keys = _words(self.seed, values, self.m) << np.uint64(32) | np.arange(self.m, dtype="u8")
        limits = np.partition(keys, self.ones - 1, axis=1)[:, self.ones - 1 : self.ones]
        return np.asarray(keys <= limits)

    def configuration(self) -> Mapping[str, str | int]:
        """The seed and the size of the sets."""
        return {"columns": "balanced", "m": self.m, "seed": str(self.seed), "ones": self.ones}


@frozen
class RandomColumns(PublicColumns):
    """Every output is in every set with probability `share`, rounded to a multiple of 2^-32.

    k: number of values. m: number of outputs. seed: integer >= 0. share: 1/2 gives Rademacher signs
    (CP, Section 2); about e^-epsilon is for medium privacy (CP, Section 4).
    """

    k: int = whole(least=2, most=1 << 24)
    m: int = whole(least=2, most=1 << 24)
    seed: int = whole(least=0, most=1 << 256)
    share: Number = number(_rounded_share, default=Fraction(1, 2))

    def marks(self, values: Integers) -> Bits:
        """The outputs whose pseudorandom word is below share * 2^32."""
        limit = np.uint64(int(self.share * 2**32))
        return np.asarray(_words(self.seed, values, self.m) < limit)

    def configuration(self) -> Mapping[str, str | int]:
        """The seed and the share."""
        seed, share = str(self.seed), str(self.share)
        return {"columns": "random", "m": self.m, "seed": seed, "share": share}


@frozen
class HadamardColumns(PublicColumns):
    """C_x = {y : <x + 1, y> even}: half of m outputs, m a power of two above k.

    Source: CP, Section 2 (Hadamard response as a special case).
    """

    k: int = whole(least=2)
    m: int = whole(least=2)

    def __post_init__(self) -> None:
        if self.m & (self.m - 1) or not self.k < self.m <= _MOST_ROWS:
            raise InvalidParameter("m", self.m, f"a power of two > k = {self.k} and <= 2^24")

    def marks(self, values: Integers) -> Bits:
        """The columns in which the row of Sylvester's Hadamard matrix is +1."""
        return np.asarray(parity((values[:, None] + 1) & np.arange(self.m)) == 0)

    def configuration(self) -> Mapping[str, str | int]:
        """The order of the matrix."""
        return {"columns": "hadamard", "m": self.m}


class GivenColumns(PublicColumns):
    """An explicit matrix A, as CP writes it: m rows of k numbers, one column for each value.

    Output y is in C_x if the entry in row y and column x is > 0, as 1 of 1 and -1, or of 1 and 0.
    """

    def __init__(self, entries: Any) -> None:
        try:
            array = np.asarray(entries)
        except ValueError:  # rows of several lengths
            raise InvalidParameter("columns", entries, "m rows of k numbers") from None
        if array.ndim != 2 or array.dtype.kind not in "biuf" or not all(array.shape):
            raise InvalidParameter(
                "columns", Described(f"of shape {array.shape}"), "m rows of k numbers"
            )
        if not np.isfinite(array).all():
            raise InvalidParameter(
                "columns", Described("an entry that is not a number"), "m rows of k numbers"
            )
        if array.shape[0] < 2 or array.shape[1] < 2:
            raise InvalidParameter("columns", Described(f"of shape {array.shape}"), "k, m >= 2")
        self.m, self.k = array.shape
        self._marks: Bits = np.ascontiguousarray(array.T > 0)
        _ = self.sizes

    def marks(self, values: Integers) -> Bits:
        """The given rows."""
        return self._marks[values]

    def configuration(self) -> Mapping[str, str | int]:
        """A digest of the matrix."""
        digest = hashlib.sha256(np.packbits(self._marks).tobytes()).hexdigest()
        return {"columns": f"given, sha256 {digest}", "m": self.m}


def portions(values: Integers, m: int) -> Iterator[Integers]:
    """The values in groups whose columns fit into memory together."""
    step = max(_AT_ONCE // m, 1)
    return (values[start : start + step] for start in range(0, len(values), step))


def _words(seed: int, values: Integers, m: int) -> Any:
    """m words of 32 bits for every value: SHAKE-128 of domain, seed, zero byte and value."""
    start = _DOMAIN + str(seed).encode() + b"\x00"
    streams = (
        hashlib.shake_128(start + value.to_bytes(8, "little")).digest(4 * m)
        for value in values.tolist()
    )
    return np.frombuffer(b"".join(streams), "<u4").reshape(-1, m).astype(np.uint64)
