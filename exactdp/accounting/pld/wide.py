"""Arrays of numbers far below the smallest double: a mantissa and a power of two for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.pld.transform import UNIT
from exactdp.errors import Undecided

__all__ = ["EXPONENTIALS_ERROR", "Wide", "above", "exponentials", "falling", "floor", "split"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Relative error of what `exponentials` returns: two rounded table entries, and their product.
EXPONENTIALS_ERROR = 4 * UNIT

_BLOCK = 1024
_FAR = 4000


@dataclass(frozen=True)
class Wide:
    """mantissa * 2^exponent, entry by entry; the mantissas are ordinary doubles >= 0."""

    mantissa: Floats
    exponent: Integers

    def __len__(self) -> int:
        return len(self.mantissa)

    def at(self, exponent: Integers | int) -> Floats:
        """The entries divided by 2^exponent, as doubles.

        What falls below 2^-1022 is rounded; what is too large becomes infinite.
        """
        shift = np.clip(self.exponent - exponent, -_FAR, _FAR).astype(np.int32)
        with np.errstate(over="ignore"):
            result: Floats = np.ldexp(self.mantissa, shift)
        return result

    def log2(self) -> Floats:
        """About the binary logarithm of every entry, -infinity for 0."""
        with np.errstate(divide="ignore"):
            result: Floats = np.log2(self.mantissa) + self.exponent
        return result


def above(value: arb) -> float:
    """A double that is not below; infinity where the value is not finite."""
    upper = value.upper()
    return math.nextafter(float(upper), math.inf) if upper.is_finite() else math.inf


def exponentials(rate: arb, count: int) -> Wide:
    """e^(rate j) for j = 0 ... count - 1, each within EXPONENTIALS_ERROR.

    To be called at a working precision of 64 bits or more.
    """
    fine = [split((rate * j).exp()) for j in range(min(count, _BLOCK))]
    coarse = [split((rate * j).exp()) for j in range(0, count, _BLOCK)]
    mantissa = np.multiply.outer([m for m, _ in coarse], [m for m, _ in fine])
    exponent = np.add.outer([e for _, e in coarse], [e for _, e in fine])
    return Wide(mantissa.reshape(-1)[:count], exponent.reshape(-1)[:count].astype(np.int64))


def falling(rate: arb, count: int) -> Floats:
    """The same as doubles, for a rate < 0: what falls below 2^-1022 is rounded."""
    fine = [split((rate * j).exp()) for j in range(min(count, _BLOCK))]
    mantissa, exponent = (np.array(part) for part in zip(*fine, strict=True))
    found = np.empty(-(-count // len(fine)) * len(fine))
    for start in range(0, count, len(fine)):  # in blocks: no more memory than the result
        scale, power = split((rate * start).exp())
        shift = np.maximum(exponent + power, -_FAR).astype(np.int32)
        found[start : start + len(fine)] = np.ldexp(scale * mantissa, shift)
    return found[:count]


def floor(value: arb) -> int:
    """The integer below the lower end of a ball; raises Undecided where it has none."""
    if not value.is_finite():
        raise Undecided("a loss lost all accuracy")
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def split(value: arb) -> tuple[float, int]:
    """A narrow ball's middle, rounded to nearest, as a double in [1/2, 1) and a power of two."""
    mantissa, exponent = value.mid().man_exp()
    number, power = math.frexp(int(mantissa))
    return number, power + int(exponent)
