"""Exact model of Algorithm 1: hash functions enumerated, noise on the integers, all in fractions.

The paper's noise is Lap(Delta/epsilon). Its integer version, the two-sided geometric law with
ratio a = e^(-epsilon/Delta), has the same worst-case ratios, and rational a makes them exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from exactdp.law import Law
from exactdp_proofs.rationals import Fraction

Vector = tuple[Fraction, ...]
Hashes = tuple[tuple[int, ...], tuple[int, ...]]


def hashes(d: int, b: int) -> list[Hashes]:
    """Every pair of a function h: [d] -> [b] and a function s: [d] -> {-1, 1}."""
    return list(product(product(range(b), repeat=d), product((-1, 1), repeat=d)))


def clip(value: Fraction, eta: Fraction | None) -> Fraction:
    """The value moved into [-eta, eta]; unchanged without eta."""
    return value if eta is None else max(-eta, min(eta, value))


def bins(v: Sequence[Fraction], pair: Hashes, b: int, eta: Fraction | None = None) -> Vector:
    """Line 6 and 7 of Algorithm 1: the signed sums of the b bins, clipped."""
    h, s = pair
    sums = [Fraction(0)] * b
    for value, j, sign in zip(v, h, s, strict=True):
        sums[j] += sign * value
    return tuple(clip(x, eta) for x in sums)


def distance(v: Sequence[Fraction], w: Sequence[Fraction]) -> Fraction:
    """The L1 distance."""
    return sum((abs(x - y) for x, y in zip(v, w, strict=True)), Fraction(0))


def sensitivity(v: Vector, w: Vector, b: int, eta: Fraction | None = None) -> Fraction:
    """The largest L1 distance between the bins of v and of w, over all hash functions."""
    return max(distance(bins(v, f, b, eta), bins(w, f, b, eta)) for f in hashes(len(v), b))


def sparse(d: int, k: int, grid: Sequence[Fraction | int]) -> list[Vector]:
    """Every vector of length d over a grid with at most k non-zero coordinates."""
    every = product([Fraction(x) for x in grid], repeat=d)
    return [v for v in every if sum(x != 0 for x in v) <= k]


def events(v: Sequence[Fraction], w: Sequence[Fraction]) -> int:
    """In how many coordinates two vectors differ."""
    return sum(x != y for x, y in zip(v, w, strict=True))


def noisy(centre: int, a: Fraction, reach: int) -> Law[int]:
    """centre + two-sided geometric noise of ratio a, clamped to [-reach, reach]."""
    scale = (1 - a) / (1 + a)
    inner = {x: scale * a ** abs(x - centre) for x in range(-reach + 1, reach)}
    inner[reach] = a ** (reach - centre) / (1 + a)
    inner[-reach] = a ** (reach + centre) / (1 + a)
    return Law(inner)


def report(
    v: Vector, b: int, a: Fraction, reach: int, eta: Fraction | None = None
) -> Law[tuple[Hashes, tuple[int, ...]]]:
    """The law of a client's message: the hash functions and the noisy bins; v of integers."""
    functions = hashes(len(v), b)
    each = Fraction(1, len(functions))
    weights: dict[tuple[Hashes, tuple[int, ...]], Fraction] = {}
    for pair in functions:
        laws = [list(noisy(int(x), a, reach).items()) for x in bins(v, pair, b, eta)]
        for outcome in product(*laws):
            values = tuple(x for x, _ in outcome)
            weights[pair, values] = each * prod((p for _, p in outcome), start=Fraction(1))
    return Law(weights)


def pairs(vectors: Sequence[Vector]) -> Iterator[tuple[Vector, Vector]]:
    """Every ordered pair of different vectors."""
    return ((v, w) for v, w in product(vectors, repeat=2) if v != w)
