"""Features that are functions of other columns.

Some show what gives floating-point noise away: lattices, low bits, values that cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Column, Outputs, as_floats, numeric
from exactdp.audit.outputs.features import Feature, column, define, described, listed
from exactdp.errors import InvalidParameter

_TERMS = 6  # terms of a combination that are shown
#: granularity of zero and of what is not finite
_NONE = 2000

#: Location and scale of the noise of each of some columns.
Fits = tuple[tuple[float, float], ...]


def _floats(outputs: Outputs, base: Feature) -> NDArray[np.float64]:
    return as_floats(column(outputs, base))


def equal(values: Column, value: Any) -> NDArray[np.bool_]:
    """Where a column equals a value, as Python compares them: 1, 1.0 and True are equal."""
    if values.dtype != object:
        return np.asarray(values == value, dtype=bool)
    return np.fromiter((one == value for one in values), dtype=bool, count=len(values))


def _residue(outputs: Outputs, base: Feature, step: int) -> Column:
    """A number modulo an integer: exact, however large the number is."""
    values = column(outputs, base)
    if values.dtype != object:
        return np.asarray(np.mod(values, step))
    return np.array([v % step if isinstance(v, int) else np.mod(v, step) for v in values.tolist()])


def _bit(outputs: Outputs, base: Feature, k: int) -> Column:
    """A binary digit of a whole number; NaN for others."""
    values = column(outputs, base)
    if values.dtype.kind == "i" and k < 63:
        return np.asarray(values >> k & 1)
    return numeric([int(v) >> k & 1 if v == v // 1 else None for v in values.tolist()])


def _combination(
    outputs: Outputs, bases: tuple[Feature, ...], weights: tuple[float, ...]
) -> Column:
    total = np.zeros(len(outputs))
    for base, weight in zip(bases, weights, strict=True):
        total += weight * np.nan_to_num(_floats(outputs, base), nan=0.0, posinf=1e300)
    return total


def _combination_text(bases: tuple[Feature, ...], weights: tuple[float, ...]) -> str:
    """The terms with the largest weights; [x is 3] is 1 where x is 3, and 0 elsewhere."""
    terms = sorted(zip(weights, bases, strict=True), key=lambda term: -abs(term[0]))
    texts = [f"{'-' if w < 0 else '+'} {abs(w):.3g} {_factor_text(base)}" for w, base in terms]
    more = [f"and {len(texts) - _TERMS} more terms"] if len(texts) > _TERMS else []
    text = " ".join([*texts[:_TERMS], *more])
    return text.removeprefix("+ ") if text[0] == "+" else "-" + text.removeprefix("- ")


def _factor_text(base: Feature) -> str:
    text = described(base)
    return f"[{text[len('whether ') :]}]" if text.startswith("whether ") else f"({text})"


def _likelihood_ratio(
    outputs: Outputs, law: str, bases: tuple[Feature, ...], left: Fits, right: Fits
) -> Column:
    """ln of the density that a law fitted to the left side has here over that of the right side.

    Rounded to nine decimals, so that sums that are equal but for rounding errors are equal.
    """
    total = np.zeros(len(outputs))
    power = {"Laplace": 1, "Gaussian": 2}[law]
    for base, (a, s), (b, t) in zip(bases, left, right, strict=True):
        values = _floats(outputs, base)
        here, there = (np.abs((values - x) / y) ** power / power for x, y in ((a, s), (b, t)))
        total += np.nan_to_num(there - here + np.log(t / s), nan=0.0, posinf=1e300, neginf=-1e300)
    return np.asarray(np.round(total, 9))


def _likelihood_text(law: str, bases: tuple[Feature, ...], left: Fits, right: Fits) -> str:
    terms = [
        f"{described(base)} ({a:.4g} or {b:.4g}, scale {s:.3g}{f' or {t:.3g}' if s != t else ''})"
        for base, (a, s), (b, t) in zip(bases, left, right, strict=True)
    ]
    return f"log-likelihood ratio of {law} noise on {listed(terms)}"


def negative_zeros(values: Column) -> Column:
    """Where a column is -0.0, which no comparison tells from 0.0."""
    return np.asarray(np.signbit(values) & (values == 0))


def _split(values: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integer significand, odd or even, and exponent: |value| = significand * 2^exponent."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    fraction, exponent = np.frexp(finite)
    return np.abs(fraction * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53


def _lowest_bit(mantissa: NDArray[np.int64]) -> Column:
    """The index of the lowest set bit (0 for 0)."""
    lowest = (mantissa & -mantissa).astype(np.float64)
    return np.frexp(np.maximum(lowest, 1.0))[1] - 1


def _zero_bits(outputs: Outputs, base: Feature) -> Column:
    """How many low bits of the 53-bit significand are zero; 53 for zero and for NaN."""
    mantissa, _ = _split(_floats(outputs, base))
    return np.where(mantissa == 0, 53, _lowest_bit(mantissa))


def _granularity(outputs: Outputs, base: Feature, centre: float) -> Column:
    """The k for which value - centre is an odd multiple of 2^k; 2000 for zero and non-finite."""
    mantissa, exponent = _split(_floats(outputs, base) - centre)
    return np.where(mantissa == 0, _NONE, exponent + _lowest_bit(mantissa))


def _low_bits(outputs: Outputs, base: Feature, bits: int) -> Column:
    """The lowest bits of the significand as a number."""
    raw = np.ascontiguousarray(_floats(outputs, base)).view(np.int64)
    return raw & np.int64((1 << bits) - 1)


def _reachable(outputs: Outputs, base: Feature, recipe: str, centre: float, scale: float) -> Column:
    """1 where centre + noise of this scale can be that very double, 0 where it cannot.

    recipe: how the noise is made from a uniform multiple of 2^-53 (or 2^-32); see RECIPES.
    """
    if recipe not in RECIPES:
        raise InvalidParameter("recipe", recipe, "one of " + ", ".join(RECIPES))
    bits, fold, noise = RECIPES[recipe]
    x = _floats(outputs, base)
    reachable = np.zeros(len(x), dtype=bool)
    size = 2.0**bits
    with np.errstate(all="ignore"):
        tail = np.exp(-np.abs(x - centre) / scale)  # the uniform behind a sample, folded
        nearest = np.rint(fold(tail, x < centre) * size)
        for step in range(-2, 3):
            u = (nearest + step) / size
            for z in noise(u, x < centre):
                reachable |= centre + scale * z == x
    return reachable.astype(np.int64)


def _signed(log: Column, below: Column) -> Column:
    return np.where(below, log, -log)


Fold = Callable[[Column, Column], Column]
Noise = Callable[[Column, Column], list[Column]]

#: name: bits of the uniform; the uniform behind a sample, given e^-|noise| and whether the noise is
#: negative; ways to compute the noise, of scale 1, from the uniform
RECIPES: dict[str, tuple[int, Fold, Noise]] = {
    **{
        name: (
            bits,
            lambda tail, below: tail,
            lambda u, below: [_signed(z, below) for z in (np.log(u), np.log1p(-(1 - u)))],
        )
        for name, bits in (("log of a uniform", 53), ("log of a 32-bit uniform", 32))
    },
    "log of twice a uniform": (
        53,
        lambda tail, below: np.where(below, tail / 2, 1 - tail / 2),
        lambda u, below: [np.where(below, np.log(u + u), -np.log(2 - u - u))],
    ),
    "inverse of the distribution function": (
        53,
        lambda tail, below: (1 - tail) / 2,
        lambda u, below: [_signed(z, below) for z in (np.log(1 - 2 * u), np.log1p(-2 * u))],
    ),
}


def _distance(base: Feature, centre: float) -> str:
    return f"{described(base)} - {centre:.6g}" if centre else described(base)


define("is", "whether {0} is {1}", lambda o, base, value: equal(column(o, base), value) + 0)
define("power", "({0})^{1}", lambda o, base, exponent: _floats(o, base) ** exponent)
define(
    "absolute",
    lambda base, centre: f"|{_distance(base, centre)}|",
    lambda outputs, base, centre: np.abs(_floats(outputs, base) - centre),
)
define("residue", "{0} mod {1}", _residue)
define("bit", "binary digit {1} of {0}", _bit)
define("combination", _combination_text, _combination)
define("likelihood ratio", _likelihood_text, _likelihood_ratio)
define(
    "negative zero",
    "whether {0} is -0.0",
    lambda outputs, base: negative_zeros(_floats(outputs, base)) + 0,
)
define("zero bits", "number of last bits of {0} that are zero", _zero_bits)
define("low bits", "last {1} bits of {0}", _low_bits)
define("reachable", "whether {0} can be {2} + noise of scale {3} ({1})", _reachable)
define(
    "granularity",
    lambda base, centre: f"exponent of the last binary digit of {_distance(base, centre)}",
    _granularity,
)
