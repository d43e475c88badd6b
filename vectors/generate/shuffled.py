"""Vectors for shuffled reports: all pairs of data sets of a few users, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for, settled

#: How many users reported each value -> probability.
Law = dict[tuple[int, ...], mpf]


def _delta(k: str, n: str, budget: str, epsilon: str) -> Bounds:
    values, users = int(k), int(n)

    def largest(law_of: type[_User] | type[_Tuples]) -> mpf:
        x = mp.exp(number(epsilon))
        return max(
            sum((max(p[key] - x * q.get(key, mpf(0)), mpf(0)) for key in p), mpf(0))
            for first, second in _neighbours(values, users)
            for p, q in [
                tuple(law_of.law(data, values, number(budget)) for data in (first, second))
            ]
        )

    delta = settled(lambda: largest(_User))
    with mp.workdps(60):
        other = largest(_Tuples)
    return bracket(delta, (other, "1e-30"), most=1)


def _neighbours(values: int, users: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of data sets that differ in one user, up to the order of the users."""
    for others in combinations_with_replacement(range(values), users - 1):
        for one, other in product(range(values), repeat=2):
            if one != other:
                yield (*others, one), (*others, other)


def _chances(value: int, values: int, budget: mpf) -> list[mpf]:
    total = mp.exp(budget) + values - 1
    return [(mp.exp(budget) if x == value else 1) / total for x in range(values)]


class _User:
    """The law of the counts, by adding one user after the other."""

    @staticmethod
    def law(data: tuple[int, ...], values: int, budget: mpf) -> Law:
        masses: Law = {(0,) * values: mpf(1)}
        for value in data:
            after: Counter[tuple[int, ...]] = Counter()
            for counts, weight in masses.items():
                for report, chance in enumerate(_chances(value, values, budget)):
                    key = tuple(c + (i == report) for i, c in enumerate(counts))
                    after[key] += weight * chance
            masses = dict(after)
        return masses


class _Tuples:
    """The law of the counts, by enumerating the lists of all users' reports."""

    @staticmethod
    def law(data: tuple[int, ...], values: int, budget: mpf) -> Law:
        masses: Counter[tuple[int, ...]] = Counter()
        chances = [_chances(value, values, budget) for value in data]
        for reports in product(range(values), repeat=len(data)):
            weight = mp.fprod(c[report] for c, report in zip(chances, reports, strict=True))
            masses[tuple(reports.count(x) for x in range(values))] += weight
        return dict(masses)


TABLE = [
    # k, n, budget, epsilon, comment, flags
    ("2", "1", "1", "0.5", "one user: no shuffling", "Boundary"),
    ("2", "3", "1", "0.5", "three users", "Shuffled"),
    ("2", "6", "1", "0.25", "six users", "Shuffled"),
    ("2", "6", "2", "0", "epsilon 0", "Shuffled EpsilonZero"),
    ("3", "4", "1", "0.25", "three values", "Shuffled"),
    ("3", "4", "2", "0.5", "three values, a large budget", "Shuffled LargeBudget"),
    ("4", "3", "0.5", "0.125", "four values", "Shuffled"),
]


GROUP = Group(
    name="shuffled",
    description="The reports of n users in random order. Each user tells the true one of k values "
    "with probability e^budget/(e^budget + k - 1), and each of the others with probability "
    "1/(e^budget + k - 1). Neighbours: one user's value is replaced.",
    questions={"delta": "the least delta for this epsilon, over all data sets of n users"},
    source="Balle, Bell, Gascon, Nissim 2019 (arXiv 1903.02837)",
    methods=(
        "mpmath: the laws of the counts, user by user, for all pairs of data sets, at two "
        "precisions",
        "the same over all lists of reports",
    ),
    recipes=lambda: recipes_for("delta", ("k", "n", "budget", "epsilon"), _delta, TABLE),
)
