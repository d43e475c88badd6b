"""Laws of losses that are listed: outcomes of known loss, and densities between two losses.

Their images for samples and batches are laws of the same kind.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from flint import arb, ctx

from exactdp.accounting.pld.grid.lattice import Grid, Lattice, Outcome
from exactdp.accounting.pld.grid.measure import Bounds, cell_bounds
from exactdp.accounting.pld.grid.moved import Cell, dense_cells, nodes_between
from exactdp.accounting.pld.grid.scaled import floor
from exactdp.accounting.pld.losses.base import Ends, Listed, LossLaw, sampled_excess
from exactdp.accounting.pld.losses.density import Piece, SampledDensity, log_of
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter

_BITS = 128

#: Binary places to which an irrational loss is known when a grid is placed.
_FINE = 100

#: Masses below 2^-this do not count for the width of a law.
_TAIL_BITS = 96

#: Balls around 0 and around 1.
_ZERO, _ZERO_TO_ONE = arb(0), arb(0.5, 0.5)


class ListedLaw(LossLaw):
    """A law with countably many outcomes, and with densities between losses that are outcomes."""

    #: Whether the law is the same in both orders of the neighbours.
    symmetric = False

    @abstractmethod
    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        """The finite losses, but for outcomes with a total mass below 2^-tail_bits."""

    def pieces(self) -> Sequence[Piece]:
        """The densities of the other losses."""
        return ()

    @property
    def bounded_density(self) -> bool:
        return bool(self.pieces())

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        """The P-mass of loss infinity and the Q-mass of loss -infinity, with what is left out."""
        return _ZERO, _ZERO

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        """A bound of the part of E e^(s L) that `outcomes` leaves out, and the bits for this."""
        return _ZERO, bits

    @property
    def unit(self) -> Fraction | None:
        return self._distance

    @property
    def _distance(self) -> Fraction | None:
        """For two losses, or three with 0 in the middle: a number just above their distance."""
        with precision(_BITS):
            losses = [outcome.loss for outcome in islice(self.outcomes(1), 4)]
            apart = [abs(x) for x in losses if not x.contains(0)]
            if len(losses) == 2:
                distance = abs(losses[0] - losses[1])
            elif len(losses) == 3 and len(apart) == 2 and apart[0].overlaps(apart[1]):
                distance = apart[0].union(apart[1])
            else:
                return None
            return Fraction(floor(distance * 2**_FINE) + 2, 2**_FINE)

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        with precision(_BITS):
            listed = list(self.outcomes(tail_bits))
            grid = Grid(_anchor(listed, self.unit, step), step)
            cells = list(self._cells(grid, listed))
            return cell_bounds(grid, cells, self.infinite(tail_bits)[0])

    def cells(self, lattice: Lattice, tail_bits: int, rate: Fraction) -> Iterator[Cell]:
        largest, least = self.infinite(tail_bits)
        if lattice.least is not None:
            yield Cell(_ZERO, least, lattice.least, lattice.least)
        if lattice.largest is not None:
            yield Cell(largest, _ZERO, lattice.largest, lattice.largest)
        yield from self._cells(lattice, self.outcomes(tail_bits))

    def _cells(self, lattice: Lattice, outcomes: Iterable[Outcome]) -> Iterator[Cell]:
        """The cells of these outcomes and of all densities."""
        yield from (Cell(x.p, x.q, *lattice.around(x)) for x in outcomes)
        for piece in self.pieces():
            nodes = nodes_between(lattice, piece.start, piece.end)
            yield from dense_cells(piece.density, lattice, nodes, (piece.start, piece.end))

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        for outcome in self.outcomes(bits):
            if outcome.p.mid() > 0:
                yield float(outcome.loss.mid()), log_of(outcome.p)
        for piece in self.pieces():
            yield from piece.sketch()

    def width(self) -> float:
        losses = (abs(float(outcome.loss.mid())) for outcome in self.outcomes(_TAIL_BITS))
        return min(max(losses, default=1.0), 1.0)

    def excess(self, epsilon: Fraction) -> arb:
        loss = ball(epsilon)
        ratio, total = loss.exp(), self.infinite(ctx.prec)[0]
        for outcome in self.outcomes(ctx.prec):
            if outcome.exact is None:
                total += (outcome.p - ratio * outcome.q).max(arb(0))
            elif outcome.exact > epsilon:
                total += outcome.p - ratio * outcome.q
        for piece in self.pieces():
            p, q = piece.above(loss)
            total += p - ratio * q
        return total

    def mass_at_infinity(self) -> arb:
        with precision(_BITS):
            return self.infinite(_BITS)[0].lower().max(arb(0))

    def is_bounded(self) -> bool:
        """Whether `outcomes` leaves out no outcome."""
        return self.left_out(Fraction(1), _BITS)[0].is_zero()

    @property
    def exact_infinity(self) -> Fraction | None:
        """The mass of infinite losses, where it is known exactly."""
        return None

    def ends(self) -> Ends:
        with precision(_BITS):
            exact = self.exact_infinity
            mass = enclosure(self.infinite(_BITS)[0]) if exact is None else Enclosure.exact(exact)
            if not self.is_bounded():
                return Ends(None, mass)
            places = [
                Enclosure.exact(x.exact) if x.exact is not None else _signed(x.loss)
                for x in self.outcomes(_BITS)
            ] or [Enclosure.exact(0)]
            largest = Enclosure(max(x.lower for x in places), max(x.upper for x in places))
            return Ends(largest, mass)

    def few_outcomes(self, most: int) -> Listed | None:
        if self.pieces() or not self.is_bounded():
            return None
        outcomes = list(islice(self.outcomes(ctx.prec), most + 1))
        return Listed(outcomes, self.infinite(ctx.prec)[0]) if len(outcomes) <= most else None

    def log_moment(self, s: Fraction) -> arb:
        if self.infinite(_BITS)[0] > 0:
            raise InvalidParameter(
                "delta", Described("mass at infinity"), "0 for Renyi divergences"
            )
        return self.finite_log_moment(s)

    def finite_log_moment(self, s: Fraction) -> arb:
        rest, bits = self.left_out(s, _BITS)
        power = ball(s)
        total = sum((x.p * (power * x.loss).exp() for x in self.outcomes(bits)), arb(0))
        total += sum((piece.moment(power) for piece in self.pieces()), arb(0))
        return (total + _ZERO_TO_ONE * rest).log()

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledListed(self, rate, removed)

    def replaced_on_sample(self, rate: Fraction) -> LossLaw:
        """The law for replace-one neighbours on a Poisson sample."""
        return super().replaced()

    def grouped_on_sample(self, size: int, rate: Fraction) -> tuple[LossLaw, LossLaw]:
        """The laws for a group of users on a Poisson sample, in both orders."""
        return super().grouped(size)


@dataclass(frozen=True)
class SampledListed(ListedLaw):
    """The loss on a Poisson sample, as in `density.SampledDensity`."""

    base: ListedLaw
    rate: Fraction
    removed: bool

    @property
    def accuracy(self) -> Fraction:
        return self.base.accuracy

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        for outcome in self.base.outcomes(tail_bits):
            yield _sampled(outcome, self.rate, removed=self.removed)
        never = self.base.infinite(tail_bits)[1]
        if never.lower() > 0:  # what cannot happen with the user in the sample
            kept = 1 - ball(self.rate)
            outcome = Outcome(kept.log(), kept * never, never)
            yield outcome if self.removed else outcome.reversed()

    def pieces(self) -> Sequence[Piece]:
        return [_sampled_piece(x, self.rate, removed=self.removed) for x in self.base.pieces()]

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        only, never = self.base.infinite(tail_bits)
        only *= ball(self.rate)
        rest = _ZERO if never.lower() > 0 else never  # a bound: at its largest loss it is harmless
        return (only + rest, _ZERO) if self.removed else (rest, only)

    def mass_at_infinity(self) -> arb:
        return ball(self.rate) * self.base.mass_at_infinity() if self.removed else arb(0)

    @property
    def exact_infinity(self) -> Fraction | None:
        exact = self.base.exact_infinity if self.removed else Fraction(0)
        return None if exact is None else self.rate * exact

    def excess(self, epsilon: Fraction) -> arb:
        if not self.base.symmetric:
            return super().excess(epsilon)
        return _on_sample(self.base, self.rate, epsilon, removed=self.removed)

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        if self.removed:  # mixtures leave out no more than the laws that are mixed
            return self.base.left_out(s, bits)
        return bounded_part(-ball(1 - self.rate).log(), s, bits)

    def is_bounded(self) -> bool:
        return self.base.is_bounded()

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledListed(self.base, rate * self.rate, removed)

    def replaced(self) -> LossLaw:
        return self.base.replaced_on_sample(self.rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        return self.base.grouped_on_sample(size, self.rate)


@dataclass(frozen=True)
class BatchListed(ListedLaw):
    """The worst loss on a batch without replacement, for a base that is alike in both orders.

    The curve at losses below 0 follows from that above 0: the masses under P and Q change places.
    The rest of the mass has loss 0.
    """

    base: ListedLaw
    rate: Fraction

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        left = arb(1)
        for outcome in self.base.outcomes(tail_bits):
            if not outcome.loss > 0:
                continue
            grown = _sampled(outcome, self.rate, removed=True)
            left -= grown.p + grown.q
            yield grown
            yield grown.reversed()
        for piece in self.pieces():  # of both signs
            left -= piece.above(piece.start.loss)[0]
        left -= ball(self.rate) * self.base.infinite(tail_bits)[0]
        if not self.base.is_bounded():  # outcomes that are left out, of both signs
            left -= _ZERO_TO_ONE * arb(2) ** (1 - tail_bits)
        yield Outcome.at(Fraction(0), left, left)

    def pieces(self) -> Sequence[Piece]:
        pieces, zero = [], Outcome.at(Fraction(0), _ZERO, _ZERO)
        for piece in self.base.pieces():
            if piece.end.loss > 0:
                start = piece.start if piece.start.loss > 0 else zero
                part = Piece(piece.density, start, piece.end)
                pieces += [_sampled_piece(part, self.rate, removed=way) for way in (False, True)]
        return pieces

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        only = ball(self.rate) * self.base.infinite(tail_bits)[0]
        return only, only

    @property
    def exact_infinity(self) -> Fraction | None:
        exact = self.base.exact_infinity
        return None if exact is None else self.rate * exact

    def excess(self, epsilon: Fraction) -> arb:
        return _on_sample(self.base, self.rate, epsilon, removed=True)

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        return self.base.left_out(s, bits)


def bounded_part(largest: arb, s: Fraction, bits: int) -> tuple[arb, int]:
    """`ListedLaw.left_out` where no loss is above `largest`."""
    bits += math.ceil(float(s) * float(largest.upper()) * 1.5)  # 1.5 > 1/log 2
    return (ball(s) * largest).exp() * arb(2) ** -bits, bits


def _anchor(outcomes: Sequence[Outcome], unit: Fraction | None, step: Fraction) -> Fraction:
    """A loss for a node: the likeliest one, or a number just below it; on a lattice the largest.

    Distances on a lattice are rounded up, so that counted from the largest loss no loss is below
    its node. Losses much closer than a step are merged to one below, so the node is there.
    """
    if unit is not None and 2 * unit < step:
        p, q = (sum((getattr(x, side) for x in outcomes), _ZERO) for side in "pq")
        return Fraction(floor((p / q).log() * 2**_FINE), 2**_FINE)
    best = max(outcomes, key=lambda x: x.p.mid() if unit is None else x.loss.mid())
    return best.exact if best.exact is not None else Fraction(floor(best.loss * 2**_FINE), 2**_FINE)


def _sampled(outcome: Outcome, rate: Fraction, *, removed: bool) -> Outcome:
    """An outcome on a Poisson sample: its loss is log(1 - rate + rate e^loss), or minus that."""
    chance = ball(rate)
    mixed = (1 - chance) * outcome.q + chance * outcome.p
    if outcome.exact == 0:
        sampled = Outcome(outcome.loss, mixed, outcome.q, outcome.exact)
    else:
        sampled = Outcome((chance * outcome.loss.expm1()).log1p(), mixed, outcome.q)
    return sampled if removed else sampled.reversed()


def _sampled_piece(piece: Piece, rate: Fraction, *, removed: bool) -> Piece:
    """A density on a Poisson sample."""
    ends = [_sampled(end, rate, removed=removed) for end in (piece.start, piece.end)]
    low, high = ends if removed else reversed(ends)
    return Piece(SampledDensity(piece.density, rate, removed), low, high)


def _signed(value: arb) -> Enclosure:
    """The ends of a ball of any sign; `enclosure` takes no numbers below 0."""
    return -enclosure(-value) if value < 0 else enclosure(value)


def _on_sample(base: ListedLaw, rate: Fraction, epsilon: Fraction, *, removed: bool) -> arb:
    def curve(loss: arb) -> arb:
        # delta falls, so both ends of the ball enclose it
        ends = enclosure(loss.max(arb(0)))
        return base.excess(ends.lower).union(base.excess(ends.upper))

    return sampled_excess(curve, rate, ball(epsilon), removed=removed)
