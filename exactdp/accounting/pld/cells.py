"""The mass of a loss density in the cells of a grid, from power series with proved remainders.

In a cell [l, l + h] the density f is to be split into two atoms at its ends with the same mass
under P and under Q: f(l + s) goes to the left end with weight w(s) = (e^(h-s) - 1)/(e^h - 1), and
to the right one with the rest. Both shares are linear in f, so the power series of f about the
centre of a block gives theirs. For a disc of radius 4r with |f| <= M on it, the remainder after N
terms is at most M 4^-N 4/3 on the inner disc of radius r (Cauchy); the series is evaluated in
doubles by Horner's rule, whose error is at most 2 N u times the sum of the coefficients' moduli.
A block that is not accurate to TOLERANCE everywhere is halved; where no block is, cells are
computed one at a time from the two distribution functions, at rising precision, and the density
over the whole cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, arb_mat, arb_series
from numpy.typing import NDArray

from exactdp.accounting.pld.laws import LossLaw
from exactdp.accounting.pld.transform import UNIT
from exactdp.accounting.pld.wide import Wide, above, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.progress import tick

__all__ = ["TOLERANCE", "Cells", "Grid", "cells"]

#: Relative error of every share and density value.
TOLERANCE = 2.0**-42

_BITS = 128
_TERMS = 32
_LARGEST_BLOCK = 1 << 12

#: Precisions at which single cells are tried, and the part of a cell's mass that is no share.
_SINGLE_BITS = (128, 256, 512)
_TINY = arb(2) ** -900
#: Powers of two beyond this are not written down.
_FARTHEST = 1 << 60


@dataclass(frozen=True)
class Grid:
    """The losses offset + i step, i an integer."""

    offset: Fraction
    step: Fraction

    def at(self, index: int | Fraction) -> arb:
        return ball(self.offset + index * self.step)


@dataclass(frozen=True)
class Cells:
    """Cell i lies between the nodes first + i and first + i + 1.

    left, right: the shares of its P-mass for its two ends, within TOLERANCE of the exact ones where
    they are known, else above them. peak: at least the largest density in it, times the step;
    infinite where nothing gave one.
    """

    first: int
    left: Wide
    right: Wide
    peak: Wide
    known: NDArray[np.bool_]

    def followed_by(self, other: Cells) -> Cells:
        """Both, where the other begins at the node at which these end."""
        left, right, peak = (
            Wide(np.append(a.mantissa, b.mantissa), np.append(a.exponent, b.exponent))
            for a, b in (
                (self.left, other.left),
                (self.right, other.right),
                (self.peak, other.peak),
            )
        )
        return Cells(self.first, left, right, peak, np.append(self.known, other.known))

    def smooth(self) -> bool:
        """Whether all shares are known, and all peaks."""
        return bool(self.known.all() and np.isfinite(self.peak.mantissa).all())


@dataclass
class _Sheet:
    """The arrays of Cells while they are being filled; the three mantissas share an exponent."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    peak: NDArray[np.float64]
    exponent: NDArray[np.int64]
    known: NDArray[np.bool_]


def cells(law: LossLaw, grid: Grid, first: int, last: int) -> Cells:
    """The cells between the nodes first and last."""
    sheet = _blank(last - first)
    with precision(_BITS, terms=_TERMS):
        start = first
        while start < last:
            _cover(law, grid, sheet, first, start, min(start + 2 * _LARGEST_BLOCK, last))
            start += 2 * _LARGEST_BLOCK
            tick()
    left, right, peak = (Wide(m, sheet.exponent) for m in (sheet.left, sheet.right, sheet.peak))
    return Cells(first, left, right, peak, sheet.known)


def _blank(count: int) -> _Sheet:
    left, right, peak = (np.zeros(count) for _ in range(3))
    known = np.ones(count, dtype=np.bool_)
    return _Sheet(left, right, peak, np.zeros(count, dtype=np.int64), known)


def _cover(law: LossLaw, grid: Grid, sheet: _Sheet, first: int, start: int, stop: int) -> None:
    half = Fraction(1, 2)
    while 2 * half < stop - start:
        half *= 2
    here = slice(start - first, stop - first)
    if _block(law, grid, start, stop, half, sheet, here):
        return
    if half >= 1:
        middle = start + int(half)
        _cover(law, grid, sheet, first, start, middle)
        _cover(law, grid, sheet, first, middle, stop)
    else:
        _single(law, grid, start, sheet, start - first)


def _block(
    law: LossLaw, grid: Grid, start: int, stop: int, half: Fraction, sheet: _Sheet, here: slice
) -> bool:
    """Fill the cells start ... stop - 1 from one series about start + half, if that is accurate."""
    centre, radius = grid.at(start + half), ball(half * grid.step)
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
    values = _horner(column, place, remainder)
    left, right = (_horner(m * column, place[:-1], remainder) for m in _matrices(half, grid.step))
    if left is None or right is None or values is None:
        return False
    if abs(exponent) > _FARTHEST:
        raise Undecided("a density of the loss is too small to be written down")
    order = np.arange(_TERMS)
    middles, radii = _floats(column)
    bend = float(np.abs(middles) @ (order * (order - 1))) + _TERMS**2 * (radii + 3 * remainder)
    # far more than the few roundings of these doubles is added here and below
    highest = np.maximum(values[:-1], values[1:]) + 1.001 * bend / (8 * float(half) ** 2)
    step = float(grid.step)
    sheet.left[here], sheet.right[here] = left * step, right * step
    sheet.peak[here] = highest * (step * (1 + 2 * TOLERANCE))
    sheet.exponent[here] = exponent
    return True


def _single(law: LossLaw, grid: Grid, index: int, sheet: _Sheet, place: int) -> None:
    """One cell from the distribution functions; where its shares stay unknown, their upper ends."""
    for bits in _SINGLE_BITS:
        with precision(bits):
            p, shares = _shares(law, grid, index)
        known = all(share.rel_accuracy_bits() > 46 and share > p * _TINY for share in shares)
        if known or p == 0:
            break
    if not all(value.is_finite() for value in (p, *shares)):
        raise Undecided("a mass of the loss lost all accuracy")
    exponent = max(split(p.upper())[1], -(2**40))
    for target, share in zip((sheet.left, sheet.right), shares, strict=True):
        end = share.mid() if known else share.upper().min(p.upper())
        scaled = float((end * arb(2) ** -exponent).mid())
        target[place] = scaled if known or end <= 0 else scaled * (1 + 4 * UNIT) + float(_TINY)
    sheet.exponent[place], sheet.known[place] = exponent, known
    density = law.density(grid.at(index).union(grid.at(index + 1)))
    peak = (density * ball(grid.step) * arb(2) ** -exponent).upper()
    sheet.peak[place] = float(peak) * (1 + 4 * UNIT) if peak.is_finite() else np.inf


def _shares(law: LossLaw, grid: Grid, index: int) -> tuple[arb, list[arb]]:
    """The mass of a cell, and its shares for the left and the right end."""
    low, high = grid.at(index), grid.at(index + 1)
    side = law.below if low < law.centre() else law.above
    p, q = (abs(a - b) for a, b in zip(side(low), side(high), strict=True))
    fall = (-ball(grid.step)).exp()
    to_left = (q * low.exp() - p * fall) / (1 - fall)
    return p, [to_left, p - to_left]


def _largest(law: LossLaw, centre: arb, radius: arb) -> arb | None:
    """A bound on |f| in a disc, from the square around it; None where it does not help."""
    value = law.density(acb(arb(centre, radius), arb(0, radius)))
    bound = abs(value).upper() if value.is_finite() else None
    return bound if bound is not None and bound.is_finite() else None


def _horner(
    column: arb_mat, place: NDArray[np.float64], remainder: float
) -> NDArray[np.float64] | None:
    """The polynomial at |place| <= 1; None unless it is within TOLERANCE of the function there."""
    coefficients, radii = _floats(column)
    if not math.isfinite(float(np.abs(coefficients).sum()) + radii + remainder):
        return None
    value = np.full(len(place), coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= place
        value += coefficient
    rounding = 2.01 * (_TERMS + 1) * UNIT * float(np.abs(coefficients).sum())
    error = rounding + 1.001 * (remainder + radii) + 2.0**-900
    return value if value.min() * (TOLERANCE / 1.01) > error else None


def _floats(column: arb_mat) -> tuple[NDArray[np.float64], float]:
    """The middles of a column's entries, and the sum of their radii."""
    entries = column.entries()
    middles = np.array([float(entry.mid()) for entry in entries])
    return middles, sum(float(entry.rad()) for entry in entries)


@lru_cache(maxsize=16)
def _matrices(half: Fraction, step: Fraction) -> tuple[arb_mat, arb_mat]:
    """From the coefficients of f in (l - centre)/(half step) to those of the shares over step."""
    left, right = [], []
    whole = [ball(Fraction(1, m + 1)) for m in range(_TERMS)]
    moments = list(_left_moments(ball(step)))
    for row in range(_TERMS):
        for column in range(_TERMS):
            m = column - row
            weight = ball(math.comb(column, row) / half**m) if m >= 0 else arb(0)
            left.append(weight * moments[m] if m >= 0 else arb(0))
            right.append(weight * (whole[m] - moments[m]) if m >= 0 else arb(0))
    return arb_mat(_TERMS, _TERMS, left), arb_mat(_TERMS, _TERMS, right)


def _left_moments(step: arb) -> Iterator[arb]:
    """The integral of w(s) s^m ds over the cell, divided by h^(m+1), for every m.

    It is m! (h/(m+2)! + h^2/(m+3)! + ...)/(e^h - 1): a Beta integral term by term.
    """
    for m in range(_TERMS):
        term, total = step / ((m + 1) * (m + 2)), arb(0)
        for j in range(_TERMS):
            total += term
            term *= step / (m + 3 + j)
        # beyond, each term is less than half of the one before
        yield (total + term * arb(1, 1)) / step.expm1()
