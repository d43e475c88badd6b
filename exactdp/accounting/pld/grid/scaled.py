"""Arrays of numbers far below the smallest double: each a mantissa and a power of two."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, repeat

from flint import arb, ctx, fmpz

from exactdp.arrays import Floats, Integers, np
from exactdp.errors import Undecided

#: Half the distance from 1 to the next double: the relative error of one operation.
UNIT = 2.0**-53

#: Factor for a sum of products of doubles >= 0, rounded after each operation. Of 2^32 operations
#: each changes the result by a factor of at most 1 + UNIT, and (1 + 2^-53)^(2^32) < 1 + 2^-20.
ROUNDED_UP = 1 + 2.0**-20

#: A product that underflows loses at most 2^-1075, so 2^32 such products lose less than UNDERFLOW.
UNDERFLOW = 2.0**-1040

#: Relative error of `exponentials`: two rounded table entries (u each), and their product (u), with
#: one more u for the products of these errors.
EXPONENTIALS_ERROR = 4 * UNIT

#: Tables of `exponentials` up to this length are kept for the next law.
_MOST_SHARED = 1 << 16

#: Shifts of exponents are limited to this, below which every double is 0.
_LARGEST_SHIFT = 4000


@dataclass(frozen=True)
class Scaled:
    """mantissa * 2^exponent, entry by entry; the mantissas are ordinary doubles >= 0."""

    mantissa: Floats
    exponent: Integers

    def __len__(self) -> int:
        return len(self.mantissa)

    def __getitem__(self, place: slice) -> Scaled:
        return Scaled(self.mantissa[place], self.exponent[place])

    def followed_by(self, other: Scaled) -> Scaled:
        """Both arrays, one after the other."""
        return Scaled(
            np.append(self.mantissa, other.mantissa), np.append(self.exponent, other.exponent)
        )

    def at(self, exponent: Integers | int) -> Floats:
        """The entries divided by 2^exponent, as doubles.

        Results below 2^-1022 are rounded; results that are too large become infinite.
        """
        shift = np.clip(self.exponent - exponent, -_LARGEST_SHIFT, _LARGEST_SHIFT).astype(np.int32)
        with np.errstate(over="ignore"):
            result: Floats = np.ldexp(self.mantissa, shift)
        return result

    def balls(self) -> list[arb]:
        """The entries as exact balls."""
        pairs = zip(self.mantissa.tolist(), self.exponent.tolist(), strict=True)
        return [arb(m) * arb(2) ** e for m, e in pairs]

    def log2(self) -> Floats:
        """About the binary logarithm of every entry, -infinity for 0."""
        with np.errstate(divide="ignore"):
            result: Floats = np.log2(self.mantissa) + self.exponent
        return result


def above(value: arb) -> float:
    """A double that is not below the ball; infinity where the ball is not finite."""
    upper = value.upper()
    return math.nextafter(float(upper), math.inf) if upper.is_finite() else math.inf


def exponentials(rate: arb, count: int) -> Scaled:
    """e^(rate j) for j = 0 ... count - 1, each within the relative error EXPONENTIALS_ERROR.

    The working precision must be 64 bits or more. Many laws share the last short tables.
    """
    if count <= _MOST_SHARED and rate.rad() == 0:
        return _shared(*rate.man_exp(), 1 << (count - 1).bit_length(), ctx.prec)[:count]
    return _exponentials(rate, count)


@lru_cache(maxsize=4)
def _shared(mantissa: fmpz, exponent: fmpz, count: int, _bits: int) -> Scaled:
    return _exponentials(arb(mantissa) * arb(2) ** int(exponent), count)


def _exponentials(rate: arb, count: int) -> Scaled:
    mantissa, exponent = _powers(rate, _block(count))
    coarse = [split((rate * j).exp()) for j in range(0, count, len(mantissa))]
    mantissas = np.concatenate([scale * mantissa for scale, _ in coarse])
    exponents = np.concatenate([exponent + power for _, power in coarse])
    return Scaled(mantissas[:count], exponents[:count])


def falling(rate: arb, count: int) -> Floats:
    """`exponentials` for a rate < 0, as doubles: values below 2^-1022 are rounded."""
    size = _block(count)
    mantissa, exponent = _powers(rate, size)
    values = np.empty(-(-count // size) * size)
    for start in range(0, count, size):  # in blocks, to need no memory beside the result
        scale, power = split((rate * start).exp())
        shift = np.maximum(exponent + power, -_LARGEST_SHIFT).astype(np.int32)
        values[start : start + size] = np.ldexp(scale * mantissa, shift)
    return values[:count]


def _block(count: int) -> int:
    """A power of two near the root of the count: two short tables make one long one."""
    return 1 << (count.bit_length() + 1) // 2


def _powers(rate: arb, count: int) -> tuple[Floats, Integers]:
    """e^(rate j) for j < count: mantissas and exponents."""
    growth = rate.exp()
    pairs = map(split, accumulate(repeat(growth, count - 1), operator.mul, initial=arb(1)))
    mantissas, exponents = zip(*pairs, strict=True)
    return np.array(mantissas), np.array(exponents, dtype=np.int64)


def floor(value: arb) -> int:
    """The integer below the lower end of a ball; raises Undecided where the ball is not finite."""
    if not value.is_finite():
        raise Undecided("a loss lost all accuracy")
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def split(value: arb) -> tuple[float, int]:
    """The middle of a narrow ball as a double in [1/2, 1), rounded to nearest, and a power of 2."""
    mantissa, exponent = value.mid().man_exp()
    number, power = math.frexp(int(mantissa))
    return number, power + int(exponent)
