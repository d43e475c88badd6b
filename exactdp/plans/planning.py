"""Noise and thresholds for several queries, certified together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt
from typing import Any

from flint import arb

from exactdp.accounting import gaussian, pld
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.mechanisms.key_sets.privacy import Noise, together
from exactdp.normal import tail
from exactdp.parameters import Real, delta_target, positive
from exactdp.plans.queries import Query
from exactdp.statement import Statement, of

__all__ = ["Plan", "PlannedQuery", "plan"]

_BITS = 192

#: Noise and thresholds are multiples of 1/this, which doubles hold exactly.
_GRID = 1 << 10

_SOURCE = "exactdp.plans: Gaussian noise by its exact curve, new keys by the threshold"


@dataclass(frozen=True)
class PlannedQuery:
    """A query with the standard deviation of the noise on each of its counts, and of each sum in
    units of its limit. above: noisy counts above are released, None for public keys."""

    query: Query
    sigma: Fraction
    above: Fraction | None


@dataclass(frozen=True)
class Plan:
    """Queries with noise that keeps (epsilon, delta) for all of them together.

    user: column of users. discrete: whether the noise is discrete Gaussian, or continuous.
    """

    user: str
    queries: tuple[PlannedQuery, ...]
    epsilon: Fraction
    target: Fraction
    discrete: bool

    def __post_init__(self) -> None:
        if self.delta.upper > self.target:
            raise InvalidParameter("delta", self.target, f">= {self.delta.decimal_upper(6)}")

    @cached_property
    def delta(self) -> Enclosure:
        """Between 0 and an upper bound of the delta of all queries together."""
        with precision(_BITS):
            noises = [Noise(each.sigma**2, each.query.moved) for each in self.queries]
            mu2 = sum(
                (n.mu2() if self.discrete else n.square / n.sigma2 for n in noises), Fraction(0)
            )
            near = sum((n.nearness() for n in noises), arb(0)) if self.discrete else arb(0)
            rate = sum((self._rate(each) for each in self.queries), arb(0))
            return together(
                mu2, near, rate, self.epsilon, alone=_hidden([each.query for each in self.queries])
            )

    @property
    def guarantee(self) -> Guarantee:
        """The promise for all queries together, if the engine draws this noise."""
        keys = ", ".join(f"{each.query.k} keys of {each.query.name}" for each in self.queries)
        neighbours = add_remove(f"with at most {keys}")
        return Guarantee(self.epsilon, self.delta, neighbours, _SOURCE)

    def statement(self, engine: str) -> Statement:
        """The privacy statement: of the noise, which checkers recompute, if it is continuous."""
        facts = _about([each.query for each in self.queries], engine)
        if self.discrete:
            return of(self.guarantee, **facts)
        return of(self.loss(), epsilon=self.epsilon, **facts)

    def loss(self) -> pld.Pld:
        """The privacy loss of continuous noise, for compositions and statements."""
        first, *others = self.queries
        if _equal([each.query for each in self.queries]):  # one histogram with the keys of all
            keys = sum(each.query.most for each in self.queries)
            return pld.gshm(k=keys, sigma=first.sigma, tau=_tau(first))
        total = _loss(first)
        for each in others:
            total = total.then(_loss(each))
        return total

    def _rate(self, each: PlannedQuery) -> arb:
        """-ln P(none of a user's new keys is released)."""
        if each.above is None:
            return arb(0)
        shown = _shown(_tau(each), each.sigma, self.discrete)
        return -each.query.most * (-shown).log1p()


def plan(
    user: str, queries: Sequence[Query], *, epsilon: Real, delta: Real, discrete: bool
) -> Plan:
    """The plan in which every count and every sum gets an equal part of the noise budget.

    user: column of users. epsilon: > 0. delta: > 0 and < 1. discrete: of the engine's noise, which
    must be discrete Gaussian or continuous. Raises InvalidParameter, Undecided.

    >>> from exactdp.plans import Query, plan
    >>> queries = [Query("visits", ("url",), 10), Query("days", ("day",), 7)]
    >>> made = plan("uid", queries, epsilon=1, delta="1e-6", discrete=False)
    >>> [round(float(each.sigma), 2) for each in made.queries]
    [19.52, 16.33]
    """
    loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
    if not queries:
        raise InvalidParameter("queries", 0, "at least one query")
    unknown = sum(query.keys is None for query in queries)
    whole = not unknown or (_hidden(queries) if discrete else _equal(queries))
    share = target if whole else target / 2
    noises = sum(1 + len(query.sums) for query in queries)
    variance = Fraction(gaussian.calibrate(epsilon=loss, delta=share).sigma) ** 2
    for more in range(20):
        made = []
        for query in queries:
            spare = Noise(Fraction(1), query.moved).spare if discrete else 0
            square = variance * query.most * noises * (1 + Fraction(more, 500)) + spare
            sigma = _up_root(square)
            part = share / max(unknown, 1)
            limit = _limit(sigma, query.most, part, discrete) if query.keys is None else None
            made.append(PlannedQuery(query, sigma, limit))
        with suppress(InvalidParameter):
            found = Plan(user, tuple(made), loss, target, discrete)
            if discrete or found.loss().delta(loss).upper <= target:
                return found
    raise Undecided("the noise for this target: try a larger epsilon or delta")


def _hidden(queries: Sequence[Query]) -> bool:
    """Whether all noise is on counts that thresholds hide, in equal parts of both."""
    return all(query.keys is None and not query.sums for query in queries)


def _equal(queries: Sequence[Query]) -> bool:
    """Whether the queries together are one histogram, with equal noise and thresholds."""
    return _hidden(queries) and len({query.most for query in queries}) == 1


def _tau(each: PlannedQuery) -> Fraction:
    return (each.above or Fraction(1)) - 1


def _loss(each: PlannedQuery) -> pld.Pld:
    """The privacy loss of one query: its counts, then its sums."""
    query, noise = each.query, pld.gaussian(sigma=each.sigma)
    if each.above is None:
        return noise.composed(query.moved)
    counts = pld.gshm(k=query.most, sigma=each.sigma, tau=_tau(each))
    return counts.then(noise.composed(query.most * len(query.sums))) if query.sums else counts


def _shown(distance: Fraction, sigma: Fraction, discrete: bool) -> arb:
    """P(noise > distance)."""
    if discrete:
        return above(int(distance), sigma**2)
    return tail(ball(distance / sigma))


def _limit(sigma: Fraction, keys: int, share: Fraction, discrete: bool) -> Fraction:
    """About the least limit above which none of these new keys is released, but for the share."""
    step = Fraction(1) if discrete else Fraction(1, _GRID)

    def enough(steps: int) -> bool:
        with precision(_BITS):
            shown = _shown(steps * step, sigma, discrete)
            return bool(-(keys * (-shown).log1p()).expm1() <= ball(share))

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 1 + high * step


def _up_root(square: Fraction) -> Fraction:
    """A short number just above a square root."""
    return Fraction(isqrt(ceil(square * _GRID**2)) + 1, _GRID)


@dataclass(frozen=True)
class Split:
    """Queries with Laplace noise: each keeps the same part of epsilon and delta by itself.

    part_epsilon, part_delta: of each query; part_delta is 0 if all keys are public.
    """

    user: str
    queries: tuple[Query, ...]
    epsilon: Fraction
    target: Fraction
    part_epsilon: Fraction
    part_delta: Fraction

    @classmethod
    def of(cls, user: str, queries: Sequence[Query], *, epsilon: Real, delta: Real) -> Split:
        """About the largest equal epsilon that keeps a target, by optimal composition."""
        loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
        size, unknown = len(queries), any(query.keys is None for query in queries)
        plain = cls(user, tuple(queries), loss, target, loss / size, unknown * target / size)
        part = unknown * target / size / 2
        low, high = Fraction(0), loss
        for _ in range(20):
            middle = (low + high) / 2
            kept = pld.approximate(epsilon=middle, delta=part).composed(size).delta(loss)
            low, high = (middle, high) if kept.upper <= target else (low, middle)
        low = Fraction(int(low * _GRID**2), _GRID**2)
        return plain if low <= loss / size else cls(user, tuple(queries), loss, target, low, part)

    def scale(self, query: Query) -> Fraction:
        """The scale of the Laplace noise of a count; that of a sum is its limit times this."""
        return query.moved / self.part_epsilon

    @property
    def delta(self) -> Enclosure:
        """The delta of all queries together."""
        if self.part_epsilon * len(self.queries) <= self.epsilon:
            return Enclosure.exact(self.part_delta * len(self.queries))
        return self.loss().delta(self.epsilon)

    def loss(self) -> pld.Pld:
        """The privacy loss of all queries, from the epsilon and delta of each."""
        one = pld.approximate(epsilon=self.part_epsilon, delta=self.part_delta)
        return one.composed(len(self.queries))

    def statement(self, engine: str) -> Statement:
        """The privacy statement, from the promise of every query."""
        return of(self.loss(), epsilon=self.epsilon, **_about(self.queries, engine))


def _about(queries: Sequence[Query], engine: str) -> dict[str, Any]:
    """What the statement of a plan says beside its claims."""
    bounds = [
        {"what": f"keys of one user in {query.name}", "at_most": query.k, "checked": False}
        for query in queries
    ]
    names = ", ".join(query.name for query in queries)
    return {"bounds": bounds, "about": {"engine": engine, "queries": names}}
