"""What every law of a privacy loss can be asked, and the sampling of its curve.

A law belongs to one order of a pair (P, Q) of neighbours: it is the law of log dP/dQ under P. A
new law subclasses `normal.NormalLaw`, `listed.ListedLaw` or `LossLaw` itself, and overrides the
relations that are proved for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

from flint import arb

from exactdp.accounting.pld.grid.lattice import Lattice, Outcome
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.grid.moved import Cell
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

_ZERO = arb(0)

#: delta(epsilon) of a single step, as a ball at the working precision.
Curve: TypeAlias = Callable[[Fraction], arb]


@dataclass(frozen=True)
class Listed:
    """All outcomes of a finite loss, and the mass of loss infinity, at the working precision."""

    outcomes: list[Outcome]
    infinite: arb


@dataclass(frozen=True)
class Ends:
    """The largest finite loss, None where losses are unbounded, and the mass of infinite losses."""

    largest: Enclosure | None
    mass: Enclosure


class Family(Hashable, Protocol):
    """Pairs of neighbours among which each run may choose by the answers so far, in a few sets.

    Where the law of a single run is the worst of these pairs at each epsilon, several runs leak
    less than its composition: each run has one pair for all epsilons.
    """

    def deltas(self, losses: Sequence[Fraction]) -> list[list[arb]]:
        """For every set, upper bounds of delta of its pairs at these losses >= 0, the first 0."""

    @property
    def losses(self) -> Sequence[float]:
        """About the distances of all losses from 0, where the pairs have few; else nothing."""

    def reversed(self, number: int) -> int:
        """The number of the set with the pairs of this set in the other order."""

    def spread(self) -> float:
        """About the standard deviation of the loss of one run."""

    def reach(self, bits: int) -> float:
        """About the loss at which delta is 2^-bits, or the largest loss."""


class LossLaw(ABC):
    """The law of the privacy loss of one step, in one order of the neighbours; hashable."""

    @property
    def family(self) -> Family | None:
        """All pairs, if they are known and the law is the worst of them at each epsilon."""
        return None

    #: Whether it is the loss of one step, to which a sample of users can be drawn.
    one_step: ClassVar[bool] = True

    @property
    def bounded_density(self) -> bool:
        """Whether the law has a density that ends at a least and a largest loss."""
        return False

    @property
    def accuracy(self) -> Fraction:
        """The relative width that `excess` reaches."""
        return Fraction(1, 10**12)

    @property
    def has_quick_moments(self) -> bool:
        """Whether `log_moment` takes a few milliseconds at most."""
        return False

    @property
    def distance(self) -> Fraction | None:
        """mu, if the pair is N(mu, 1) and N(0, 1); else None."""
        return None

    @property
    def unit(self) -> Fraction | None:
        """A number that divides all distances of outcomes' losses; None where unknown."""
        return None

    # what a composition needs

    @abstractmethod
    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        """Two measures on a grid, one with a curve below the curve of the law and one above.

        step: distance of the nodes. tail_bits: a mass of 2^-tail_bits may be cut off. rate: a lower
        bound of the exponent by which the measures will be tilted. Raises TooCoarse, Undecided.
        """

    @abstractmethod
    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        """About the losses, each with the logarithm of its mass, down to a mass of 2^-bits."""

    @abstractmethod
    def width(self) -> float:
        """About the width of the law."""

    # answers for one step, or for some

    @abstractmethod
    def ends(self) -> Ends:
        """The largest finite loss, or the limit of the losses, and the mass at infinity."""

    @abstractmethod
    def excess(self, epsilon: Fraction) -> arb:
        """delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon), at the working precision."""

    @abstractmethod
    def log_moment(self, s: Fraction) -> arb:
        """log E e^(s L), s > 0, at the working precision.

        Raises InvalidParameter where the moment is infinite, Undecided where it takes too long.
        """

    def in_either_order(self) -> LossLaw:
        """The law with the larger one of the curves of both orders at every epsilon.

        For mechanisms that each have their own order of the neighbours.
        """
        raise self._unknown(
            "one that is alike in both orders, or pld.laws: neighbours without a "
            "named side may compose in both orders"
        )

    def curve(self, times: int) -> Curve | None:
        """delta of this number of runs, where no grid is needed, else None."""
        return self.excess if times == 1 else None

    def affinity(self) -> arb:
        """An upper bound of the sum of sqrt(P(x) Q(x)) over all outputs x."""
        return arb(1)

    def mass_at_infinity(self) -> arb:
        """A lower bound of the mass of infinite losses."""
        return _ZERO

    def finite_log_moment(self, s: Fraction) -> arb:
        """log E e^(s L) over finite losses only."""
        return self.log_moment(s)

    def few_outcomes(self, most: int) -> Listed | None:
        """All outcomes, where they are at most this many, else None."""
        return None

    def cells(self, lattice: Lattice, tail_bits: int, rate: Fraction) -> Iterator[Cell]:
        """The outputs by their loss, for random allocation; arguments as for `bounds`.

        The tail that is cut off is not in these cells, or is in cells without an end.
        """
        raise self._unknown("one whose law is known exactly, for random allocation")

    # laws for other neighbours and samples; `exactdp statement explain certified-pld`, section 4

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        """The law on a Poisson sample.

        With A the law with the user and B the law without, the pair is ((1 - rate) B + rate A, B),
        or in the other order where `removed` is False. This is called for the law of (A, B).
        """
        raise self._unknown("one that can be sampled")

    def replaced(self) -> LossLaw:
        """The law for replace-one neighbours, both within the sensitivity."""
        raise self._unknown("one whose loss for replace-one neighbours is known")

    def replaced_by_null(self) -> LossLaw:
        """The law where a record that adds 0 takes the user's place."""
        return self

    def batched(self, rate: Fraction) -> LossLaw:
        """The worst law for replace-one neighbours on a batch drawn without replacement."""
        raise self._unknown("one whose loss on batches is known")

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        """The laws for a group of users, in both orders (with the group first)."""
        raise self._unknown("one whose loss for groups is known")

    def _unknown(self, wanted: str) -> InvalidParameter:
        return InvalidParameter("mechanism", type(self).__name__, wanted)


#: The laws of the losses of all steps, each with the number of runs.
Order: TypeAlias = tuple[tuple[LossLaw, int], ...]


@dataclass(frozen=True)
class Step:
    """One step: the laws of its loss in both orders of the neighbours.

    removed: the data with the user against the data without (or one of two replaced users against
    the other). added: the opposite order. real: empty if one pair of data sets has these laws; else
    lower bounds, where each entry lists the steps of one pair of data sets, or limits of these.
    attained: whether at each epsilon some pair of data sets attains delta of a single run.
    """

    removed: LossLaw
    added: LossLaw
    real: tuple[tuple[Step, ...], ...] = ()
    attained: bool = True

    @classmethod
    def alike(cls, law: LossLaw) -> Step:
        """A step whose loss has the same law in both orders."""
        return cls(law, law)

    @property
    def is_alike(self) -> bool:
        """Whether the order of the neighbours makes no difference."""
        return self.removed == self.added

    def turned(self) -> Step:
        """The step with the neighbours in the opposite order."""
        return replace(self, removed=self.added, added=self.removed)

    def in_either_order(self) -> Step:
        """A step that dominates this one in both orders."""
        return self if self.is_alike else Step.alike(self.removed.in_either_order())

    def sampled(self, rate: Fraction) -> Step:
        """The step on a Poisson sample; at rate 1 all users take part."""
        if rate == 1:
            return self
        removed, added = (self.removed.sampled(rate, removed=r) for r in (True, False))
        real = self._real(lambda step: step.sampled(rate))
        return Step(removed, added, real, self.attained)

    def replaced(self) -> Step:
        """The step for replace-one neighbours, both within the sensitivity."""
        law = self.removed.replaced()
        return Step(law, law, self._real(Step.replaced), self.attained)

    def replaced_by_null(self) -> Step:
        """The step for neighbours with a record that adds 0 in the user's place."""
        removed, added = (law.replaced_by_null() for law in (self.removed, self.added))
        return Step(removed, added, self.real, self.attained)

    def batched(self, rate: Fraction) -> Step:
        """A step for replace-one neighbours on a batch drawn without replacement."""
        law = self.removed.batched(rate)
        real = self._real(lambda step: step.sampled(rate)) or ((self.sampled(rate),),)
        return Step(law, law, real, self.attained)

    def grouped(self, size: int) -> Step:
        """The step for a group of users."""
        removed, added = self.removed.grouped(size)
        return Step(removed, added, self._real(lambda step: step.grouped(size)), self.attained)

    def _real(self, change: Callable[[Step], Step]) -> tuple[tuple[Step, ...], ...]:
        """The real pairs after a change.

        Sequences of several steps are left out: on one sample they are not several samples.
        """
        return tuple((change(*choice),) for choice in self.real if len(choice) == 1)


def sampled_excess(
    curve: Callable[[arb], arb], rate: Fraction, epsilon: arb, *, removed: bool
) -> arb:
    """delta at epsilon >= 0 on a Poisson sample, from the curve of a pair that is alike in both
    orders.

    With x = e^epsilon and rate q, D((1 - q) B + q A, B)(x) = q D(A, B)((x - 1 + q)/q) and
    D(B, (1 - q) B + q A)(x) = c D(B, A)(q x/c), c = 1 - (1 - q) x.
    """
    share, grown = ball(rate), epsilon.expm1()
    if removed:
        return share * curve((grown / share).log1p())
    # c = q - (1 - q) (x - 1), and q x/c = 1 + (x - 1)/c
    left = share - (1 - share) * grown
    if left <= 0:
        return arb(0)
    return left * curve((grown / left).log1p()) if left > 0 else arb("nan")
