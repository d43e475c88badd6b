"""The budget split among queries, for engines that take an epsilon and a delta for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting import pld
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, delta_target, positive
from exactdp.plans.noise import joined
from exactdp.plans.planning import facts
from exactdp.plans.queries import Query
from exactdp.statement import Statement
from exactdp.statement import of as statement_about

_GRID = 1 << 20


@dataclass(frozen=True)
class Split:
    """Queries that the engine keeps (epsilon, delta)-DP each, by any noise.

    part_epsilon: of each count and each sum. part_delta: of each query, 0 if all keys are public.
    """

    user: str
    queries: tuple[Query, ...]
    epsilon: Fraction
    target: Fraction
    part_epsilon: Fraction
    part_delta: Fraction

    @classmethod
    def of(cls, user: str, queries: Sequence[Query], *, epsilon: Real, delta: Real) -> Split:
        """About the largest equal parts that keep a target, by optimal composition."""
        loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
        if not queries:
            raise InvalidParameter("queries", 0, "at least one query")
        all_queries, size = tuple(queries), len(queries)
        unknown, parts = any(q.keys is None for q in all_queries), sum(q.parts for q in all_queries)

        def split(part: Fraction, failures: Fraction) -> Split:
            return cls(user, all_queries, loss, target, part, unknown * failures / size)

        even = split(loss / parts, target)

        def is_too_large(part: Fraction) -> bool:
            return split(part, target / 2).loss().delta(loss).upper > target

        low, _ = halved(Fraction(0), loss, is_too_large, times=20)
        low = Fraction(int(low * _GRID), _GRID)
        return even if low <= loss / parts else split(low, target / 2)

    def epsilon_of(self, query: Query) -> Fraction:
        """The epsilon of a query."""
        return self.part_epsilon * query.parts

    def deviation(self, query: Query) -> float:
        """The standard deviation of the noise on a count, if it is Laplace noise."""
        return float(2**0.5 * query.most / self.part_epsilon)

    @property
    def delta(self) -> Enclosure:
        """The delta of all queries together."""
        if sum(map(self.epsilon_of, self.queries)) <= self.epsilon:
            return Enclosure.exact(self.part_delta * len(self.queries))
        return self.loss().delta(self.epsilon)

    def loss(self) -> pld.Pld:
        """The privacy loss of all queries, from the epsilon and delta of each."""
        return joined(
            pld.approximate(epsilon=self.epsilon_of(query), delta=self.part_delta)
            for query in self.queries
        )

    def statement(self, engine: str) -> Statement:
        """The privacy statement, from the promise of every query."""
        return statement_about(self.loss(), epsilon=self.epsilon, **facts(self.queries, engine))
