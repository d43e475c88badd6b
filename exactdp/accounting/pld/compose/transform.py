"""A discrete Fourier transform with a proved bound of its rounding error, as matrix products.

A transform of length r m is: r-point transforms, a multiplication by roots of unity, m-point
transforms (Cooley and Tukey 1965). Every intermediate number is a sum of inputs times roots of
unity, so it is at most the sum of the moduli of those inputs. Each stage therefore errs by at most
a relative beta times that sum, where beta is the error of one inner product or one multiplication.
The whole transform errs by at most prod(1 + beta) - 1 times the sum of all moduli.

The bound needs of numpy that doubles are rounded to nearest, that a matrix product forms its inner
products in some order, fused or not (Strassen's algorithm does not), and that a product of complex
numbers errs by at most 3u. `premises` checks this before the first transform, for all shapes that
are used. numpy's own FFT is not used: no bound of its error is documented. All tables come from
ball arithmetic.
"""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.compose.premises import check_premises
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW, UNIT
from exactdp.arrays import Complexes, np
from exactdp.balls import precision
from exactdp.progress import tick

#: Longer transforms are refused: one of this length needs about a gigabyte.
MOST_POINTS = 1 << 24

_RADIX = 32

#: Rows of a transform that is kept in rows.
ROWS = _RADIX

_TABLE_BITS = 80

#: Transforms of more points are done row by row.
_WHOLE = 1 << 14


def forward(values: Complexes) -> Complexes:
    """sum_j values[j] exp(-2 pi i j k/L) for every k; L = len(values) is a power of two.

    The values are overwritten.
    """
    if len(values) <= _WHOLE:
        result: Complexes = _stages(values[None, :])[0]
        return result
    return np.ascontiguousarray(forward_rows(values).T).reshape(-1)


def inverse(values: Complexes) -> Complexes:
    """(1/L) sum_k values[k] exp(2 pi i j k/L) for every j; the values are overwritten."""
    result = forward(np.conj(values, out=values))
    np.conj(result, out=result)
    result /= len(result)  # a power of two: exact
    return result


def forward_rows(values: Complexes) -> Complexes:
    """`forward` in place: the result for k = r + ROWS c is in row r and column c.

    L is at least 2 ROWS. No second array of this length is used.
    """
    rows = values.reshape(ROWS, -1)
    _across(rows)
    for number, row in enumerate(rows):
        row *= _some_roots(rows.size, number, len(row))
        row[:] = forward(row)
        tick()
    return rows


def inverse_rows(rows: Complexes) -> Complexes:
    """`inverse` in place, of the rows that `forward_rows` returns."""
    np.conj(rows, out=rows)
    for number, row in enumerate(rows):
        row[:] = forward(row)
        row *= _some_roots(rows.size, number, len(row))
        tick()
    _across(rows)
    np.conj(rows, out=rows)
    rows /= rows.size
    return rows.reshape(-1)


def _across(rows: Complexes) -> None:
    """A transform of every column."""
    width = min(rows.shape[1], _RADIX)
    # in small blocks: large products are shared among threads, which wait for each other
    blocks = rows.reshape(ROWS, -1, width).transpose(1, 0, 2)
    for start in range(0, len(blocks), _RADIX):
        here = slice(start, start + _RADIX)
        blocks[here] = _matrix(ROWS) @ blocks[here]


def relative_error(points: int) -> float:
    """A bound on |computed - exact| of every output, over the sum of the moduli of the inputs.

    It holds for the transform of lists as well (`listed`). points: the length, a power of two.
    Inputs are 0 or of modulus 2^-1000 or more.
    """
    check_premises()
    total, rest = 0.0, points
    while rest > 1:
        radix = min(_RADIX, rest)
        # table entries within 2u; inner products of 2 radix real terms, for the real and the
        # imaginary part: sqrt(2) 2 radix u < 3 radix u, and 2u more for second order terms
        total += (3 * radix + 4) * UNIT
        rest //= radix
        # roots as products of two table entries (2u + 2u + 3u), the multiplication by them (3u),
        # and u for second order terms
        total += 11 * UNIT if rest > 1 else 0.0
    # prod(1 + beta) - 1 <= e^total - 1
    return math.expm1(total) * ROUNDED_UP + UNDERFLOW


def _stages(values: Complexes) -> Complexes:
    batch, points = values.shape
    if points <= _RADIX:
        rows = values.reshape(-1, min(batch, _RADIX), points)
        return (rows @ _matrix(points)).reshape(batch, points)
    rest = points // _RADIX
    width = min(rest, _RADIX)
    blocks = values.reshape(batch, _RADIX, rest // width, width).transpose(0, 2, 1, 3)
    parts = np.empty((batch, _RADIX, rest), dtype=np.complex128)
    placed = parts.reshape(batch, _RADIX, rest // width, width).transpose(0, 2, 1, 3)
    np.matmul(_matrix(_RADIX), blocks, out=placed)
    parts *= _twiddles(points)
    done = _stages(parts.reshape(batch * _RADIX, rest)).reshape(batch, _RADIX, rest)
    return np.ascontiguousarray(done.transpose(0, 2, 1)).reshape(batch, points)


@lru_cache(maxsize=8)
def _matrix(points: int) -> Complexes:
    roots = np.array(exact_roots(points, 1, points))
    index = np.arange(points)
    return roots[np.outer(index, index) % points]


@lru_cache(maxsize=6)
def _twiddles(points: int) -> Complexes:
    return np.array([_some_roots(points, k, points // _RADIX) for k in range(_RADIX)])


def _some_roots(points: int, stride: int, count: int) -> Complexes:
    """exp(-2 pi i stride j/points) for j < count <= points/stride, within 7u and second order."""
    fine, coarse = _tables(points)
    place = stride * np.arange(count)
    roots: Complexes = fine[place % len(fine)]
    roots *= coarse[place // len(fine)]
    return roots


@lru_cache(maxsize=6)
def _tables(points: int) -> tuple[Complexes, Complexes]:
    """exp(-2 pi i k/points) for small k, and for multiples of their number, within 2u."""
    fine = 1 << points.bit_length() // 2
    close, far = exact_roots(points, 1, fine), exact_roots(points, fine, points // fine)
    return np.array(close), np.array(far)


def exact_roots(points: int, stride: int, count: int) -> list[complex]:
    """exp(-2 pi i stride j/points) for j < count, within 2u."""
    roots = []
    with precision(_TABLE_BITS):
        for k in range(count):
            angle = arb(2 * k * stride) / points
            sine, cosine = angle.sin_cos_pi()
            roots.append(complex(_nearest(cosine), -_nearest(sine)))
    return roots


def _nearest(value: arb) -> float:
    """The double next to the middle of a narrow ball."""
    mantissa, exponent = value.mid().man_exp()
    return math.ldexp(int(mantissa), int(exponent))
