"""The law of the loss between two densities of one output, from blocks of outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from exactdp.accounting.pld.grid.lattice import Grid, Lattice, Outcome
from exactdp.accounting.pld.grid.measure import Bounds, cell_bounds
from exactdp.accounting.pld.grid.moved import Cell
from exactdp.accounting.pld.losses.base import Ends, LossLaw
from exactdp.accounting.pld.losses.density import log_of
from exactdp.accounting.pld.losses.outputs import Block, Densities, blocks
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

#: Most cells of a law; parts of a block in a sketch; the nodes that the losses of a cell may span.
_MOST_CELLS, _SKETCHED, _NODES = 1 << 18, 8, 2

#: delta is known to 2^-_NARROW_BITS of itself, after at most _ROUNDS halvings of some parts.
_NARROW_BITS, _ROUNDS, _MOST_UNDECIDED = 36, 128, 1 << 11

#: The number of bits to which masses are known, for all questions but far tails of compositions.
_BITS = 128


class _Part(NamedTuple):
    """Outputs of a block between two places, which count from its centre."""

    block: Block
    low: arb
    high: arb
    p: arb
    q: arb
    losses: arb

    @classmethod
    def of(cls, block: Block, low: arb, high: arb) -> _Part:
        return cls(block, low, high, *block.masses(low, high), block.losses(low, high))

    def split(self, count: int = 2) -> list[_Part]:
        """Parts of equal length."""
        length = (self.high - self.low) / count
        places = [(self.low + i * length).mid() for i in range(1, count)]
        return [self.of(self.block, *ends) for ends in pairwise([self.low, *places, self.high])]


@dataclass(frozen=True)
class OutputLaw(LossLaw):
    """The loss ln p/q under p; turned: ln q/p under q."""

    pair: Densities
    turned: bool = False

    @property
    def accuracy(self) -> Fraction:
        return Fraction(1, 10**9)

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        grid = Grid(Fraction(0), step)
        with precision(tail_bits + 64):
            listed = list(self.cells(grid, tail_bits, rate))
            only = sum((cell.p for cell in listed if cell.q == 0), arb(0))
            return cell_bounds(grid, [cell for cell in listed if cell.q != 0], only)

    def cells(self, lattice: Lattice, tail_bits: int, rate: Fraction) -> Iterator[Cell]:
        known, beyond = _parts(self, max(tail_bits, _BITS))
        yield Cell(*beyond, None, None)
        parts, count = list(known), len(known)
        while parts:
            part = parts.pop()
            if not part.losses.is_finite():
                yield Cell(part.p, part.q, None, None)
                continue
            first, last = lattice.around(Outcome(part.losses, part.p, part.q))
            if last - first > _NODES:
                parts += part.split()
                count += 1
            else:
                yield Cell(part.p, part.q, first, last)
            if count > _MOST_CELLS:
                raise Undecided(f"the outputs of one step fill more than {_MOST_CELLS} cells")

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        with precision(_BITS):
            for block in _parts(self, _BITS)[0]:
                for part in block.split(_SKETCHED):
                    if part.p > 0 and part.losses.is_finite():
                        yield float(part.losses.mid()), log_of(part.p)

    def width(self) -> float:
        return self._width

    @cached_property
    def _width(self) -> float:
        """About the standard deviation of the loss."""
        pairs = [(loss, math.exp(log)) for loss, log in self.sketch(_BITS)]
        mean = sum(loss * mass for loss, mass in pairs)
        return math.sqrt(sum((loss - mean) ** 2 * mass for loss, mass in pairs))

    def ends(self) -> Ends:
        """No largest loss is known: beyond the blocks it may have any size."""
        parts, beyond = _parts(self, _BITS)
        unknown = sum((part.p for part in parts if not part.losses.is_finite()), beyond[0])
        return Ends(None, Enclosure(self._infinite, enclosure(unknown.upper()).upper))

    def mass_at_infinity(self) -> arb:
        return ball(self._infinite).lower()

    @cached_property
    def _infinite(self) -> Fraction:
        """A lower bound of the mass of outputs that only p has."""
        only = sum((part.p for part in _parts(self, _BITS)[0] if part.q == 0), arb(0))
        return enclosure(only.lower()).lower

    def excess(self, epsilon: Fraction) -> arb:
        parts, (beyond, _) = _parts(self, _BITS)
        x, loss, total = ball(epsilon).exp(), ball(epsilon), beyond
        for _ in range(_ROUNDS):
            undecided, unknown = [], arb(0)
            for part in parts:
                if part.losses < loss or part.p == 0:
                    continue
                if part.losses > loss or part.q == 0:
                    total += part.p - x * part.q
                elif not part.losses.is_finite():
                    total += part.p.union(arb(0))
                else:
                    undecided.append(part)
                    unknown += part.block.most(part.low, part.high, x)
            if unknown <= total * arb(2) ** -_NARROW_BITS or len(undecided) > _MOST_UNDECIDED:
                break
            parts = [half for part in undecided for half in part.split()]
        return total + unknown.union(arb(0))

    def log_moment(self, s: Fraction) -> arb:
        raise self._unknown("one whose Renyi divergences are known")

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return OutputLaw(self.pair.sampled(rate), turned=not removed)


@lru_cache(maxsize=32)
def _parts(law: OutputLaw, bits: int) -> tuple[list[_Part], tuple[arb, arb]]:
    """All blocks, and balls around the masses beyond them."""
    with precision(bits + 64):
        known, beyond = blocks(law.pair, bits)
        if law.turned:
            known, beyond = tuple(block.turned() for block in known), beyond[::-1]
        p, q = (x.upper().max(arb(0)) * arb(0.5, 0.5) for x in beyond)
        return [_Part.of(block, -block.radius, block.radius) for block in known], (p, q)
