"""The law of a mean of t independent copies of a ratio R >= 0, on lattices, from below or above.

The copies are summed on lattices of which each next one reaches _COARSER times as far and is
coarser, since a large sum needs no finer nodes than its largest term, and is rare. Level 0 has all
sums whose terms are at most an end c_0; level l has the sums whose largest term is above c_(l-1)
and at most c_l. For that a law is kept in two parts: the sums without and with a term above
c_(l-1). Sums beyond the lattice are kept as two numbers, their mass and their mean.

Below, all terms up to c_(l-1) are merged to their mean m, which is post-processing, and the lattice
begins at m: the sum is t m + the sum of R_i - m over the larger terms.

Masses are integers in units of 2^-bits; all terms are >= 0, and every rounding is downward.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from flint import arb, fmpz, fmpz_poly

from exactdp.accounting.pld.grid.lattice import Grid, RatioLattice
from exactdp.accounting.pld.grid.moved import Cell, merged, shared
from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.progress import tick

#: The factor between the largest terms of two lattices.
_COARSER = 16

#: A lattice has at least this number of nodes, and reaches at least to this multiple of the mean.
_FEWEST_NODES, _MEANS = 1 << 14, 8

#: Largest number of nodes of a lattice: multiplying two polynomials of this length takes seconds.
_MOST_NODES = 1 << 21

#: The terms beyond level 0 have a mass of about 2^_RARE_BITS growth times the tail that is cut off,
#: or 2^-18 of delta, as their levels are coarser. For this, level 0 gets at most _LONGEST nodes.
_RARE_BITS, _LONGEST = 22, 1 << 18

#: The mean of small terms is rounded down to this number of bits.
_MEAN_BITS = 40

#: Rounding may take up to about 2^-_SPARE_BITS times the mass that is cut off as a tail.
_SPARE_BITS = 10


@dataclass(frozen=True)
class Sums:
    """The masses of a mean S of t copies of R at the ratios first, first + unit, ..., under Q, in
    units of 2^-bits.

    beyond: the mass of further S, and their mean in units, with first = 0. largest: no S is larger.
    inverse: as in `RatioLattice`; the loss is then -log S, and Q the first law of the pair.
    """

    masses: list[int]
    first: Fraction
    unit: Fraction
    bits: int
    beyond: tuple[int, int]
    largest: Fraction
    inverse: bool

    @property
    def at_zero(self) -> arb:
        return arb(self.masses[0]) * arb(2) ** -self.bits

    def cells(self, grid: Grid) -> Iterator[Cell]:
        """The cells of losses between two nodes with any mass, but for S = 0."""
        totals = list(accumulate(self.masses, initial=0))
        means = list(accumulate((i * m for i, m in enumerate(self.masses)), initial=0))
        last = len(self.masses)
        per_unit, before = ball(1 / self.unit), ball(self.first / self.unit)  # or exact
        # index: log S is between the nodes index and index + 1
        start = 0 if self.first else 1
        least = math.log(float(self.first + start * self.unit))
        index = math.floor(least / float(grid.step)) - 1
        while start < last:
            # the first node at or above e^((i + 1) step)
            ratio = ball((index + 1) * grid.step).exp()
            stop = (ratio * per_unit - before).ceil().unique_fmpz()
            if stop is None:
                raise Undecided("a node of the lattice cannot be told from one of the grid")
            end = min(max(int(stop), start), last)
            if totals[end] > totals[start]:
                mass = totals[end] - totals[start]
                yield self._cell(mass, means[end] - means[start], index, index + 1)
            start, index = end, index + 1

    def cells_beyond(self, grid: Grid) -> Iterator[Cell]:
        """The cell of all S beyond the nodes: for the inverse at the last node, which is above."""
        mass, mean = self.beyond
        if not mass:
            return
        last = len(self.masses) - 1
        first, _ = _around(grid, last * self.unit)
        if self.inverse:
            yield self._cell(mass, mass * last, first, first + 1)
        else:
            yield self._cell(mass, mean, first, _around(grid, self.largest)[1])

    def _cell(self, mass: int, mean: int, low: int, high: int) -> Cell:
        scale = arb(2) ** -self.bits
        without = mass * scale
        with_user = mean * scale * ball(self.unit) + without * ball(self.first)
        if self.inverse:
            return Cell(without, with_user, -high, -low)
        return Cell(with_user, without, low, high)


def _around(grid: Grid, ratio: Fraction) -> tuple[int, int]:
    """Nodes below and above the logarithm of a ratio."""
    place = ball(ratio).log() / ball(grid.step)
    return int(place.floor().lower().fmpz()), int(place.ceil().upper().fmpz())


def levels(
    lattice: RatioLattice, cells: Sequence[Cell], steps: int, tail_bits: int, *, up: bool
) -> list[Sums]:
    """The law of the mean of t = steps copies, in levels; with a curve above if `up`, else below.

    lattice: of R, level 0. cells: of R, on this lattice; those without an end are left out.
    """
    last = max(_FEWEST_NODES, math.ceil(_MEANS * steps / lattice.unit))
    if last > _MOST_NODES:
        raise Undecided(f"the ratios of one step fill more than {_MOST_NODES} nodes")
    sized = [(_size(cell), cell) for cell in cells if cell.high is not None]
    most = max((size for size, _ in sized), default=0)
    spread = math.ceil(_MEANS / 2 * steps / lattice.unit)
    if not lattice.inverse:
        rare = arb(2) ** (_RARE_BITS - tail_bits) * arb(lattice.growth)
        last = max(last, min(_beyond(sized, rare) + spread, _LONGEST))
    all_levels: list[Sums] = []
    start, end, scale = -1, last - spread, 1
    while not all_levels or start < most:
        large = [cell for size, cell in sized if start < size <= end]
        if large or not all_levels:
            small = [cell for size, cell in sized if size <= start]
            here = replace(lattice, unit=lattice.unit * scale)
            # rounding once takes at most 2^-bits from each node: 2^-bits last of Q, and of P at
            # most that times the largest S; what is lost in one of t terms is lost in the sum
            largest = math.ceil(last * here.unit / steps)
            bits = tail_bits + _SPARE_BITS + (last * largest * steps).bit_length()
            if small and not up:
                here = replace(here, offset=_mean(small, inverse=lattice.inverse))
            kept = _on_nodes(here, [_moved(c, lattice, here) for c in large], bits, up=up)
            if here.offset:
                rest = _Part(fmpz_poly([_units(_under_q(small, lattice), bits)]))
            else:
                rest = _on_nodes(here, [_moved(c, lattice, here) for c in small], bits, up=up)
            sums = _power((rest, kept), steps, last, bits)
            masses = [int(mass) for mass in sums.kept.coeffs()]
            masses += [0] * (last + 1 - len(masses))
            beyond = int(sums.beyond[0]), int(sums.beyond[1])
            all_levels.append(
                Sums(
                    masses,
                    here.offset,
                    here.unit / steps,
                    bits,
                    beyond,
                    end * lattice.unit,
                    lattice.inverse,
                )
            )
        start, end = end, end * _COARSER
        last = last if last >= _LONGEST else min(last, _FEWEST_NODES)
        scale = math.ceil(2 * end / last)
    return all_levels


def _beyond(sized: Sequence[tuple[int, Cell]], mass: arb) -> int:
    """The size beyond which the cells have about this mass under P."""
    beyond = arb(0)
    for size, cell in sorted(sized, key=lambda pair: -pair[0]):
        beyond += cell.p
        if beyond > mass:
            return size
    return 0


def _size(cell: Cell) -> int:
    """The largest node of a cell, without its sign."""
    return max(abs(node) for node in (cell.low, cell.high) if node is not None)


def _moved(cell: Cell, lattice: RatioLattice, other: RatioLattice) -> Cell:
    """The cell of one lattice, on another lattice."""

    def place(node: int) -> Fraction:
        away = (abs(node) * lattice.unit - other.offset) / other.unit
        return -away if lattice.inverse else away

    assert cell.high is not None
    low = None if cell.low is None else math.floor(place(cell.low))
    return replace(cell, low=low, high=math.ceil(place(cell.high)))


def _mean(cells: Sequence[Cell], *, inverse: bool) -> Fraction:
    """A lower bound of the ratio of the outcome that is merged from all these cells."""
    p, q = (sum((getattr(cell, side) for cell in cells), arb(0)) for side in "pq")
    ratio = (q / p if inverse else p / q) * 2**_MEAN_BITS
    return Fraction(int(ratio.lower().floor().fmpz()), 2**_MEAN_BITS)


def _under_q(cells: Sequence[Cell], lattice: RatioLattice) -> arb:
    """The mass of R under Q in these cells."""
    return sum((cell.p if lattice.inverse else cell.q for cell in cells), arb(0))


def _units(mass: arb, bits: int) -> int:
    """A mass in units of 2^-bits, rounded down."""
    return max(int((mass.lower() * arb(2) ** bits).floor().fmpz()), 0)


@dataclass(frozen=True)
class _Part:
    """Masses at nodes, and (mass, mean) of what lies beyond the nodes."""

    kept: fmpz_poly
    beyond: tuple[fmpz | int, fmpz | int] = (0, 0)

    def __add__(self, other: _Part) -> _Part:
        mass, mean = (x + y for x, y in zip(self.beyond, other.beyond, strict=True))
        return _Part(self.kept + other.kept, (mass, mean))

    def __sub__(self, other: _Part) -> _Part:
        mass, mean = (x - y for x, y in zip(self.beyond, other.beyond, strict=True))
        return _Part(self.kept - other.kept, (mass, mean))

    def __rshift__(self, bits: int) -> _Part:
        return _Part(self.kept // (1 << bits), (self.beyond[0] >> bits, self.beyond[1] >> bits))

    def totals(self) -> tuple[fmpz, fmpz]:
        """The mass and the mean of all."""
        return self.kept(1) + self.beyond[0], self.kept.derivative()(1) + self.beyond[1]

    def times(self, other: _Part, last: int) -> _Part:
        """The law of the sum of two independent terms."""
        kept = self.kept.mul_low(other.kept, last + 1)
        (mass, mean), (mass_2, mean_2) = self.totals(), other.totals()
        beyond = mass * mass_2 - kept(1), mean * mass_2 + mass * mean_2 - kept.derivative()(1)
        return _Part(kept, beyond)


#: Without and with a term above the end of the level before.
_Parts = tuple[_Part, _Part]


def _on_nodes(lattice: RatioLattice, cells: Sequence[Cell], bits: int, *, up: bool) -> _Part:
    """The masses of R under Q at the nodes, rounded down."""
    side, listed = 0 if lattice.inverse else 1, [0]
    for node, masses in (shared if up else merged)(lattice, cells).items():
        listed += [0] * (abs(node) + 1 - len(listed))
        listed[abs(node)] = _units(masses[side], bits)
    return _Part(fmpz_poly(listed))


def _power(square: _Parts, times: int, last: int, bits: int) -> _Part:
    """The law of the sum of independent copies, with a large term."""
    whole = None
    while True:
        if times & 1:
            whole = square if whole is None else _product(whole, square, last, bits)
        times >>= 1
        if not times:
            assert whole is not None
            return whole[1]
        square = _product(square, square, last, bits)
        tick()


def _product(one: _Parts, other: _Parts, last: int, bits: int) -> _Parts:
    small = one[0].times(other[0], last)
    large = (one[0] + one[1]).times(other[0] + other[1], last) - small
    return small >> bits, large >> bits
