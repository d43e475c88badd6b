"""The mass of a loss density in the cells of a grid, from power series with proved remainders.

In a cell [l, l + h] the density f is replaced by two point masses at its ends that have the same
mass under P and under Q: f(l + s) goes to the left end with weight w(s) = (e^(h-s) - 1)/(e^h - 1),
and to the right end with weight 1 - w(s). Both shares are linear in f, so the power series of f
about the centre of a block of cells gives the series of the shares. Let |f| <= M on the disc of
radius 4r. By Cauchy's estimate the remainder after N terms is at most M 4^-N 4/3 on the disc of
radius r. The series is evaluated in doubles. If the relative error of a block is
not below TOLERANCE everywhere, the block is halved. A single cell that is still not accurate is
computed from the two distribution functions, at rising precision.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from flint import acb, arb, arb_poly, arb_series

from exactdp.accounting.pld.grid.lattice import Grid, Tails
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW, UNIT, Scaled, above, split
from exactdp.arrays import HAS_NUMPY, Booleans, Floats, Integers, np
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.progress import tick

#: Relative error of every share and density value.
TOLERANCE = 2.0**-42

_BITS = 128
_TERMS = 32
_LARGEST_BLOCK = 1 << 10

#: Before a longer block is tried again, at most this many blocks have to be accurate.
_MOST_WAITED = 8

#: In row r, the number of ways to choose r of m, from m = r on.
_BINOMIALS = [[math.comb(m, r) for m in range(r, _TERMS)] for r in range(_TERMS)]

#: Working precisions, in bits, that a single cell tries one after the other.
_SINGLE_BITS = (128, 256, 512)

#: A share below this part of the cell's mass counts as unknown.
_TINY = arb(2) ** -900

#: Exponents beyond this are refused.
_LARGEST_EXPONENT = 1 << 60


class Density(Tails, Protocol):
    """The density of the loss log dP/dQ under P, and the masses of half-lines.

    Methods are evaluated at the working precision. A method returns a ball that is not finite where
    it has no answer.
    """

    @property
    def steep(self) -> int:
        """-1 or 1 where the density ends steeply at the least or the largest loss, else 0."""
        return 0

    def density(self, loss: Any) -> Any:
        """The density under P, for a ball, a complex ball or a power series."""


@dataclass(frozen=True)
class Cells:
    """Cell i lies between the nodes first + i and first + i + 1.

    left, right: the shares of the cell's P-mass for its two ends, within the relative error
    TOLERANCE where `known`, else upper bounds. peak: an upper bound of the density in the cell
    times the step; infinite where none was found.
    """

    first: int
    left: Scaled
    right: Scaled
    peak: Scaled
    known: Booleans

    def followed_by(self, other: Cells) -> Cells:
        """Both lists of cells; `other` begins at the node where these end."""
        return Cells(
            self.first,
            self.left.followed_by(other.left),
            self.right.followed_by(other.right),
            self.peak.followed_by(other.peak),
            np.append(self.known, other.known),
        )

    def smooth(self) -> bool:
        """Whether all shares and all peaks are known."""
        return bool(self.known.all() and np.isfinite(self.peak.mantissa).all())


@dataclass
class _Arrays:
    """The arrays of Cells while they are filled; the three mantissas share one exponent."""

    left: Floats
    right: Floats
    peak: Floats
    exponent: Integers
    known: Booleans


def cells(law: Density, grid: Grid, first: int, last: int) -> Cells:
    """The cells between the nodes first and last."""
    arrays = _blank(last - first)
    with precision(_BITS, terms=_TERMS):
        _fill(law, grid, arrays, first, last)
    left, right, peak = (
        Scaled(m, arrays.exponent) for m in (arrays.left, arrays.right, arrays.peak)
    )
    return Cells(first, left, right, peak, arrays.known)


def _blank(count: int) -> _Arrays:
    left, right, peak = (np.zeros(count) for _ in range(3))
    known = np.ones(count, dtype=np.bool_)
    return _Arrays(left, right, peak, np.zeros(count, dtype=np.int64), known)


def _fill(law: Density, grid: Grid, arrays: _Arrays, first: int, last: int) -> None:
    """Fill all cells, block by block: a block that is not accurate is halved.

    After some accurate blocks of one size, the next is twice as long; the more often that failed
    before, the more blocks have to be accurate first.
    """
    start, half = first, Fraction(_LARGEST_BLOCK)
    accurate, enough, is_longer = 0, 1, False
    while start < last:
        half = min(half, Fraction(1 << (last - start - 1).bit_length(), 2))
        stop = min(start + int(2 * half), last)
        if not _block(law, grid, start, stop, half, arrays, slice(start - first, stop - first)):
            if half >= 1:
                enough = min(2 * enough, _MOST_WAITED) if is_longer else enough
                half, accurate, is_longer = half / 2, 0, False
                continue
            _single(law, grid, start, arrays, start - first)
        start, accurate, enough = stop, accurate + 1, 1 if is_longer else enough
        is_longer = accurate >= enough and half < _LARGEST_BLOCK
        if is_longer:
            half, accurate = 2 * half, 0
        tick()


def _block(
    law: Density, grid: Grid, start: int, stop: int, half: Fraction, arrays: _Arrays, here: slice
) -> bool:
    """Fill the cells start ... stop - 1 from the series about start + half, if that is accurate."""
    centre, radius = grid.loss(start + half), ball(half * grid.step)
    bound = _largest(law, centre, 4 * radius)
    if bound is None:
        return False
    series = law.density(arb_series([centre, 1], _TERMS)).coeffs()
    if not (series and series[0].is_finite()):
        return False
    exponent = split(series[0])[1]
    unit = arb(2) ** -exponent
    scaled, power = [], unit
    for coefficient in series:
        scaled.append(coefficient * power)
        power *= radius
    scaled += [arb(0)] * (_TERMS - len(scaled))
    remainder = above((bound * unit * arb(4) ** -_TERMS * 2).upper())
    coefficients = np.array(list(map(float, scaled)))
    # at least the sum of the radii of all terms of a share, see _rounding
    radii = above(arb_poly(scaled)(1 + 1 / ball(half)).rad())
    rounding = _rounding(coefficients, half) + (remainder + radii) * ROUNDED_UP + UNDERFLOW
    if not math.isfinite(rounding):
        return False
    ends = min(float(coefficients.sum()), float(coefficients[::2].sum() - coefficients[1::2].sum()))
    if ends * TOLERANCE <= rounding:  # the least values are often there
        return False
    values, left, right = _values(coefficients, half, grid.step, stop - start)
    # the exact values are at least (1 - TOLERANCE) times the computed ones
    if any(line.min() * (TOLERANCE / ROUNDED_UP) <= rounding for line in (values, left, right)):
        return False
    if abs(exponent) > _LARGEST_EXPONENT:
        raise Undecided("a density of the loss is too small to be written down")
    order = np.arange(_TERMS)
    # with N terms, the remainder sum c_n x^n over n >= N, |c_n| <= M 4^-n, bends by at most
    # sum n (n - 1) M 4^-n < 2 N^2 M 4^-N, which is N^2 times `remainder`
    bend = float(np.einsum("i,i", np.abs(coefficients), order * (order - 1))) + _TERMS**2 * (
        radii + remainder
    )
    # between two places at distance 1/half, f is at most bend/(8 half^2) above its chord; values
    # and this product may be off by TOLERANCE, which the factor below covers
    highest = np.maximum(values[:-1], values[1:]) + ROUNDED_UP * bend / (8 * float(half) ** 2)
    step = float(grid.step)
    arrays.left[here], arrays.right[here] = left * step, right * step
    arrays.peak[here] = highest * (step * (1 + 2 * TOLERANCE))
    arrays.exponent[here] = exponent
    return True


def _single(law: Density, grid: Grid, index: int, arrays: _Arrays, place: int) -> None:
    """One cell from the distribution functions; upper ends where its shares stay unknown."""
    for bits in _SINGLE_BITS:
        with precision(bits):
            p, shares = _shares(law, grid, index)
        known = all(share.rel_accuracy_bits() > 46 and share > p * _TINY for share in shares)
        if known or p == 0:
            break
    if not all(value.is_finite() for value in (p, *shares)):
        raise Undecided("a mass of the loss lost all accuracy")
    exponent = max(split(p.upper())[1], -(2**40))
    for target, share in zip((arrays.left, arrays.right), shares, strict=True):
        end = share.mid() if known else share.upper().min(p.upper())
        scaled = float((end * arb(2) ** -exponent).mid())
        target[place] = scaled if known or end <= 0 else scaled * (1 + 4 * UNIT) + float(_TINY)
    arrays.exponent[place], arrays.known[place] = exponent, known
    density = law.density(grid.loss(index).union(grid.loss(index + 1)))
    peak = (density * ball(grid.step) * arb(2) ** -exponent).upper()
    arrays.peak[place] = float(peak) * (1 + 4 * UNIT) if peak.is_finite() else np.inf


def _shares(law: Density, grid: Grid, index: int) -> tuple[arb, list[arb]]:
    """The mass of a cell, and its shares for the left and the right end."""
    low, high = grid.loss(index), grid.loss(index + 1)
    side = law.below if low < law.centre() else law.above
    p, q = (abs(a - b) for a, b in zip(side(low), side(high), strict=True))
    fall = (-ball(grid.step)).exp()
    to_left = (q * low.exp() - p * fall) / (1 - fall)
    return p, [to_left, p - to_left]


def _largest(law: Density, centre: arb, radius: arb) -> arb | None:
    """A bound of |f| on a disc, from the square around the disc; None where it is not finite."""
    value = law.density(acb(arb(centre, radius), arb(0, radius)))
    bound = abs(value).upper() if value.is_finite() else None
    return bound if bound is not None and bound.is_finite() else None


def _values(
    coefficients: Floats, half: Fraction, step: Fraction, count: int
) -> tuple[Floats, Floats, Floats]:
    """f = sum c_m x^m at the ends of the cells, x = i/half - 1, and the shares of every cell.

    The shares over the step are sums of c_m times the integrals of w(s) (x + s/half)^m ds, or of
    1 - w(s), for s from 0 to 1: polynomials in x.
    """
    if HAS_NUMPY:
        polynomials = np.einsum("rij,j->ri", _all_matrices(half, step), coefficients)
        values, left, right = np.einsum("ri,ij->rj", polynomials, _powers(half)[:, : count + 1])
    else:
        place = np.arange(count + 1) / float(half) - 1
        columns = [coefficients.tolist()]
        for matrix in _matrices(half, step):
            columns.append([sum(map(operator.mul, row, columns[0])) for row in matrix])
        values, left, right = (np.polyval(np.array(c[::-1]), place) for c in columns)
    return values, left[:-1], right[:-1]


def _rounding(coefficients: Floats, half: Fraction) -> float:
    """A bound of the rounding errors of `_values`.

    Let u = UNIT. A coefficient c_m is rounded (u), an entry of a matrix is within 2u, and a power
    of x takes at most N - 2 products; then come two sums of N products (N each). All terms with c_m
    sum to at most |c_m| (1 + 1/half)^m. (Horner's rule takes 2N in place of the powers.)
    """
    largest = float(np.einsum("i,i", np.abs(coefficients), _growth(half)))
    return 3 * (_TERMS + 2) * UNIT * largest


@lru_cache(maxsize=16)
def _growth(half: Fraction) -> Floats:
    return np.array([(1 + 1 / float(half)) ** m for m in range(_TERMS)])


@lru_cache(maxsize=16)
def _powers(half: Fraction) -> Floats:
    """Powers of x = i/half - 1 for i up to 2 half, in row m those of m."""
    powers = np.ones((_TERMS, int(2 * half) + 1))
    powers[1:] = np.arange(int(2 * half) + 1) / float(half) - 1
    return np.multiply.accumulate(powers, axis=0, out=powers)


@lru_cache(maxsize=16)
def _all_matrices(half: Fraction, step: Fraction) -> Floats:
    """The unit matrix and both of `_matrices`."""
    return np.array([np.eye(_TERMS), *_matrices(half, step)])


@lru_cache(maxsize=16)
def _matrices(half: Fraction, step: Fraction) -> tuple[list[list[float]], list[list[float]]]:
    """Entry (r, m) is the coefficient of x^r in the integral of w(s) (x + s/half)^m ds, within 2u;
    the same for 1 - w(s)."""
    unit = 1 / float(half)  # a power of two: exact
    scaled = ([x * unit**m for m, x in enumerate(moments)] for moments in _moments(step))
    left, right = (
        [
            [0.0] * r + [count * x for count, x in zip(counts, moments, strict=False)]
            for r, counts in enumerate(_BINOMIALS)
        ]
        for moments in scaled
    )
    return left, right


@lru_cache(maxsize=16)
def _moments(step: Fraction) -> tuple[list[float], list[float]]:
    """The integrals of w(s) s^m ds and of (1 - w(s)) s^m ds for every m, s from 0 to 1.

    The first is m! (h/(m+2)! + h^2/(m+3)! + ...)/(e^h - 1), by Beta integrals term by term.
    """
    h, left, right = ball(step), [], []
    for m in range(_TERMS):
        term, total = h / ((m + 1) * (m + 2)), arb(0)
        for j in range(_TERMS):
            total += term
            term *= h / (m + 3 + j)
        # from here on each term is less than half of the one before
        share = (total + term * arb(1, 1)) / h.expm1()
        left.append(float(share))
        right.append(float(1 / arb(m + 1) - share))
    return left, right
