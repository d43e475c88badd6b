"""Minimal exact models of Algorithms 2, 3 and 10: every hash function, every noise bit, fractions.

Columns and table rows count from 0 here, from 1 in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations, product
from math import ceil, factorial, floor
from typing import Any, TypeVar

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp_proofs.comparisons import holds
from exactdp_proofs.rationals import Fraction

Bits = tuple[int, ...]
#: hashes[b][i]: the row that column b assigns to entry i.
Hashes = Sequence[Sequence[int]]
V = TypeVar("V", bound=tuple[Any, ...])


def exp_lower(x: Fraction, terms: int = 25) -> Fraction:
    """At most e^x, for x >= 0: the first terms of the series."""
    return sum((x**j / factorial(j) for j in range(terms)), Fraction(0))


def distance(x: Sequence[Fraction | int], other: Sequence[Fraction | int]) -> Fraction:
    """The l1 distance."""
    return sum((abs(Fraction(a) - b) for a, b in zip(x, other, strict=True)), Fraction(0))


def text(x: Iterable[Fraction | int]) -> str:
    """For messages: (0, 1/2)."""
    return "(" + ", ".join(map(str, x)) + ")"


def neighbours(vectors: Iterable[V]) -> Iterator[tuple[V, V, Fraction]]:
    """Ordered pairs of different vectors at distance at most 1, and their distance."""
    for x, other in permutations(vectors, 2):
        gap = distance(x, other)
        if gap <= 1:
            yield x, other, gap


def ratio(p: Law[Any], q: Law[Any]) -> Fraction:
    """The largest ratio of probabilities, for laws with the same outcomes."""
    holds(p.support <= q.support)
    return Fraction(max_loss(p, q))


def columns(beta: Fraction, alpha: Fraction) -> int:
    """m = ceil(beta/alpha)."""
    return ceil(beta / alpha)


def flip(alpha: Fraction) -> Fraction:
    """The flip probability 1/(alpha + 2) of Algorithm 2."""
    return 1 / (alpha + 2)


def gamma(alpha: Fraction, collision: Fraction) -> Fraction:
    """(alpha + 2)/(1 + alpha k/s) - 2 for k/s = collision."""
    return (alpha + 2) / (1 + alpha * collision) - 2


def rates(alpha: Fraction, collision: Fraction) -> tuple[Fraction, Fraction]:
    """The chance that a one of the entry, or a zero beyond it, is reported wrongly."""
    return flip(alpha), 1 / (gamma(alpha, collision) + 2)


def spread(a: Fraction) -> Fraction:
    """(4a + 4)/a^2: the expected last return to zero of a walk with p = 1/(a + 2)."""
    return (4 * a + 4) / a**2


def constant(alpha: Fraction, collision: Fraction) -> Fraction:
    """C = (1/2 + (4 alpha + 4)/alpha^2 + (4 gamma + 4)/gamma^2) alpha of Lemma 4.8."""
    return (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha


def round_law(r: Fraction) -> Law[int]:
    """Random rounding of r."""
    part = r - floor(r)
    return Law({floor(r): 1 - part, floor(r) + 1: part})


def all_hashes(entries: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Every function from the entries to the rows."""
    return product(range(rows), repeat=entries)


def embedding(y: Sequence[int], hashes: Hashes, rows: int) -> Bits:
    """Step (2): the bit array, column after column."""
    bits: list[int] = []
    for b, h in enumerate(hashes):
        ones = {h[i] for i, value in enumerate(y) if value >= b + 1}
        bits += [int(a in ones) for a in range(rows)]
    return tuple(bits)


def noisy_law(bits: Bits, p: Fraction) -> Law[Bits]:
    """Randomized response on every bit."""
    law: dict[Bits, Fraction] = {(): Fraction(1)}
    for bit in bits:
        law = {
            (*z, out): weight * (p if out != bit else 1 - p)
            for z, weight in law.items()
            for out in (0, 1)
        }
    return Law(law)


def projection_law(
    x: Sequence[Fraction],
    hashes: Hashes,
    rows: int,
    alpha: Fraction,
    p: Fraction | None = None,
    rounding: Callable[[Fraction], Law[int]] = round_law,
) -> Law[Bits]:
    """The output of Algorithm 2 for fixed hash functions (one per column)."""
    chance = flip(alpha) if p is None else p
    y: Law[tuple[int, ...]] = Law.point(())
    for value in x:
        y = y.product(rounding(value / alpha)).map(lambda pair: (*pair[0], pair[1]))
    return y.map(lambda v: embedding(v, hashes, rows)).then(lambda bits: noisy_law(bits, chance))


def peaks(bits: Iterable[int]) -> list[int]:
    """The set P of Algorithm 3: where the partial sums f(0), ..., f(m) are largest."""
    sums = [0]
    for bit in bits:
        sums.append(sums[-1] + 2 * bit - 1)
    top = max(sums)
    return [n for n, value in enumerate(sums) if value == top]


def estimate(bits: Iterable[int]) -> Fraction:
    """Algorithm 3 before the final factor alpha: the average of the peaks."""
    places = peaks(bits)
    return Fraction(sum(places), len(places))


@cache
def _patterns(y: int, m: int) -> tuple[tuple[tuple[int, int, Fraction], int], ...]:
    """Ones in the first y of m columns, ones in the rest, estimate: how many strings have these."""
    patterns = Counter(
        (sum(bits[:y]), sum(bits[y:]), estimate(bits)) for bits in product((0, 1), repeat=m)
    )
    return tuple(patterns.items())


def estimate_law(y: int, m: int, p: Fraction, q: Fraction) -> Law[Fraction]:
    """The estimate of y: ones in the first y columns w.p. 1 - p, in the others w.p. q."""
    left = [(1 - p) ** n * p ** (y - n) for n in range(y + 1)]
    right = [q**n * (1 - q) ** (m - y - n) for n in range(m - y + 1)]
    weights: dict[Fraction, Fraction] = {}
    for (a, b, value), count in _patterns(y, m):
        weights[value] = weights.get(value, Fraction(0)) + count * left[a] * right[b]
    return Law(weights)


def entry_law(x: Fraction, alpha: Fraction, m: int, collision: Fraction) -> Law[Fraction]:
    """The law of the error |x - estimate| of Algorithm 3; rounded values above m count as m."""
    p, q = rates(alpha, collision)
    rounded = round_law(x / alpha)
    estimates = rounded.then(lambda y: estimate_law(min(y, m), m, p, q))
    return estimates.map(lambda e: abs(x - alpha * e))


def mean_distance(y: int, m: int, p: Fraction, q: Fraction) -> Fraction:
    """E|y - estimate| in columns."""
    return estimate_law(y, m, p, q).expectation(lambda e: abs(y - e))


def hit_chance(k: int, s: int) -> Fraction:
    """P(one of k entries with y_i >= 1 sets the bit of a zero entry), over all hash functions."""
    hits = [embedding([0] + [1] * k, [h], s)[h[0]] for h in all_hashes(k + 1, s)]
    return Fraction(sum(hits), len(hits))
