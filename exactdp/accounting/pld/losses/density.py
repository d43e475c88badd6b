"""Laws with a density on the whole line; the density of a loss on a Poisson sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import acb, arb, arb_series

from exactdp.accounting.pld.grid import densities
from exactdp.accounting.pld.grid.cells import Density
from exactdp.accounting.pld.grid.lattice import Lattice, Masses, Outcome
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.grid.moved import Cell, dense_cells
from exactdp.accounting.pld.losses.base import LossLaw
from exactdp.balls import ball

#: Cells of a sketch of a density.
_CELLS = 256

#: Their ends, as parts of the range: ever closer to its ends, where a density may be steep.
_SHARES = sorted(
    {Fraction(i, _CELLS) for i in range(_CELLS + 1)}
    | {Fraction(1, _CELLS << k) for k in range(60)}
    | {1 - Fraction(1, _CELLS << k) for k in range(60)}
)

#: A sketch leaves out the smallest losses, with a mass of 2^-_LEFT_BITS.
_LEFT_BITS = 96


class DensityLaw(densities.Line, LossLaw):
    """A law with a density on the line; `Line` and `Tails` list the methods of a new law."""

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        return densities.bounds(self, step, tail_bits, rate)

    def cells(self, lattice: Lattice, tail_bits: int, rate: Fraction) -> Iterator[Cell]:
        return dense_cells(self, lattice, lattice.nodes(*lattice.span(self, tail_bits, rate)))

    def width(self) -> float:
        return float(self.scale().mid())

    def excess(self, epsilon: Fraction) -> arb:
        loss = ball(epsilon)
        p, q = self.above(loss)
        return p - loss.exp() * q

    def affinity(self) -> arb:
        # the affinity of the two events L > 0 and L <= 0, which are post-processing
        p, q = self.above(arb(0))
        return (p * q).sqrt() + ((1 - p) * (1 - q)).sqrt()

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        centre, scale = float(self.centre().mid()), float(self.scale().mid())
        yield from _side(self.above, centre, scale, bits)
        yield from _side(self.below, centre, -scale, _LEFT_BITS)


def _side(
    masses: Callable[[arb], Masses], centre: float, scale: float, bits: int
) -> Iterator[tuple[float, float]]:
    """Cells from the centre outward. In each the mass that is left falls by about as much as in a
    third of a standard deviation of a normal law."""
    place, width = centre, scale / 8
    p, q = masses(arb(place))
    while p > 0 and (log_left := -log_of(p)) < bits * math.log(2):
        if place + width == place:
            break  # doubles do not tell the losses of the cells apart
        wished = max(0.5, 0.35 * math.sqrt(2 * log_left))
        p_next, q_next = masses(arb(place + width))
        fallen = -log_of(p_next) - log_left if p_next > 0 else math.inf
        if fallen > 2 * wished and abs(width) > abs(scale) / 64:
            width /= 2
            continue
        in_p, in_q = p - p_next, q - q_next
        if in_p > 0 and in_q > 0:
            yield log_of(in_p) - log_of(in_q), log_of(in_p)
        elif not p_next > 0:
            break  # else a gap between two normal laws: the next cell is wider
        place, p, q = place + width, p_next, q_next
        width *= 1.5 if fallen < wished / 2 else 2 / 3 if fallen > wished else 1


class BoundedDensity(Density):
    """A density between two losses; its masses are integrals, up to one constant."""

    def above(self, loss: arb) -> Masses:
        p, q = self.below(loss)
        return -p, -q


@dataclass(frozen=True)
class Piece:
    """A density of the losses between two outcomes."""

    density: Density
    start: Outcome
    end: Outcome

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The masses of the losses of the piece above a loss."""
        low = self.density.below(loss.max(self.start.loss).min(self.end.loss))
        high = self.density.below(self.end.loss)
        return high[0] - low[0], high[1] - low[1]

    def moment(self, power: arb) -> arb:
        """The integral of e^(power loss)."""

        def integrand(x: acb, _: bool) -> acb:
            value: acb = self.density.density(x) * (power * x).exp()
            return value

        return acb.integral(integrand, self.start.loss, self.end.loss).real

    def sketch(self) -> Iterator[tuple[float, float]]:
        """About the losses, each with the logarithm of its mass."""
        reach = self.end.loss - self.start.loss
        places = [self.start.loss + reach * ball(share) for share in _SHARES]
        beyond = [self.density.below(place)[0] for place in places]
        for (low, high), (one, two) in zip(pairwise(places), pairwise(beyond), strict=True):
            if two - one > 0:
                yield float((low + high).mid()) / 2, log_of(two - one)


@dataclass(frozen=True)
class SampledDensity(Density):
    """The density of the loss when the user takes part with probability rate.

    With A the law with the user and B the law without, the pair is ((1 - rate) B + rate A, B)
    (removed), or the pair in the other order. Its loss is +-log(1 - rate + rate e^l) with l = log
    dA/dB. base: the density of l under A. rate: in (0, 1).
    """

    base: Density
    rate: Fraction
    removed: bool

    @property
    def steep(self) -> int:
        return -1 if self.removed else 1

    def density(self, loss: Any) -> Any:
        rate = ball(self.rate)
        grown = (loss if self.removed else -loss).exp()
        part = grown - (1 - rate)
        if is_negative(part):
            return 0 * loss  # no loss is so small, or so large
        if not off_cut(part):
            return loss * arb("nan")
        inner = (part / rate).log()
        # under B the density of l is e^-l times that under A, and dl is e^(+-loss - l)/rate times
        # dloss; the mixture's density is e^loss times B's
        exponent = 2 * (loss - inner) if self.removed else -2 * inner - loss
        return self.base.density(inner) * exponent.exp() / rate

    def below(self, loss: arb) -> Masses:
        return self._masses(loss, lower=self.removed)

    def above(self, loss: arb) -> Masses:
        return self._masses(loss, lower=not self.removed)

    def _masses(self, loss: arb, *, lower: bool) -> Masses:
        rate = ball(self.rate)
        part = (loss if self.removed else -loss).exp() - (1 - rate)
        if part < 0:
            a, b = (arb(0), arb(0)) if lower else (arb(1), arb(1))
        else:
            inner = (part / rate).log()
            a, b = self.base.below(inner) if lower else self.base.above(inner)
        mixed = (1 - rate) * b + rate * a
        return (mixed, b) if self.removed else (b, mixed)


def log_of(value: arb) -> float:
    """About the natural logarithm of a ball > 0."""
    return float(value.mid().log().mid())


def off_cut(value: Any) -> bool:
    """Whether a ball, or the first term of a power series, is off the cut of the logarithm."""
    return bool(acb(_first(value)).real > 0)


def is_negative(value: Any) -> bool:
    """Whether all of a ball, or the first term of a power series, has a negative real part."""
    return bool(acb(_first(value)).real < 0)


def middle(loss: Any) -> arb:
    """The real middle of a ball, of a complex ball, or of the first term of a power series."""
    return acb(_first(loss)).real.mid()


def _first(value: Any) -> Any:
    return value.coeffs()[0] if isinstance(value, arb_series) else value
