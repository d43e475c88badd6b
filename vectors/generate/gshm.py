"""Vectors for the Gaussian sparse histogram mechanism (Wilkins et al. 2024)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, number
from vectors.generate.counters import (
    ALL,
    METHODS,
    Hockey,
    Term,
    largest,
    least_tau,
    recipes,
    rough_hockey,
)
from vectors.generate.normal import log_cdf


def _exact_terms(k: int, sigma: str, tau: str | mpf, epsilon: str, places: list[int]) -> list[Term]:
    """The terms of the exact analysis: the threshold alone, and both kinds for some j."""

    def rate() -> mpf:
        distance = number(tau) if isinstance(tau, str) else tau
        return log_cdf(distance / number(sigma))

    def appear(j: int, divergence: Hockey) -> mpf:
        gamma, mu = (k - j) * rate(), mp.sqrt(j) / number(sigma)
        return -mp.expm1(gamma) + mp.exp(gamma) * divergence(number(epsilon) - gamma, mu)

    def vanish(j: int, divergence: Hockey) -> mpf:
        gamma, mu = (k - j) * rate(), mp.sqrt(j) / number(sigma)
        return divergence(number(epsilon) + gamma, mu)

    terms: list[Term] = [lambda _: -mp.expm1(k * rate())]
    for place in places:
        terms.append(partial(appear, place))
        terms.append(partial(vanish, place))
    return terms


def _sum_terms(k: int, sigma: str, tau: str | mpf, epsilon: str) -> list[Term]:
    def total(divergence: Hockey) -> mpf:
        distance = number(tau) if isinstance(tau, str) else tau
        shows = -mp.expm1(k * log_cdf(distance / number(sigma)))
        return divergence(number(epsilon), mp.sqrt(k) / number(sigma)) + shows

    return [total]


def _places(k: int, sigma: float, tau: float, epsilon: float) -> list[int]:
    """The j whose terms may be the largest; all of them where there are few."""
    if k <= ALL:
        return list(range(1, k + 1))
    rate = math.log1p(-math.erfc(tau / sigma / math.sqrt(2)) / 2)
    sizes = []
    for j in range(1, k + 1):
        gamma, mu = (k - j) * rate, math.sqrt(j) / sigma
        inner = rough_hockey(epsilon - gamma, mu)
        appear = -math.expm1(gamma) + math.exp(gamma) * inner
        sizes.append((max(appear, rough_hockey(epsilon + gamma, mu)), j))
    top = max(value for value, _ in sizes)
    return [j for _, j in sorted(sizes, reverse=True)[:24] if top > 0]


def _delta(k: str, sigma: str, tau: str, epsilon: str, analysis: str) -> Bounds:
    if analysis == "add-the-deltas":
        return largest(_sum_terms(int(k), sigma, tau, epsilon))
    places = _places(int(k), float(sigma), float(tau), float(epsilon))
    return largest(_exact_terms(int(k), sigma, tau, epsilon, places))


def _tau(k: str, sigma: str, delta: str, epsilon: str, analysis: str) -> Bounds:
    def terms(tau: mpf) -> Sequence[Term]:
        if analysis == "add-the-deltas":
            return _sum_terms(int(k), sigma, tau, epsilon)
        return _exact_terms(int(k), sigma, tau, epsilon, list(range(1, int(k) + 1)))

    return least_tau(delta, terms, sigma)


EXACT, SUM = "exact", "add-the-deltas"

DELTAS = [
    # k, sigma, tau, epsilon, analysis, comment, flags
    ("1", "4", "16", "1", EXACT, "one counter", "FewCounters Ordinary"),
    ("1", "4", "16", "1", SUM, "one counter", "FewCounters SumOfDeltas"),
    ("1", "2", "8", "0.5", EXACT, "one counter", "FewCounters Ordinary"),
    ("2", "4", "16", "1", EXACT, "two counters", "FewCounters BothMatter"),
    ("2", "4", "16", "1", SUM, "two counters", "FewCounters SumOfDeltas"),
    ("3", "8", "30", "0.5", EXACT, "three counters", "FewCounters BothMatter"),
    ("4", "8", "32", "0.75", EXACT, "four counters", "BothMatter"),
    ("10", "32", "146.5", "0.35", EXACT, "ten counters", "BothMatter"),
    ("10", "32", "146.5", "0.35", SUM, "ten counters", "SumOfDeltas"),
    ("10", "16", "64", "0.5", EXACT, "ten counters", "BothMatter"),
    ("50", "40", "200", "0.5", EXACT, "fifty counters", "BothMatter"),
    ("50", "40", "200", "0.5", SUM, "fifty counters", "SumOfDeltas"),
    ("100", "64", "300", "0.5", EXACT, "a hundred counters", "BothMatter"),
    ("200", "100", "512", "0.25", EXACT, "two hundred counters", "BothMatter"),
    ("51914", "2222.7", "13914", "0.35", EXACT, "the paper's example", "ManyCounters BothMatter"),
    ("51914", "2222.7", "13914", "0.35", SUM, "the paper's example", "ManyCounters SumOfDeltas"),
    ("10000", "512", "2816", "0.5", EXACT, "ten thousand counters", "ManyCounters BothMatter"),
    ("1000000", "8192", "45000", "0.5", SUM, "a million counters", "ManyCounters SumOfDeltas"),
    ("1000000000", "262144", "1.6e6", "0.5", SUM, "10^9 counters", "ManyCounters SumOfDeltas"),
    ("1000000000000", "8388608", "6e7", "0.5", SUM, "10^12 counters", "ManyCounters SumOfDeltas"),
    ("1", "4", "0", "1", EXACT, "tau = 0: one half of all counters of 1 show", "Boundary"),
    ("10", "4", "0", "1", EXACT, "tau = 0", "Boundary DeltaNearOne"),
    ("100", "4", "0", "1", EXACT, "tau = 0: 1 - 2^-100", "Boundary DeltaNearOne"),
    ("1", "4", "0", "1", SUM, "tau = 0", "Boundary SumOfDeltas"),
    ("3", "2", "6", "0", EXACT, "epsilon = 0", "EpsilonZero Boundary"),
    ("3", "16", "6", "1", EXACT, "the threshold alone", "ThresholdDominates"),
    ("20", "16", "40", "4", EXACT, "the threshold alone", "ThresholdDominates"),
    ("5", "64", "128", "1", EXACT, "the threshold alone", "ThresholdDominates"),
    ("5", "4", "1000", "1", EXACT, "the noise alone", "NoiseDominates"),
    ("20", "8", "4000", "0.5", EXACT, "the noise alone", "NoiseDominates"),
    ("5", "4", "1000", "1", SUM, "the noise alone", "NoiseDominates SumOfDeltas"),
    ("4", "64", "2560", "1", EXACT, "both below 1e-200", "TinyDelta BothMatter"),
    ("4", "96", "3840", "1", EXACT, "delta below every double", "TinyDelta"),
    ("4", "96", "3840", "1", SUM, "delta below every double", "TinyDelta SumOfDeltas"),
    ("2", "68", "4600", "1", EXACT, "delta about 1e-500", "TinyDelta"),
    ("7", "256", "4096", "0.125", EXACT, "tau = 16 sigma", "TinyDelta"),
    ("3", "0.0625", "0.25", "1", EXACT, "hardly any noise", "TinyNoise DeltaNearOne"),
    ("3", "0.046875", "0.375", "800", EXACT, "epsilon beyond 709", "LargeEpsilon"),
    ("3", "0.046875", "0.375", "800", SUM, "epsilon beyond 709", "LargeEpsilon SumOfDeltas"),
    ("6", "1000000000", "5e9", "0.0000001", EXACT, "sigma 1e9", "HugeNoise"),
    (
        "6",
        "1000000000",
        "5e9",
        "9.313225746154785e-10",
        EXACT,
        "sigma 1e9",
        "HugeNoise SmallEpsilon",
    ),
]

TAUS = [
    # k, sigma, delta, epsilon, analysis, comment, flags
    ("1", "4", "1e-5", "1", EXACT, "one counter", "FewCounters"),
    ("1", "4", "1e-5", "1", SUM, "one counter", "FewCounters SumOfDeltas"),
    ("4", "8", "1e-5", "1", EXACT, "four counters", "Ordinary"),
    ("4", "8", "1e-5", "1", SUM, "four counters", "SumOfDeltas"),
    ("10", "32", "1e-5", "0.35", EXACT, "ten counters", "Ordinary"),
    ("10", "32", "1e-5", "0.35", SUM, "ten counters", "SumOfDeltas"),
    ("30", "72", "1e-6", "0.5", EXACT, "thirty counters", "Ordinary"),
    ("3", "16", "1e-12", "1", EXACT, "delta 1e-12", "SmallDelta"),
    ("3", "128", "1e-300", "1", EXACT, "delta 1e-300", "TinyDelta"),
    ("51914", "2304", "1e-5", "0.35", SUM, "many counters", "ManyCounters SumOfDeltas"),
]


GROUP = Group(
    name="gshm",
    description="Gaussian sparse histogram mechanism: N(0, sigma^2) on every non-zero counter, "
    "released where the noisy counter is > 1 + tau. One user is added or removed and changes at "
    "most k counters by 1 each, in the same direction.",
    questions={
        "delta": "analysis 'exact': the mechanism's least delta at epsilon; 'add-the-deltas': the "
        "upper bound delta_gauss + delta_inf",
        "tau": "the least tau >= 0 with which the analysis shows (epsilon, delta) at this sigma",
    },
    source="Wilkins et al. 2024, as in Lebeda and Retschmeier, Lemma 2.7; Google Anonymization "
    "Team 2020, as in Lemma 2.6",
    methods=METHODS,
    recipes=partial(recipes, DELTAS, TAUS, _delta, _tau),
)
