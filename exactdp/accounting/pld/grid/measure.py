"""Measures on a grid of losses: nonnegative masses at equidistant nodes, and at infinity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import arb

from exactdp.accounting.pld.grid.lattice import Grid, check_nodes
from exactdp.accounting.pld.grid.moved import Cell, merged, shared
from exactdp.accounting.pld.grid.scaled import Scaled, split
from exactdp.arrays import np
from exactdp.errors import Undecided

#: A mass below 2^-_SMALLEST_BITS is rounded up to this number, or down to 0.
_SMALLEST_BITS = 1 << 60

#: These factors cover the rounding of `split` (UNIT) and of the multiplication by them.
_UP, _DOWN = 1 + 2.0**-50, 1 - 2.0**-50


@dataclass(frozen=True)
class Measure:
    """Exactly these masses at the nodes first, first + 1, ... of a grid, and at infinity."""

    grid: Grid
    first: int
    masses: Scaled
    infinity: arb

    @property
    def nbytes(self) -> int:
        return self.masses.mantissa.nbytes + self.masses.exponent.nbytes


#: Two measures, one with a curve below the curve of a law and one above.
Bounds = tuple[Measure, Measure]


def cell_bounds(grid: Grid, cells: Sequence[Cell], infinity: arb) -> Bounds:
    """The bounds of a law from its cells. infinity: the mass of loss infinity."""
    beyond = sum((cell.p for cell in cells if cell.high is None), infinity)
    low, high = (
        {node: p for node, (p, _) in moved(grid, cells).items()} for moved in (merged, shared)
    )
    return (
        on_nodes(grid, low, infinity.lower(), up=False),
        on_nodes(grid, high, beyond.upper(), up=True),
    )


def added(masses: Scaled, index: int, more: arb, *, up: bool) -> Scaled:
    """The masses with `more` added at one node, rounded up or down."""
    if more <= 0:
        return masses
    if not more.is_finite():
        raise Undecided("a mass of the loss lost all accuracy")
    number, power = split(more)
    number *= _UP if up else _DOWN
    mantissa, exponent = masses.mantissa.copy(), masses.exponent.copy()
    highest = max(int(exponent[index]), power)
    here = masses[index : index + 1 or None].at(highest)[0]
    mantissa[index] = here + np.ldexp(number, max(power - highest, -2000))
    exponent[index] = highest
    return Scaled(mantissa, exponent)


def on_nodes(grid: Grid, masses: Mapping[int, arb], infinity: arb, *, up: bool) -> Measure:
    """The measure with these masses at nodes, rounded up or down."""
    ends = {index: mass.upper() if up else mass.lower() for index, mass in masses.items()}
    if not all(end.is_finite() for end in ends.values()):
        raise Undecided("a mass of the loss lost all accuracy")
    ends = {index: end for index, end in ends.items() if end > 0}
    if not ends:
        raise Undecided("all finite losses are too unlikely to be told from none")
    first, last = min(ends), max(ends)
    check_nodes(last - first)
    mantissa = np.zeros(last - first + 1)
    exponent = np.zeros(last - first + 1, dtype=np.int64)
    for index, end in ends.items():
        number, power = split(end)
        if power < -_SMALLEST_BITS:
            number, power = float(up), -_SMALLEST_BITS
        mantissa[index - first] = number * (_UP if up else _DOWN)
        exponent[index - first] = power
    return Measure(grid, first, Scaled(mantissa, exponent), infinity.max(arb(0)))
