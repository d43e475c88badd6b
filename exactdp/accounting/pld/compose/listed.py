"""The compositions of `doubles` over lists of Python's complex numbers, where numpy is missing.

A transform of 2m points is two transforms of m points, of the even and of the odd entries, the
second one times roots of unity. The sum of a number and of a number times a root errs by at most
12u of their moduli: 7u the root, 3u the product, u the sum, and u for second order terms. In log2 L
stages that is less than the error of the matrix products of `transform`: 12u for each of five
stages against 111u for one factor of 32 (its matrix and the roots after it), and then 12u, 24u, 36u
or 48u against 10u, 16u, 28u or 52u, where at least one factor of 32 has 51u to spare. So
`relative_error` holds for L >= 64; shorter windows are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from math import sqrt
from operator import add, mul, sub
from typing import TypeVar

from exactdp.accounting.pld.compose.transform import exact_roots
from exactdp.accounting.pld.compose.window import Tilted
from exactdp.arrays import Floats, np
from exactdp.progress import tick

_Numbers = list[complex]

#: The powers below, above, and of the larger modulus, for the first half of all frequencies.
_Powers = tuple[_Numbers, _Numbers, list[float]]

T = TypeVar("T", float, complex)

#: Roots are products of one of this many close ones and of a multiple.
_CLOSE = 512

#: Number of points between two reports of progress.
_REPORTED = 1 << 14


def in_lists(steps: Sequence[Tilted], points: int, first: int) -> tuple[Floats, Floats, float]:
    """The masses below and above, `first` ahead, and the sum of all powers of m; see `doubles`."""
    roots, product = _roots(points), None
    for part in steps:
        pairs = zip(_padded(part.low, points), _padded(part.high, points), strict=True)
        powers = _powers(_forward([complex(*pair) for pair in pairs], roots), part.times)
        product = powers if product is None else _multiplied(product, powers)
    assert product is not None
    low, high, moduli = product
    mirrors = zip(low[-2:0:-1], high[-2:0:-1], strict=True)
    spectrum = list(map(add, low, map(mul, repeat(1j), high)))
    spectrum += [a.conjugate() + 1j * b.conjugate() for a, b in mirrors]
    # the inverse is the conjugate of the transform of the conjugate
    sums = _forward([value.conjugate() for value in spectrum], roots)
    turned = sums[first:] + sums[:first]
    scale = 1 / points  # a power of two: exact
    below, above = ([sign * scale * x for x in part] for sign, part in _parts(turned))
    mirrored = sum(moduli) * 2 - moduli[0] - moduli[-1]
    return np.array(below), np.array(above), mirrored


def _parts(values: _Numbers) -> Iterable[tuple[int, Iterable[float]]]:
    """The real and the imaginary part of the conjugates."""
    yield 1, (value.real for value in values)
    yield -1, (value.imag for value in values)


def _padded(masses: Floats, points: int) -> list[float]:
    values: list[float] = masses.tolist()
    return values + [0.0] * (points - len(values))


def _forward(values: _Numbers, roots: _Numbers) -> _Numbers:
    """sum_j values[j] exp(-2 pi i j k/L) for every k; roots: exp(-2 pi i j/L) for j < L/2."""
    if len(values) == 4:
        a, b, c, d = values
        even, odd, other = a + c, b + d, -1j * (b - d)
        return [even + odd, a - c + other, even - odd, a - c - other]
    if len(values) == _REPORTED:
        tick()
    even_part = _forward(values[::2], roots[::2])
    turned = list(map(mul, roots, _forward(values[1::2], roots[::2])))
    return [*map(add, even_part, turned), *map(sub, even_part, turned)]


@lru_cache(maxsize=2)
def _roots(points: int) -> _Numbers:
    """exp(-2 pi i j/points) for j < points/2, within 7u and second order."""
    count = min(_CLOSE, points // 2)
    close = exact_roots(points, 1, count)
    far = exact_roots(points, count, points // 2 // count)
    return [a * b for a in far for b in close]


def _powers(spectrum: _Numbers, times: int) -> _Powers:
    """The powers of the spectra below and above, and of the larger modulus or 1/2."""
    half = len(spectrum) // 2
    here = spectrum[: half + 1]
    mirrored = [value.conjugate() for value in (spectrum[0], *spectrum[: half - 1 : -1])]
    low = [0.5 * (a + b) for a, b in zip(here, mirrored, strict=True)]
    high = [-0.5j * (a - b) for a, b in zip(here, mirrored, strict=True)]
    squares = (max(_square(a), _square(b), 0.25) for a, b in zip(low, high, strict=True))
    return _power(low, times), _power(high, times), _power(list(map(sqrt, squares)), times)


def _square(number: complex) -> float:
    return number.real * number.real + number.imag * number.imag


def _power(square: list[T], exponent: int) -> list[T]:
    """The power of every entry, by squaring: fewer than `exponent` roundings count."""
    result: list[T] | None = None
    while True:
        if exponent & 1:
            result = square if result is None else list(map(mul, result, square))
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        square = list(map(mul, square, square))


def _multiplied(one: _Powers, other: _Powers) -> _Powers:
    low, high = (list(map(mul, one[i], other[i])) for i in (0, 1))
    return low, high, list(map(mul, one[2], other[2]))
