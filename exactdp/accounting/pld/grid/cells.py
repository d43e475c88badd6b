"""The mass of a loss density in the cells of a grid, from power series with proved remainders.

In a cell [l, l + h] the density f is replaced by two point masses at its ends that have the same
mass under P and under Q: f(l + s) goes to the left end with weight w(s) = (e^(h-s) - 1)/(e^h - 1),
and to the right end with weight 1 - w(s). Both shares are linear in f, so the power series of f
about the centre of a block of cells gives the series of the shares. Let |f| <= M on the disc of
radius 4r. By Cauchy's estimate the remainder after N terms is at most M 4^-N 4/3 on the disc of
radius r. The series is evaluated in doubles by Horner's rule. If the relative error of a block is
not below TOLERANCE everywhere, the block is halved. A single cell that is still not accurate is
computed from the two distribution functions, at rising precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, cast

from flint import acb, arb, arb_mat, arb_series

from exactdp.accounting.pld.grid.lattice import Grid, Tails
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW, UNIT, Scaled, above, split
from exactdp.arrays import Booleans, Floats, Integers, np
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.progress import tick

#: Relative error of every share and density value.
TOLERANCE = 2.0**-42

_BITS = 128
_TERMS = 32
_LARGEST_BLOCK = 1 << 12

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
        start = first
        while start < last:
            _cover(law, grid, arrays, first, start, min(start + 2 * _LARGEST_BLOCK, last))
            start += 2 * _LARGEST_BLOCK
            tick()
    left, right, peak = (
        Scaled(m, arrays.exponent) for m in (arrays.left, arrays.right, arrays.peak)
    )
    return Cells(first, left, right, peak, arrays.known)


def _blank(count: int) -> _Arrays:
    left, right, peak = (np.zeros(count) for _ in range(3))
    known = np.ones(count, dtype=np.bool_)
    return _Arrays(left, right, peak, np.zeros(count, dtype=np.int64), known)


def _cover(law: Density, grid: Grid, arrays: _Arrays, first: int, start: int, stop: int) -> None:
    """Fill the cells start ... stop - 1: blocks that are not accurate are halved."""
    blocks = [(start, stop)]
    while blocks:
        start, stop = blocks.pop()
        half = Fraction(1 << (stop - start - 1).bit_length(), 2)
        here = slice(start - first, stop - first)
        if _block(law, grid, start, stop, half, arrays, here):
            continue
        if half >= 1:
            middle = start + int(half)
            blocks += [(middle, stop), (start, middle)]
        else:
            _single(law, grid, start, arrays, start - first)


def _block(
    law: Density, grid: Grid, start: int, stop: int, half: Fraction, arrays: _Arrays, here: slice
) -> bool:
    """Fill the cells start ... stop - 1 from the series about start + half, if that is accurate."""
    centre, radius = grid.loss(start + half), ball(half * grid.step)
    bound = _largest(law, centre, 4 * radius)
    if bound is None:
        return False
    series = law.density(arb_series([centre, 1], _TERMS)).coeffs()
    scaled, power = [], arb(1)
    for coefficient in series:
        scaled.append(coefficient * power)
        power *= radius
    scaled += [arb(0)] * (_TERMS - len(scaled))
    if not scaled[0].is_finite():
        return False
    exponent = split(scaled[0])[1]
    unit = arb(2) ** -exponent
    remainder = above((bound * unit * arb(4) ** -_TERMS * 2).upper())
    column = arb_mat(_TERMS, 1, [c * unit for c in scaled])
    place = np.arange(stop - start + 1) / float(half) - 1
    if (values := _horner(column, place, remainder)) is None:
        return False
    left, right = (_horner(m * column, place[:-1], remainder) for m in _matrices(half, grid.step))
    if left is None or right is None:
        return False
    if abs(exponent) > _LARGEST_EXPONENT:
        raise Undecided("a density of the loss is too small to be written down")
    order = np.arange(_TERMS)
    middles, radii = _floats(column)
    # with N terms, the remainder sum c_n x^n over n >= N, |c_n| <= M 4^-n, bends by at most
    # sum n (n - 1) M 4^-n < 2 N^2 M 4^-N, which is N^2 times `remainder`
    bend = float(np.einsum("i,i", np.abs(middles), order * (order - 1))) + _TERMS**2 * (
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


def _horner(column: arb_mat, place: Floats, remainder: float) -> Floats | None:
    """The polynomial at |place| <= 1; None unless it is within TOLERANCE of the function there."""
    coefficients, radii = _floats(column)
    if not math.isfinite(float(np.abs(coefficients).sum()) + radii + remainder):
        return None
    value = cast(Floats, np.polyval(coefficients[::-1], place))
    # Horner's rule: at most 2 (N - 1) u sum |c|; rounding the coefficients to doubles: u sum |c|;
    # the rest for products of these errors. The places are exact.
    rounding = 2 * (_TERMS + 1) * UNIT * float(np.abs(coefficients).sum())
    error = (rounding + remainder + radii) * ROUNDED_UP + UNDERFLOW
    # the exact value is at least (1 - TOLERANCE) times the computed one
    return value if value.min() * (TOLERANCE / ROUNDED_UP) > error else None


def _floats(column: arb_mat) -> tuple[Floats, float]:
    """The middles of the entries of a column, and the sum of their radii."""
    entries = column.entries()
    middles = np.array([float(entry) for entry in entries])
    return middles, sum(float(entry.rad()) for entry in entries)


@lru_cache(maxsize=16)
def _matrices(half: Fraction, step: Fraction) -> tuple[arb_mat, arb_mat]:
    """From coefficients of f in (l - centre)/(half step) to the left and right shares over step."""
    order, unit = range(_TERMS), 1 / ball(half)  # half is a power of two: exact
    left = [moment * unit**m for m, moment in enumerate(_left_moments(step))]
    right = [unit**m / (m + 1) - part for m, part in enumerate(left)]
    to_left, to_right = (
        arb_mat([[math.comb(c, r) * part[c - r] if c >= r else 0 for c in order] for r in order])
        for part in (left, right)
    )
    return to_left, to_right


@lru_cache(maxsize=16)
def _left_moments(step: Fraction) -> list[arb]:
    """The integral of w(s) s^m ds over the cell, divided by h^(m+1), for every m.

    The result is m! (h/(m+2)! + h^2/(m+3)! + ...)/(e^h - 1), by Beta integrals term by term.
    """
    h, moments = ball(step), []
    for m in range(_TERMS):
        term, total = h / ((m + 1) * (m + 2)), arb(0)
        for j in range(_TERMS):
            total += term
            term *= h / (m + 3 + j)
        # from here on each term is less than half of the one before
        moments.append((total + term * arb(1, 1)) / h.expm1())
    return moments
