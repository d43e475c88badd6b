"""A random order of each user's own keys, identical on every engine.

priority(user, key) = U p + (s^2 t mod p) with s = a U + b K + c and t = b U + c K + a, where U and
K are polynomials at e whose coefficients are the base-p digits of user and key (for a key of
several columns, the concatenated digits). U is the same for all keys of a user and makes equal
priorities of different pairs rare. Integers below p = 2^31 - 1 and their products fit 64 bits. Ties
are broken by the key.

Privacy does not depend on this function or its secrecy: for any (a, b, c, e), the kept keys of a
user depend only on this user's rows, so removing the user changes nothing else. That is why text is
hashed: the rank of a key among all keys would depend on other users' rows. Every release draws new
randomness, so that no user can choose, and no analyst can know, which keys are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.frames.columns import USER, nw_
from exactdp.frames.text_hash import bytes_words, with_words
from exactdp.parameters import integer
from exactdp.samplers import Source

if TYPE_CHECKING:
    import narwhals as nw

Integers = NDArray[np.int64]

PRIME = 2**31 - 1

#: Name of the column that orders a user's keys.
PRIORITY = "_priority"

_DIGITS = 3


@dataclass(frozen=True)
class KeyedHash:
    """A function of the family. p: a prime. a, b, c, e: in [0, p). salt: for hashing text.

    Usually made by :meth:`draw`. Raises InvalidParameter.
    """

    p: int
    a: int
    b: int
    c: int
    e: int
    salt: int

    def __post_init__(self) -> None:
        if integer("p", self.p, least=2) > PRIME:
            raise InvalidParameter("p", self.p, f"<= {PRIME}")

    @classmethod
    def draw(cls, source: Source, p: int = PRIME) -> KeyedHash:
        """A random function. p: a smaller prime is for tests that enumerate all functions."""
        a, b, c, e = (source.below(p) for _ in range(4))
        return cls(p, a, b, c, e, source.below(p))

    def with_priority(self, pairs: nw.LazyFrame[Any], keys: Sequence[str]) -> nw.LazyFrame[Any]:
        """The pairs with a column of priorities; users and keys are integers or bytes."""
        col, p = nw_.col, self.p
        words = self._folded(with_words(pairs, USER, "_u", self.salt), "_u")
        words = words.with_columns(_k=nw_.lit(0, nw_.Int64))
        for name in keys:
            words = self._folded(with_words(words, name, "_w", self.salt), "_w")
            shift = pow(self.e, _DIGITS, p)
            words = words.with_columns(_k=(col("_k") * shift + col("_w")) % p).drop("_w")
        u, k = col("_u"), col("_k")
        # a product of two residues is below 2^62: sums of two of them are exact
        words = words.with_columns(
            _s=(u * self.a + k * self.b + self.c) % p, _t=(u * self.b + k * self.c + self.a) % p
        )
        square = (col("_s") * col("_s")) % p
        words = words.with_columns((u * p + (square * col("_t")) % p).alias(PRIORITY))
        return words.drop("_u", "_k", "_s", "_t")

    def _folded(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """Replace an integer by a polynomial at e of its base-p digits, in [0, p)."""
        col, p = nw_.col, self.p
        words = frame.with_columns(_rest=col(name), _fold=nw_.lit(0, nw_.Int64))
        for i in range(1, _DIGITS):
            # the quotient of doubles is off by less than 1/2: `_above` is in (-p, p)
            words = words.with_columns(_near=(col("_rest") / p + 0.5).floor().cast(nw_.Int64))
            words = words.with_columns(_above=col("_rest") - col("_near") * p)
            words = words.with_columns(_less=(col("_above") < 0).cast(nw_.Int64))
            digit, power = col("_above") + col("_less") * p, pow(self.e, _DIGITS - i, p)
            words = words.with_columns(
                _rest=col("_near") - col("_less"), _fold=col("_fold") + digit * power
            )
        words = words.with_columns(((col("_fold") + col("_rest") + p) % p).alias(name))
        return words.drop("_rest", "_fold", "_near", "_above", "_less")

    def folded_values(self, values: Any) -> Integers:
        """U or K of values in memory: an array of integers, or a list of bytes."""
        rest = values if isinstance(values, np.ndarray) else bytes_words(values, self.salt)
        fold = np.zeros(len(rest), np.int64)
        for i in range(1, _DIGITS):
            rest, digit = np.divmod(rest, self.p)
            fold += digit * pow(self.e, _DIGITS - i, self.p)
        return (fold + rest) % self.p

    def folded_keys(self, columns: Sequence[Any]) -> Integers:
        """K of keys in memory, from the values of their columns."""
        shift, first = pow(self.e, _DIGITS, self.p), self.folded_values(columns[0])
        for values in columns[1:]:
            first = (first * shift + self.folded_values(values)) % self.p
        return first

    def order(self, u: Integers, k: Integers) -> Integers:
        """The priority less U p, which all keys of a user share."""
        s = (u * self.a + k * self.b + self.c) % self.p
        t = (u * self.b + k * self.c + self.a) % self.p
        order: Integers = s * s % self.p * t % self.p
        return order
