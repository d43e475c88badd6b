"""The law of a sum of independent ratios R >= 0, from below or above, at nodes e^(i h).

A geometric lattice is equally fine, relatively, for sums of any size. A sum of two terms near the
nodes i and i - d lies c(d) nodes above i, with c(d) = log(1 + e^(-d h))/h. All d whose c(d) have
one integer part are a group; the terms of a group are added up before they are multiplied.

Above: a sum moves to the two nodes around it and keeps its mean, which is above in the convex order
(Jensen's inequality). The mean of ratios beyond the last node is kept as a number, and they become
0; a ratio below the first node is shared between that node and 0.
Below: sums of about one size are merged to their mean: a cell is a mass under Q with a mass under P
whose quotient is the mean ratio. So it does not matter which sums are merged.

Where each term is small beside the sum, errors of terms average out, and a lattice of few terms is
coarser by a power of two. Masses are doubles >= 0. Above, each one is at least the exact mass;
below, each one has a relative error of at most `Below.error`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Self, TypeVar

from flint import arb

from exactdp.accounting.pld.grid.lattice import Masses, Ratios
from exactdp.accounting.pld.grid.moved import Cell
from exactdp.accounting.pld.grid.scaled import UNDERFLOW, UNIT, above, exponentials, floor, split
from exactdp.arrays import Floats, np
from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.progress import tick

#: Largest number of nodes times groups of one sum: a sum then takes about half a minute.
_MOST_WORK = 1 << 32

#: Masses below this are left out below. Their products with each other may underflow.
_LEAST = 2.0**-900

#: Relative error of a group's sum, of a power of e, and of a few products, in units.
_GROUP_UNITS = 128

#: A product with a mean may underflow by at most this.
_TINY = 2.0**-1050

#: The nodes of a few terms are at most this part as coarse as averaging would allow.
_COARSENESS = 0.5

#: Balls whose relative error is larger than 2^-_EXACT_BITS are left out below.
_EXACT_BITS = 54

#: Relative error of the lower masses of one term: rounded from a ball, and divided.
_INPUT_UNITS = 6


@dataclass(frozen=True)
class _Sum(ABC):
    """The law of a sum of `terms` of `count` terms in all, at nodes (first + i) step."""

    step: Fraction
    first: int
    terms: int
    count: int

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of nodes."""

    @abstractmethod
    def spread(self, step: Fraction, first: int, size: int) -> Self:
        """The same law on finer or more nodes."""

    @abstractmethod
    def plus(self, other: Self) -> Self:
        """The sum of independent terms, where both have the same nodes."""

    @abstractmethod
    def trimmed(self, share: float) -> Self:
        """The law without nodes at the ends that have a mass, or a mean, of at most this share."""

    def added(self, other: Self, step: Fraction, tail: float) -> Self:
        """The sum of independent terms. step: of all terms. tail: what may be cut off."""
        terms = self.terms + other.terms
        most = max(law.last * float(law.step) for law in (self, other))
        here = coarser(step, most, self.count / terms)
        here = min(here, self.step, other.step)
        first = min(law.first * int(law.step / here) for law in (self, other))
        last = max(law.last * int(law.step / here) for law in (self, other))
        size = last - first + 1
        near = sum(1 for _, away, _ in _groups(here, 0) if away < size)
        if size * near > _MOST_WORK:
            raise Undecided("the ratios of one step fill too many nodes")
        one = self.spread(here, first, size)
        two = one if other is self else other.spread(here, first, size)
        tick()
        return one.plus(two).trimmed(tail * terms / self.count)

    @property
    def last(self) -> int:
        return self.first + self.size - 1

    def _on(self, values: Floats, step: Fraction, first: int, size: int) -> Floats:
        """Values at the nodes of another lattice with a step that divides this one."""
        every = int(self.step / step)
        start = self.first * every - first
        moved = np.zeros(size)
        moved[start : start + every * (len(values) - 1) + 1 : every] = values
        return moved


@dataclass(frozen=True)
class Above(_Sum):
    """masses: under Q, at the nodes. zero: at the ratio 0. beyond: the mean of what is left out."""

    masses: Floats
    zero: float
    beyond: arb

    @classmethod
    def one(cls, lattice: Ratios, masses: Mapping[int, Masses]) -> Above:
        """A term, from masses under P and Q at nodes; the rest lies at 0 and beyond."""
        first, last = min(masses), max(masses)
        listed = np.zeros(last - first + 1)
        for node, (_, q) in masses.items():
            listed[node - first] = max(above(q), 0.0)
        rest = [1 - sum((pair[side] for pair in masses.values()), arb(0)) for side in (0, 1)]
        zero = max(above(rest[1]), 0.0)
        beyond = arb(rest[0].upper()).max(arb(0)) / lattice.count
        return cls(lattice.step, first, 1, lattice.count, listed, zero, beyond)

    @property
    def size(self) -> int:
        return len(self.masses)

    def spread(self, step: Fraction, first: int, size: int) -> Above:
        return replace(
            self, step=step, first=first, masses=self._on(self.masses, step, first, size)
        )

    def plus(self, other: Above) -> Above:
        sums = self._larger_than(other)
        sums += sums if other is self else other._larger_than(self)
        place, low, high = _doubled(self.step)
        alike = self.masses * other.masses
        sums[place : place + self.size] += low * alike
        sums[place + 1 : place + 1 + self.size] += high * alike
        sums[: self.size] += self.zero * other.masses + other.zero * self.masses
        up = 1 + (4 * len(_groups(self.step, 0)) + 2 * _GROUP_UNITS) * UNIT
        return replace(
            self,
            terms=self.terms + other.terms,
            masses=sums * up + UNDERFLOW,
            zero=self.zero * other.zero * up + UNDERFLOW,
            beyond=self.beyond + other.beyond,
        )

    def _larger_than(self, other: Above) -> Floats:
        """The sums in which this term is at a larger node than the other one."""
        sums = np.zeros(self.size + _places(self.step))
        masses = _Windows(other.masses)
        means = _Windows(other.masses * _powers(self.step, self.first, self.size))
        inverses = _powers(-self.step, self.first, self.size)
        slack = _GROUP_UNITS * UNIT
        for place, away, count in _groups(self.step, 0):
            if away >= self.size:
                break
            mass, inverse = masses.sums(away, count), inverses[away:]
            mean = inverse * means.sums(away, count)  # over the larger term
            base, width = _between(self.step, place)
            own = self.masses[away:] / width
            low = (base + width + slack) * mass - mean
            high = mean + inverse * _TINY - (base - slack) * mass
            sums[away + place : self.size + place] += low * own
            sums[away + place + 1 : self.size + place + 1] += high * own
        return sums

    def trimmed(self, share: float) -> Above:
        means = self.masses * _powers(self.step, self.first, self.size)
        start, stop = _kept(self.masses, means, share)
        masses, up = self.masses[start:stop].copy(), 1 + (self.size + _GROUP_UNITS) * UNIT
        inverse = _powers(-self.step, self.first + start, 1)[0]
        masses[0] += means[:start].sum() * inverse * up + UNDERFLOW
        outside = self.masses[:start].sum() + self.masses[stop:].sum()
        return replace(
            self,
            first=self.first + start,
            masses=masses * (1 + 2 * UNIT),
            zero=(self.zero + outside) * up,
            beyond=self.beyond + arb(means[stop:].sum() * up + UNDERFLOW),
        )


@dataclass(frozen=True)
class Below(_Sum):
    """p, q: masses of cells under P and Q, their quotient is the mean ratio. zero: under Q."""

    p: Floats
    q: Floats
    zero: float
    error: float

    @classmethod
    def one(cls, lattice: Ratios, cells: Iterable[Cell], zero: arb) -> Below:
        """A term, from cells on the lattice and the mass of ratio 0 under Q."""
        masses: dict[int, tuple[float, float]] = {}
        for cell in cells:
            node = cell.low if cell.low is not None else cell.high
            if node is None or not (_is_exact(cell.p) and _is_exact(cell.q)):
                continue
            p, q = masses.get(node, (0.0, 0.0))
            masses[node] = p + float(cell.p), q + float(cell.q)
        if not masses:
            raise Undecided("all finite losses are too unlikely to be told from none")
        first = min(masses)
        both = np.zeros((2, max(masses) - first + 1))
        for node, (with_user, without) in masses.items():
            both[:, node - first] = with_user / lattice.count, without
        least = math.nextafter(max(float(zero.lower()), 0.0), 0.0)
        error = _INPUT_UNITS * UNIT + len(masses) * UNIT
        return cls(lattice.step, first, 1, lattice.count, both[0], both[1], least, error)

    @property
    def size(self) -> int:
        return len(self.p)

    def spread(self, step: Fraction, first: int, size: int) -> Below:
        p, q = (self._on(values, step, first, size) for values in (self.p, self.q))
        return replace(self, step=step, first=first, p=p, q=q)

    def plus(self, other: Below) -> Below:
        p, q = self._larger_than(other)
        more = (p, q) if other is self else other._larger_than(self)
        p, q = p + more[0], q + more[1]
        place = floor(arb(2).log() / ball(self.step) + 0.5)
        p[place : place + self.size] += self.p * other.q + self.q * other.p
        q[place : place + self.size] += self.q * other.q
        p[: self.size] += self.zero * other.p + other.zero * self.p
        q[: self.size] += self.zero * other.q + other.zero * self.q
        error = (4 * len(_groups(self.step, 1)) + 2 * _GROUP_UNITS) * UNIT
        is_kept = (p > _LEAST) & (q > _LEAST)
        return replace(
            self,
            terms=self.terms + other.terms,
            p=np.where(is_kept, p, 0.0),
            q=np.where(is_kept, q, 0.0),
            zero=self.zero * other.zero,
            error=self.error + other.error + error,
        )

    def _larger_than(self, other: Below) -> tuple[Floats, Floats]:
        """The sums in which this term is in a larger cell than the other one."""
        p, q = np.zeros((2, self.size + _places(self.step)))
        with_user, without = _Windows(other.p), _Windows(other.q)
        for place, away, count in _groups(self.step, 1):
            if away >= self.size:
                break
            here = slice(away + place, self.size + place)
            mass = without.sums(away, count)
            p[here] += self.p[away:] * mass + self.q[away:] * with_user.sums(away, count)
            q[here] += self.q[away:] * mass
        return p, q

    def trimmed(self, share: float) -> Below:
        start, stop = _kept(self.q, self.p, share)
        ends = [self.p[start:stop].copy(), self.q[start:stop].copy()]
        for kept, values in zip(ends, (self.p, self.q), strict=True):
            kept[0] += values[:start].sum()
            kept[-1] += values[stop:].sum()
        error = self.error + (self.size + 2) * UNIT
        return replace(self, first=self.first + start, p=ends[0], q=ends[1], error=error)


_Law = TypeVar("_Law", Above, Below)


def total(term: _Law, step: Fraction, tail: float) -> _Law:
    """The law of the sum of all terms, each with this law. tail: what may be cut off."""
    times, square, whole = term.count, term, None
    while True:
        if times & 1:
            whole = square if whole is None else whole.added(square, step, tail)
        times >>= 1
        if not times:
            assert whole is not None
            return whole
        square = square.added(square, step, tail)


def coarser(step: Fraction, most: float, copies: float) -> Fraction:
    """The step for terms of which this number is summed. most: logarithm of their largest ratio."""
    factor = min(math.exp(-most), _COARSENESS * math.sqrt(copies))
    return step * (1 << max(0, math.floor(math.log2(factor))))


class _Windows:
    """Sums over windows of an array, without a difference."""

    def __init__(self, values: Floats) -> None:
        self._levels = [values]

    def sums(self, away: int, count: int) -> Floats:
        """For every i >= away the sum of `count` entries: i - away, i - away - 1, ..."""
        size = len(self._levels[0]) - away
        count, offset = min(count, size), 0
        result = np.zeros(size)
        for level in range(count.bit_length()):
            if count >> level & 1:
                result[offset:] += self._level(level)[: size - offset]
                offset += 1 << level
        return result

    def _level(self, level: int) -> Floats:
        """The sums of 2^level entries up to each one."""
        while len(self._levels) <= level:
            half, longer = 1 << len(self._levels) - 1, self._levels[-1].copy()
            longer[half:] += self._levels[-1][:-half]
            self._levels.append(longer)
        return self._levels[level]


@lru_cache(maxsize=16)
def _groups(step: Fraction, halves: int) -> tuple[tuple[int, int, int], ...]:
    """(place, away, count): at the distances d from `away` on, c(d) + halves/2 is in the cell."""
    groups, last = [], 0
    for place in range(_places(step) - 1, 0, -1):
        grown = (ball(step) * (place - ball(Fraction(halves, 2)))).expm1()
        if not grown < 1:
            continue
        end = floor(-grown.log() / ball(step))
        if end > last:
            groups.append((place, last + 1, end - last))
            last = end
    return (*groups, (0, last + 1, 1 << 60))


@lru_cache(maxsize=1 << 16)
def _between(step: Fraction, place: int) -> tuple[float, float]:
    """e^(place h) - 1, and the distance to the next node."""
    power = (ball(step) * place).exp()
    return float((power - 1).mid()), float((power * ball(step).expm1()).mid())


def _places(step: Fraction) -> int:
    """A number of nodes above the larger term by which every sum is passed."""
    return floor(arb(2).log() / ball(step)) + 3


def _doubled(step: Fraction) -> tuple[int, float, float]:
    """The node below the sum of two equal terms, and its two shares, rounded up."""
    place = floor(arb(2).log() / ball(step))
    low, high = ((ball(step) * (place + i)).exp() for i in (0, 1))
    share = (2 - low) / (high - low)
    return place, above(1 - share), above(share)


def _powers(step: Fraction, first: int, count: int) -> Floats:
    """e^(i step) for i = first, ..., each with a relative error of at most 6 units."""
    number, power = split((ball(abs(step)) * first * (1 if step > 0 else -1)).exp())
    table = exponentials(ball(step), count)
    result: Floats = np.ldexp(table.mantissa * number, (table.exponent + power).astype(np.int32))
    return result


def _kept(masses: Floats, means: Floats, share: float) -> tuple[int, int]:
    """The first node, and the end, of the nodes without small masses and without small means."""
    start = int(np.searchsorted(np.cumsum(masses), share, side="right"))
    stop = len(means) - int(np.searchsorted(np.cumsum(means[::-1]), share, side="right"))
    return (start, stop) if start < stop else (0, len(masses))


def _is_exact(mass: arb) -> bool:
    return bool(mass > 0) and mass.rel_accuracy_bits() >= _EXACT_BITS
