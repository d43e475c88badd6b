"""Poisson samples of a largest size: of a larger sample, a random part of that size is kept.

Let n be the number of users with the user, q the rate, B the limit, and T the event that at
least B of the n - 1 others are drawn. T is independent of the user, so the upper bound may tell T:

- Without T nobody is left out, and the user takes part with probability q: a Poisson sample.
- With T, the others in the batch are B users drawn uniformly, unless the user takes the place of
  one of them: with probability r = P(more than B of n are drawn) B/(n P(T)), as by symmetry each of
  the n users is in B/n of these batches. Given the B - 1 users who stay, the user moves the sum by
  up to twice the sensitivity, with probability r, as on a Poisson sample at rate r. A mean over the
  B - 1 users, with the same weights on both sides, is no worse than the worst of them.

For replace-one neighbours the user takes part with the same probabilities with either data, also if
one data is a record that adds 0. So given T the pair is a batch without replacement at rate r.

Lower bound: all others add 0. Then the step is a Poisson sample at the rate at which the user is in
the batch.
Source: Ganesh et al. 2025 (arXiv 2508.15089); exactdp statement explain certified-pld, section 4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from exactdp.accounting.pld.grid.cells import Density
from exactdp.accounting.pld.grid.lattice import Masses
from exactdp.accounting.pld.losses.base import Ends, LossLaw, Step
from exactdp.accounting.pld.losses.density import DensityLaw
from exactdp.accounting.pld.losses.normal import (
    BatchNormal,
    Gaussian,
    ReplacedNormal,
    SampledNormal,
)
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter

#: Precision of the weights: no answer of a relative width of 2^-150 or more suffers.
_BITS = 192


def truncated(step: Step, rate: Fraction, users: int, limit: int) -> Step:
    """The step on a Poisson sample of at most `limit` of the users."""
    distance = step.removed.distance
    if distance is None:
        kind = Described(type(step.removed).__name__)
        raise InvalidParameter("mechanism", kind, "Gaussian noise, for samples of a largest size")
    if users <= limit:
        return step.sampled(rate)
    removed, added = (Truncated(distance, rate, users, limit, way) for way in (True, False))
    return Step(removed, added, ((step.sampled(_draws(removed).taken),),), attained=False)


@dataclass(frozen=True)
class _Draws:
    """Probabilities. full: of T, a ball. displaces: r, rounded up. taken: that the user takes part,
    rounded down."""

    full: arb
    displaces: Fraction
    taken: Fraction


class _PublishedDraw(Density):
    """The density of a loss from one of several laws, drawn at random; the draw is published."""

    @abstractmethod
    def parts(self) -> Sequence[tuple[Density, arb]]:
        """The laws, each with its probability."""

    @property
    def steep(self) -> int:
        return self.parts()[0][0].steep

    def density(self, loss: Any) -> Any:
        return sum((part.density(loss) * weight for part, weight in self.parts()), 0 * loss)

    def below(self, loss: arb) -> Masses:
        return self._sum([part.below(loss) for part, _ in self.parts()])

    def above(self, loss: arb) -> Masses:
        return self._sum([part.above(loss) for part, _ in self.parts()])

    def centre(self) -> arb:
        return self.parts()[0][0].centre()

    def _sum(self, masses: list[Masses]) -> Masses:
        weights = [weight for _, weight in self.parts()]
        p, q = (
            sum((weight * mass for weight, mass in zip(weights, side, strict=True)), arb(0))
            for side in zip(*masses, strict=True)
        )
        return p, q


@dataclass(frozen=True)
class _Half(_PublishedDraw):
    """The losses of one sign."""

    listed: Sequence[tuple[Density, arb]]

    def parts(self) -> Sequence[tuple[Density, arb]]:
        return self.listed


@dataclass(frozen=True)
class Truncated(_PublishedDraw, DensityLaw):
    """The loss of the user who takes part against the one who does not, or in the other order.

    mu: sensitivity over the standard deviation of the noise. removed: the order; None for
    replace-one neighbours, where both orders agree. has_null: whether a record that adds 0 takes
    the user's place.
    """

    mu: Fraction
    rate: Fraction
    users: int
    limit: int
    removed: bool | None
    has_null: bool = False

    def replaced(self) -> LossLaw:
        return replace(self, removed=None)

    def replaced_by_null(self) -> LossLaw:
        return replace(self, has_null=True)

    def parts(self) -> Sequence[tuple[DensityLaw, arb]]:
        draws, one, two = _draws(self), Gaussian(self.mu), Gaussian(2 * self.mu)
        free: DensityLaw = ReplacedNormal(self.mu, self.rate)
        full: DensityLaw = BatchNormal(two, draws.displaces)
        if self.removed is not None:
            free = SampledNormal(one, self.rate, self.removed)
            full = full if self.has_null else SampledNormal(two, draws.displaces, self.removed)
        with precision(_BITS):
            if self.rate == 1:
                return [(full, arb(1))]
            weighted = [(free, 1 - draws.full), (full, draws.full)]
            return sorted(weighted, key=lambda part: -part[1].mid())

    def scale(self) -> arb:
        return self.parts()[0][0].scale()

    def halves(self) -> tuple[Density, ...]:
        halves = [(law.halves(), weight) for law, weight in self.parts()]
        return tuple(
            _Half([(half[min(i, len(half) - 1)], weight) for half, weight in halves])
            for i in range(max(len(half) for half, _ in halves))
        )

    def mass_at_zero(self) -> arb:
        return sum((weight * law.mass_at_zero() for law, weight in self.parts()), arb(0))

    def ends(self) -> Ends:
        part_ends = [law.ends().largest for law, _ in self.parts()]
        largest = [end for end in part_ends if end is not None]
        if len(largest) < len(part_ends):
            return Ends(None, Enclosure.exact(0))
        joint = Enclosure(max(end.lower for end in largest), max(end.upper for end in largest))
        return Ends(joint, Enclosure.exact(0))

    def log_moment(self, s: Fraction) -> arb:
        moments = [weight * law.log_moment(s).exp() for law, weight in self.parts()]
        return sum(moments, arb(0)).log()


@lru_cache(maxsize=32)
def _draws(law: Truncated) -> _Draws:
    n, limit = law.users, law.limit
    with precision(_BITS):
        full = _tail(n - 1, law.rate, limit)
        displacing = _tail(n, law.rate, limit + 1) * limit / n  # the user is in the batch, with T
        taken = ball(law.rate) * (1 - full) + displacing
        displaces = min(enclosure(displacing / full).upper, law.rate)
        return _Draws(full, displaces, enclosure(taken).lower)


def _tail(trials: int, chance: Fraction, least: int) -> arb:
    """P(X >= least) for a binomial X, 1 <= least <= trials: a regularised beta function."""
    return ball(chance).beta_lower(arb(least), arb(trials - least + 1), True)
