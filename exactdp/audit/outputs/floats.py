"""What gives floating-point noise away: lattices, low bits, and values that cannot be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter

__all__ = ["RECIPES", "granularity", "low_bits", "reachable", "trailing_zeros"]

#: granularity of zero and of what is not finite
_NONE = 2000

Column = NDArray[Any]


def trailing_zeros(values: Column) -> Column:
    """How many low bits of the 53-bit significand are zero; 53 for zero and for NaN."""
    mantissa, _ = _split(values)
    return np.where(mantissa == 0, 53, _lowest_bit(mantissa))


def granularity(values: Column, centre: float = 0.0) -> Column:
    """The k for which value - centre is an odd multiple of 2^k; 2000 for zero and non-finite."""
    shifted = values.astype(float) - centre if centre else values.astype(float)
    mantissa, exponent = _split(shifted)
    return np.where(mantissa == 0, _NONE, exponent + _lowest_bit(mantissa))


def low_bits(values: Column, bits: int) -> Column:
    """The lowest bits of the significand as a number."""
    raw = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return raw & np.int64((1 << bits) - 1)


def reachable(values: Column, recipe: str, centre: float, scale: float) -> Column:
    """1 where centre + noise of this scale can be that very double, 0 where it cannot.

    recipe: how the noise is made from a uniform multiple of 2^-53 (or 2^-32); see RECIPES.
    """
    if recipe not in RECIPES:
        raise InvalidParameter("recipe", recipe, "one of " + ", ".join(RECIPES))
    bits, fold, noise = RECIPES[recipe]
    x = values.astype(np.float64)
    found = np.zeros(len(x), dtype=bool)
    size = 2.0**bits
    with np.errstate(all="ignore"):
        tail = np.exp(-np.abs(x - centre) / scale)  # the uniform behind a sample, folded
        nearest = np.rint(fold(tail, x < centre) * size)
        for step in range(-2, 3):
            u = (nearest + step) / size
            for z in noise(u, scale, x < centre):
                found |= (centre + z) == x
    return found.astype(np.int64)


def _split(values: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Odd-or-even integer significand and exponent: value = significand * 2^exponent."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    fraction, exponent = np.frexp(finite)
    return np.abs(fraction * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53


def _lowest_bit(mantissa: NDArray[np.int64]) -> Column:
    """The index of the lowest set bit (0 for 0)."""
    lowest = (mantissa & -mantissa).astype(np.float64)
    return np.frexp(np.maximum(lowest, 1.0))[1] - 1


def _one_sided(tail: Column, below: Column) -> Column:
    return tail


def _two_sided(tail: Column, below: Column) -> Column:
    return np.where(below, tail / 2, 1 - tail / 2)


def _centred(tail: Column, below: Column) -> Column:
    return (1 - tail) / 2


def _signed_log(u: Column, scale: float, below: Column) -> tuple[Column, ...]:
    z = scale * np.log(u)
    other = scale * np.log1p(-(1 - u))
    return np.where(below, z, -z), np.where(below, other, -other)


def _numpy_laplace(u: Column, scale: float, below: Column) -> tuple[Column, ...]:
    return (np.where(below, scale * np.log(u + u), -scale * np.log(2 - u - u)),)


def _inverse_cdf(u: Column, scale: float, below: Column) -> tuple[Column, ...]:
    z = scale * np.log(1 - 2 * u)
    other = scale * np.log1p(-2 * u)
    return np.where(below, z, -z), np.where(below, other, -other)


Fold = Callable[[Column, Column], Column]
Noise = Callable[[Column, float, Column], tuple[Column, ...]]

#: name: (bits of the uniform, uniform behind a sample, noise from the uniform)
RECIPES: dict[str, tuple[int, Fold, Noise]] = {
    "log of a uniform": (53, _one_sided, _signed_log),
    "log of a 32-bit uniform": (32, _one_sided, _signed_log),
    "log of twice a uniform": (53, _two_sided, _numpy_laplace),
    "inverse of the distribution function": (53, _centred, _inverse_cdf),
}
