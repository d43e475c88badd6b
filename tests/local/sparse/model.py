"""A second implementation of Algorithm 1, without arrays: laws as products of fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import floor, prod

from exactdp.law import Law
from exactdp.local import SparseVectorMean

F = Fraction
Vector = Mapping[int, Fraction]
Outcome = tuple[int, ...]


def rounded(vector: Vector, grid: int) -> Iterator[tuple[dict[int, int], Fraction]]:
    """Every way to round the entries, with its probability."""
    items = list(vector)
    for ups in product((0, 1), repeat=len(items)):
        weight, integers = F(1), {}
        for x, up in zip(items, ups, strict=True):
            below = floor(vector[x] * grid)
            part = vector[x] * grid - below
            weight *= part if up else 1 - part
            integers[x] = below + up
        if weight:
            yield integers, weight


def hashed(rows: Sequence[int], x: int, bins: int = 0) -> tuple[int, int]:
    """Bin and sign: inner products over GF(2), the sign by the first row.

    bins: their number if it is no power of two; each then gets an equal share of the hash values.
    """
    bits = [(row & x).bit_count() % 2 for row in rows]
    place, values = sum(bit << j for j, bit in enumerate(bits[1:])), 1 << len(bits[1:])
    return floor(F(place * bins, values)) if bins else place, -1 if bits[0] else 1


def geometric(centre: int, q: Fraction, limit: int) -> dict[int, Fraction]:
    """centre + two-sided geometric noise, moved into [-limit, limit]: tails summed as series."""
    law = {y: (1 - q) / (1 + q) * q ** abs(y - centre) for y in range(1 - limit, limit)}
    law[limit] = q ** (limit - centre) / (1 + q)
    law[-limit] = q ** (limit + centre) / (1 + q)
    return law


def clipped(value: int, most: int | None) -> int:
    return value if most is None else max(-most, min(most, value))


def answers(
    m: SparseVectorMean, places: Mapping[int, tuple[int, int]], vector: Vector
) -> dict[Outcome, Fraction]:
    """The law of the bins of a report, by the bin and the sign of every item."""
    plan, masses = m.plan, dict[Outcome, Fraction]()
    for integers, weight in rounded(vector, plan.grid):
        bins = [0] * plan.bins
        for x, value in integers.items():
            place, sign = places[x]
            bins[place] += sign * value
        laws = [geometric(clipped(c, plan.clip), plan.q, plan.limit) for c in bins]
        for pairs in product(*(law.items() for law in laws)):
            outcome = tuple(y + plan.limit for y, _ in pairs)
            chance = weight * prod((p for _, p in pairs), start=F(1))
            masses[outcome] = masses.get(outcome, F(0)) + chance
    return masses


def report_law(m: SparseVectorMean, vector: Vector) -> Law[Outcome]:
    """The law of a report with linear functions, by enumerating all functions."""
    size, number = m.family.sizes[0], len(m.family.sizes)
    mixed = {x: int(y) for x, y in enumerate(m.family.mixed(_range(m.d)))}  # type: ignore[union-attr]
    weights: dict[Outcome, Fraction] = {}
    for rows in product(range(size), repeat=number):
        places = {x: hashed(rows, mixed[x], m.plan.bins) for x in vector}
        for outcome, p in answers(m, places, vector).items():
            weights[(*rows, *outcome)] = p / size**number
    return Law(weights)


def _range(d: int):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.arange(d)


def vectors(d: int, k: int, values: Sequence[Fraction]) -> list[dict[int, Fraction]]:
    """Every vector over some values with at most k entries that are not 0."""
    every = product([F(0), *values], repeat=d)
    candidates = [{x: v for x, v in enumerate(entries) if v} for entries in every]
    return [v for v in candidates if len(v) <= k]


def distance(v: Vector, w: Vector) -> Fraction:
    return sum((abs(v.get(x, F(0)) - w.get(x, F(0))) for x in {*v, *w}), F(0))
