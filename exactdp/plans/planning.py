"""Noise and thresholds for several queries, certified together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, log, sqrt
from typing import Any

from exactdp.accounting import gaussian, pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, positive, truth
from exactdp.plans.kinds import likely
from exactdp.plans.noise import (
    PlannedQuery,
    delta_of,
    is_hidden,
    is_one_histogram,
    is_pure,
    loss_of,
    rounded_up,
    with_threshold,
)
from exactdp.plans.queries import Query
from exactdp.statement import Statement
from exactdp.statement import of as statement_about

_SOURCE = "exactdp.plans: noise by its exact curve, new keys by the threshold"

#: A factor above 1 that makes up for rounded floats.
_ROUNDED = 1 + 1e-9

#: The part of delta for noise whose statement is checked on a grid, which adds at most 1 %.
_CHECKED = Fraction(99, 100)

#: The search for the least noise ends within this relative distance, in noise or in delta.
_NEAR = 0.003

#: If the least noise is estimated as more than this part of the Laplace noise whose losses add up
#: to epsilon, the latter is taken: to certify slightly less noise takes minutes.
_ALMOST = 0.9

#: The search replaces smaller ratios delta/target by this one, so that they have a logarithm.
_SMALL = 1e-30

#: Relative steps by which noise is raised until the target is certified.
_STEPS = (0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True)
class Plan:
    """Queries with noise that keeps (epsilon, delta) for all of them together.

    user: column of users. discrete: whether the noise is on integers, or continuous.
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
        """The delta of all queries together, enclosed by 0 and an upper bound."""
        return delta_of(self.queries, self.epsilon, discrete=self.discrete)

    @property
    def guarantee(self) -> Guarantee:
        """The promise for all queries together, if the engine draws this noise."""
        keys = ", ".join(f"{each.query.k} keys of {each.query.name}" for each in self.queries)
        neighbours = add_remove(f"with at most {keys}")
        return Guarantee(self.epsilon, self.delta, neighbours, _SOURCE)

    def statement(self, engine: str) -> Statement:
        """The privacy statement: for continuous noise, checkers recompute it from the noise; for
        discrete noise, it states the guarantee."""
        about = facts([each.query for each in self.queries], engine)
        if self.discrete:
            return statement_about(self.guarantee, **about)
        return statement_about(self.loss(), epsilon=self.epsilon, **about)

    def loss(self) -> pld.Pld:
        """The privacy loss of continuous noise, for compositions and statements."""
        return loss_of(self.queries)


def plan(
    user: str,
    queries: Sequence[Query],
    *,
    epsilon: Real,
    delta: Real,
    discrete: bool,
    laplace: Sequence[bool] = (),
    most: Sequence[float] = (),
) -> Plan:
    """The plan in which every count and sum gets about the same part of the budget for noise.

    user: column of users. epsilon: > 0. delta: > 0 and < 1. discrete: whether the engine's noise is
    on integers, or continuous. laplace: for each query whether its noise is Laplace; by default all
    is Gaussian. most: for each query the largest standard deviation of a count; a small limit
    leaves less of the budget for the other queries. Raises InvalidParameter, Undecided.

    >>> from exactdp.plans import Query, plan
    >>> queries = [Query("visits", ("url",), 10), Query("days", ("day",), 7)]
    >>> best = plan("uid", queries, epsilon=1, delta="1e-6", discrete=False)
    >>> [round(float(each.scale), 2) for each in best.queries]
    [19.53, 16.34]
    """
    loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
    truth("discrete", discrete)
    if not queries:
        raise InvalidParameter("queries", 0, "at least one query")
    shape = _Shape(queries, tuple(laplace) or (False,) * len(queries), tuple(most))
    noises = shape.noises(1)
    unknown = sum(query.keys is None for query in queries)
    whole = not unknown or (is_hidden if discrete else is_one_histogram)(noises)
    by_grid = not discrete and (any(shape.laplace) or not whole)
    aim = target * (_CHECKED if by_grid else 1)
    share = aim if whole else aim / 2  # the thresholds need the other half

    def excess(size: float) -> float:
        upper = delta_of(shape.noises(size), loss, discrete=discrete).upper
        return log(max(float(upper / share), _SMALL))

    start, largest = shape.start(loss, share), shape.largest
    if start > _ALMOST * largest and is_pure(shape.noises(largest), loss):
        least, share = largest, aim  # this noise keeps epsilon alone: thresholds may use all delta
    else:
        least = _least(excess, start, largest)
    part = share / max(unknown, 1)
    for step in _STEPS:
        noises = shape.noises(least * (1 + step))
        planned_queries = tuple(with_threshold(each, part, discrete) for each in noises)
        with suppress(InvalidParameter, Undecided):
            return Plan(user, planned_queries, loss, target, discrete)
    raise _undecided()


def likely_kinds(
    queries: Sequence[Query], most: Sequence[float], epsilon: Real, delta: Real
) -> tuple[bool, ...]:
    """For each query whether Laplace noise leaks less than Gaussian noise; arguments as of plan."""
    shape = _Shape(queries, (), tuple(most))
    loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
    return likely(queries, shape.deviations, float(loss), float(target / 2))[1]


def expected_noise(
    queries: Sequence[Query],
    laplace: tuple[bool, ...],
    most: Sequence[float],
    epsilon: Real,
    delta: Real,
) -> float:
    """An estimate of the sum, over queries, of ln(standard deviation); infinity if there is likely
    no plan."""
    shape = _Shape(queries, laplace, tuple(most))
    size = shape.start(positive("epsilon", epsilon), delta_target("delta", delta) / 2)
    return sum(map(log, shape.deviations(size))) if size < inf else inf


@dataclass(frozen=True)
class _Shape:
    """The noise of every query, as a function of one number, the size. laplace, most: as of
    :func:`plan`."""

    queries: Sequence[Query]
    laplace: tuple[bool, ...]
    most: tuple[float, ...]

    def deviations(self, size: float) -> list[float]:
        """The standard deviations of a count of each query."""
        equal = [size * sqrt(query.most) for query in self.queries]
        return list(map(min, equal, self.most)) if self.most else equal

    def noises(self, size: float) -> list[PlannedQuery]:
        """The queries with noise of this size, still without thresholds."""
        triples = zip(self.queries, self.laplace, self.deviations(size), strict=True)
        return [
            PlannedQuery(query, rounded_up(each / sqrt(1 + kind)), None, kind)
            for query, kind, each in triples
        ]

    @property
    def largest(self) -> float:
        """The size above which no noise grows, because every query has reached its bound in
        `most`."""
        ratios = [m / sqrt(q.most) for m, q in zip(self.most, self.queries, strict=False)]
        return max(ratios, default=inf)

    def start(self, epsilon: Fraction, share: Fraction) -> float:
        """An estimate of the least size: the exact size for Gaussian noise alone, times the ratio
        of the rough estimates for this mix of noise and for Gaussian noise alone."""
        free, normal = replace(self, most=()), (False,) * len(self.queries)
        parts = sum(query.parts for query in self.queries)
        exact = sqrt(parts) * float(gaussian.calibrate(epsilon=epsilon, delta=share).sigma)
        limits = float(epsilon), float(share)
        rough, _ = likely(self.queries, self.deviations, *limits, self.laplace)
        rough_gaussian, _ = likely(self.queries, free.deviations, *limits, normal)
        return exact * _ROUNDED * (rough / rough_gaussian if rough_gaussian < inf else 1)


def facts(queries: Sequence[Query], engine: str) -> dict[str, Any]:
    """What the statement of a plan says beside its claims."""
    bounds = [
        {"what": f"keys of one user in {query.name}", "at_most": query.k, "checked": False}
        for query in queries
    ]
    names = ", ".join(query.name for query in queries)
    return {"bounds": bounds, "about": {"engine": engine, "queries": names}}


def _least(excess: Callable[[float], float], start: float, largest: float) -> float:
    """About the least size at which the excess is at most 0; the excess falls as the size rises.
    Raises Undecided if even the largest size has an excess."""
    here, stride = min(start, largest), 1.01
    value = excess(here)
    grows = value > 0
    while True:
        there = here * stride if grows else here / stride
        other = excess(there)
        if (other > 0) != grows:
            break
        if grows and there >= largest:
            raise _undecided()
        here, value, stride = there, other, stride**2
    low, above, high, below = (here, value, there, other) if grows else (there, other, here, value)
    for _ in range(12):
        if below > -_NEAR or high < low * (1 + _NEAR):
            break
        straight = above < 2 and below > -2
        middle = low + (high - low) * ((above + _NEAR / 2) / (above - below) if straight else 0.5)
        value = excess(middle)
        low, above, high, below = (
            (middle, value, high, below) if value > 0 else (low, above, middle, value)
        )
    return high


def _undecided() -> Undecided:
    return Undecided("no noise was certified for this target: try a larger epsilon or delta")
