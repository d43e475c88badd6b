"""Laws by brute force, straight from definitions: the independent side of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import lcm
from typing import Any, TypeVar

from exactdp.balls import ball, refine
from exactdp.fields import frozen
from exactdp.law import Law
from exactdp.samplers import FastSample, GeoSample, RationalCdf
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.rationals import Fraction

Sampler = TypeVar("Sampler", bound=CountSampler)


def geo(n: int, inverse: int = 1) -> CountSampler:
    """GeoSample with epsilon = 1/inverse and the eps~ of the paper."""
    return GeoSample(n=n, epsilon=Fraction(1, inverse), power_of_two=True)


def fast(n: int, inverse: int = 1, gamma_inverse: int = 8, bits: Any = None) -> FastSample:
    """FastSample with epsilon = 1/inverse, gamma = 1/gamma_inverse and the eps~ of the paper."""
    loss = Fraction(1, inverse)
    return FastSample(n=n, epsilon=loss, gamma_inverse=gamma_inverse, bits=bits, power_of_two=True)


def weakened(noise: Sampler, loss: Fraction) -> Sampler:
    """The sampler for `loss` times the epsilon that this one has."""
    if loss == 1:
        return noise
    epsilon = refine(lambda: 2 * ball(loss) * ball(noise.e_half_epsilon).log()).lower
    return replace(noise, epsilon=epsilon, power_of_two=False)


@frozen
class Table(CountSampler):
    """A counting-query algorithm given by its table: rows[c][z] = P(M(c) = z)."""

    rows: tuple[tuple[Fraction, ...], ...] = ()

    @classmethod
    def of(cls, *rows: Sequence[Fraction | int]) -> Table:
        """One row per count."""
        exact = tuple(tuple(Fraction(p) for p in row) for row in rows)
        return cls(n=len(rows) - 1, epsilon=1, rows=exact)

    def cdf(self, c: int) -> RationalCdf:
        row = self.rows[c]
        scale = lcm(*(p.denominator for p in row))
        sums = [int(sum(row[: z + 1]) * scale) for z in range(len(row))]
        return RationalCdf(0, self.n, sums.__getitem__, scale)


#: No noise at all, n = 1: errors can only come from elsewhere.
EXACT = Table.of((1, 0), (0, 1))

#: Always 1, n = 2: every count is off by at most 1, and a bin of count 2 ties with empty ones.
STICKY = Table.of((0, 1, 0), (0, 1, 0), (0, 1, 0))

#: Ratios of at most 3/2 < e^(1/2), and probabilities of at least 1/4, n = 2.
FLAT = Table.of(
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
    (Fraction(3, 8), Fraction(3, 8), Fraction(1, 4)),
    (Fraction(1, 4), Fraction(3, 8), Fraction(3, 8)),
)

#: Counts 0 .. 3, each off by at most 1, by a law that is not symmetric.
SKEW = Table.of(
    (Fraction(7, 8), Fraction(1, 8), 0, 0),
    (Fraction(1, 8), Fraction(3, 4), Fraction(1, 8), 0),
    (0, Fraction(1, 8), Fraction(3, 4), Fraction(1, 8)),
    (0, 0, Fraction(1, 8), Fraction(7, 8)),
)


def pmf(q: Fraction, z: int) -> Fraction:
    """The two-sided geometric law: (1 - q)/(1 + q) q^|z|."""
    return (1 - q) / (1 + q) * q ** abs(z)


def clamped_geometric(n: int, q: Fraction, c: int) -> list[Fraction]:
    """P(clamp(c + Geo, 0, n) = z) from the mass function, its symmetry and its total alone."""

    def beyond(k: int) -> Fraction:
        """P(Geo >= k) = P(Geo <= -k), k >= 0."""
        if not k:
            return (1 + pmf(q, 0)) / 2
        return (1 - sum((pmf(q, j) for j in range(1 - k, k)), Fraction(0))) / 2

    inner = [pmf(q, z - c) for z in range(1, n)]
    return [beyond(c), *inner, beyond(n - c)]


def top_values(weights: Sequence[Fraction], m: int, k: int) -> Law[tuple[int, ...]]:
    """The k largest of m independent draws, descending, draw by draw."""
    one = Law(dict(enumerate(weights)))
    top: Law[tuple[int, ...]] = Law.point(())
    for _ in range(m):
        top = top.product(one).map(lambda pair: tuple(sorted((*pair[0], pair[1]))[::-1][:k]))
    return top


def noisy_counts(noise: CountSampler, counts: Iterable[int]) -> Law[tuple[int, ...]]:
    """Independent noise on every count."""
    law: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for c in counts:
        law = {(*done, z): p * w for done, p in law.items() for z, w in noise.law(c).items()}
    return Law(law)


def histogram_law(noise: CountSampler, counts: Mapping[int, int], universe: int) -> Law[Any]:
    """Independent noise on every bin: vectors of noisy counts with their probabilities."""
    return noisy_counts(noise, (counts.get(x, 0) for x in range(universe)))


def keep_heavy(
    noise: CountSampler, counts: Mapping[int, int], universe: int, rank: int | None = None
) -> Law[Any]:
    """The noisy bins strictly above the rank-th largest of them; rank = n + 1 by default."""

    def heavy(noisy: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        limit = sorted(noisy)[-(rank or noise.n + 1)]
        return tuple((x, z) for x, z in enumerate(noisy) if z > limit)

    return histogram_law(noise, counts, universe).map(heavy)
