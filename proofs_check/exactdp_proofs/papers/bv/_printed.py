"""The algorithms exactly as printed where the library ships a corrected version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms.histograms.keep_heavy import heaviest
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.samplers import RationalCdf, Source, exact_law
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.rationals import Fraction


def ord_sample(cdf: RationalCdf, variables: int, k: int, source: Source) -> tuple[int, ...]:
    """Algorithm 6: value i from the distribution function (F(z)/F(previous))^(m - i)."""
    values: list[int] = []
    top = cdf.high
    for rest in range(variables, variables - k, -1):
        level = cdf.numerator(top) ** rest
        step = RationalCdf(cdf.low, top, lambda z: cdf.numerator(z) ** rest, level)
        top = source.inverse_cdf(step)
        values.append(top)
    return tuple(values)


def ord_sample_law(scaled: Sequence[int], variables: int, k: int) -> Law[tuple[int, ...]]:
    """Its exact law, for a distribution function scaled to integers."""
    cdf = RationalCdf(0, len(scaled) - 1, scaled.__getitem__, scaled[-1])
    return exact_law(lambda source: ord_sample(cdf, variables, k, source), residual=0)


def kh_prime(noise: CountSampler, counts: Mapping[int, int], universe: int) -> Law[Any]:
    """Algorithm 5 with the order statistics of Algorithm 6."""

    def program(source: Source) -> object:
        noisy = [(x, noise.sample(c, source)) for x, c in counts.items()]
        others = [x for x in range(universe) if x not in counts]
        for count in ord_sample(noise.cdf(0), len(others), noise.n + 1, source):
            noisy.append((others.pop(source.below(len(others))), count))
        return heaviest(noisy, noise.n)

    return exact_law(program, residual=0)


def too_few_distinct(universe: int, draws: int, least: int) -> Fraction:
    """P(uniform draws with replacement show fewer than `least` distinct elements), exactly."""
    seen = [1] + [0] * universe  # sequences by the number of distinct elements
    for _ in range(draws):
        new = [0] + [seen[k] * (universe - k) for k in range(universe)]
        seen = [old * k + more for k, (old, more) in enumerate(zip(seen, new, strict=True))]
    return Fraction(sum(seen[:least]), universe**draws)


def kh_second(
    noise: CountSampler, counts: Mapping[int, int], universe: int, beta_inverse: int
) -> Law[Any]:
    """Algorithm 7: KH', unless too few of the elements drawn with replacement are distinct."""
    n = noise.n
    fails = too_few_distinct(universe, (4 * n + 2) * beta_inverse, 2 * n + 1)
    return mixed_law(kh_prime(noise, counts, universe), Law.point(()), fails)


def random_histogram(n: int, universe: int) -> Law[Any]:
    """Step 2 of Algorithm 8: n elements with replacement, uniform counts, zeros dropped."""
    law: dict[Any, Fraction] = {}
    for data in product(range(universe), repeat=n):
        distinct = sorted(set(data))
        weight = Fraction(1, universe**n * (n + 1) ** len(distinct))
        for values in product(range(n + 1), repeat=len(distinct)):
            bins = tuple((x, c) for x, c in zip(distinct, values, strict=True) if c)
            law[bins] = law.get(bins, Fraction(0)) + weight
    return Law(law)
