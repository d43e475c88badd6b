"""Vectors for the published analyses of the correlated sparse histogram (Lebeda, Retschmeier)."""

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


def _rate(k: int, sigma: str, tau: str | mpf) -> mpf:
    """log Phi of the threshold that is left to one counter's own noise."""
    distance = number(tau) if isinstance(tau, str) else tau
    share = 1 + mp.root(mpf(1) / k, 4)
    return log_cdf(distance / (share * number(sigma)))


def _published_terms(
    k: int, sigma: str, tau: str | mpf, epsilon: str, places: Sequence[int]
) -> list[Term]:
    def reach(j: int) -> mpf:
        return min(mp.sqrt(j), mp.sqrt(j + mp.sqrt(k)) / 2) / number(sigma)

    def appear(j: int, divergence: Hockey) -> mpf:
        shows = -mp.expm1((k - j + 1) * _rate(k, sigma, tau))
        return shows + divergence(number(epsilon), reach(j))

    def vanish(j: int, divergence: Hockey) -> mpf:
        return divergence(number(epsilon) + (k - j + 1) * _rate(k, sigma, tau), reach(j))

    terms: list[Term] = [
        lambda _: -mp.expm1((k + 1) * _rate(k, sigma, tau)),
        lambda divergence: divergence(
            number(epsilon), mp.sqrt(k + mp.sqrt(k)) / (2 * number(sigma))
        ),
    ]
    for place in places:
        terms.append(partial(appear, place))
        terms.append(partial(vanish, place))
    return terms


def _sum_terms(k: int, sigma: str, tau: str | mpf, epsilon: str) -> list[Term]:
    def total(divergence: Hockey) -> mpf:
        shows = -mp.expm1((k + 1) * _rate(k, sigma, tau))
        return shows + divergence(number(epsilon), mp.sqrt(k + mp.sqrt(k)) / (2 * number(sigma)))

    return [total]


def _places(k: int, sigma: float, tau: float, epsilon: float) -> list[int]:
    if k <= ALL:
        return list(range(1, k))
    root = math.sqrt(k)
    rate = math.log1p(-math.erfc(tau / (1 + k**-0.25) / sigma / math.sqrt(2)) / 2)
    sizes = []
    for j in range(1, k):
        gamma = (k - j + 1) * rate
        mu = min(math.sqrt(j), math.sqrt(j + root) / 2) / sigma
        appear = -math.expm1(gamma) + rough_hockey(epsilon, mu)
        sizes.append((max(appear, rough_hockey(epsilon + gamma, mu)), j))
    return [j for _, j in sorted(sizes, reverse=True)[:24]]


def _delta(sparsity: str, sigma: str, tau: str, epsilon: str, analysis: str) -> Bounds:
    k = int(sparsity)
    if analysis == "add-the-deltas":
        return largest(_sum_terms(k, sigma, tau, epsilon))
    places = _places(k, float(sigma), float(tau), float(epsilon))
    return largest(_published_terms(k, sigma, tau, epsilon, places))


def _tau(sparsity: str, sigma: str, delta: str, epsilon: str, analysis: str) -> Bounds:
    k = int(sparsity)

    def terms(tau: mpf) -> Sequence[Term]:
        if analysis == "add-the-deltas":
            return _sum_terms(k, sigma, tau, epsilon)
        return _published_terms(k, sigma, tau, epsilon, range(1, k))

    return least_tau(delta, terms, sigma)


FINE, SUM = "published", "add-the-deltas"

DELTAS = [
    # sparsity (k in the paper), sigma, tau, epsilon, analysis, comment, flags
    ("1", "4", "32", "1", FINE, "one counter: no j between", "FewCounters"),
    ("1", "4", "32", "1", SUM, "one counter", "FewCounters SumOfDeltas"),
    ("1", "2", "20", "0.5", FINE, "one counter", "FewCounters"),
    ("2", "4", "32", "1", FINE, "two counters: one j", "FewCounters BothMatter"),
    ("2", "4", "32", "1", SUM, "two counters", "FewCounters SumOfDeltas"),
    ("3", "8", "56", "0.5", FINE, "three counters", "FewCounters BothMatter"),
    ("4", "8", "56", "0.5", FINE, "sqrt k is an integer", "BothMatter"),
    ("9", "12", "80", "0.5", FINE, "sqrt k is an integer", "BothMatter"),
    ("10", "17.8", "132.3", "0.35", FINE, "the paper's example", "BothMatter"),
    ("10", "17.8", "132.3", "0.35", SUM, "the paper's example", "SumOfDeltas"),
    ("16", "16", "104", "0.5", FINE, "the fourth root of k is an integer", "BothMatter"),
    ("16", "16", "104", "0.5", SUM, "the fourth root of k is an integer", "SumOfDeltas"),
    ("50", "24", "150", "0.5", FINE, "fifty counters", "BothMatter"),
    ("50", "24", "150", "0.5", SUM, "fifty counters", "SumOfDeltas"),
    ("100", "40", "240", "0.5", FINE, "a hundred counters", "BothMatter"),
    ("256", "64", "384", "0.5", FINE, "k = 256", "BothMatter"),
    ("51914", "1113.8", "7434", "0.35", FINE, "the paper's example", "ManyCounters BothMatter"),
    ("51914", "1113.8", "7500", "0.35", SUM, "the paper's example", "ManyCounters SumOfDeltas"),
    ("10000", "256", "1600", "0.5", FINE, "ten thousand counters", "ManyCounters BothMatter"),
    ("1000000", "4096", "24576", "0.5", SUM, "a million counters", "ManyCounters SumOfDeltas"),
    ("1000000000", "131072", "851968", "0.5", SUM, "10^9 counters", "ManyCounters SumOfDeltas"),
    ("1000000000000", "4194304", "3e7", "0.5", SUM, "10^12 counters", "ManyCounters SumOfDeltas"),
    ("1", "4", "0", "1", FINE, "tau = 0: 1 - 1/4", "Boundary"),
    ("10", "4", "0", "1", FINE, "tau = 0: 1 - 2^-11", "Boundary"),
    ("3", "2", "14", "0", FINE, "epsilon = 0", "EpsilonZero Boundary"),
    ("3", "16", "16", "1", FINE, "the threshold alone", "ThresholdDominates"),
    ("20", "16", "64", "4", FINE, "the threshold alone", "ThresholdDominates"),
    ("5", "4", "1000", "1", FINE, "the noise alone", "NoiseDominates"),
    ("20", "8", "4000", "0.5", FINE, "the noise alone", "NoiseDominates"),
    ("4", "64", "4096", "1", FINE, "both tiny", "TinyDelta BothMatter"),
    ("4", "64", "4096", "1", SUM, "both tiny", "TinyDelta SumOfDeltas"),
    ("4", "96", "8192", "1", FINE, "delta below every double", "TinyDelta"),
    ("7", "256", "8192", "0.125", FINE, "tiny", "TinyDelta"),
    ("3", "0.0625", "0.5", "1", FINE, "the bound is above 1: cut at 1", "TinyNoise DeltaNearOne"),
    ("3", "0.03125", "0.375", "800", FINE, "epsilon beyond 709", "LargeEpsilon"),
    ("6", "1000000000", "1e10", "0.0000001", FINE, "sigma 1e9", "HugeNoise"),
]

TAUS = [
    ("1", "4", "1e-5", "1", FINE, "one counter", "FewCounters"),
    ("1", "4", "1e-5", "1", SUM, "one counter", "FewCounters SumOfDeltas"),
    ("4", "8", "1e-5", "1", FINE, "four counters", "Ordinary"),
    ("10", "18", "1e-5", "0.35", FINE, "ten counters", "Ordinary"),
    ("10", "18", "1e-5", "0.35", SUM, "ten counters", "SumOfDeltas"),
    ("16", "24", "1e-6", "0.5", FINE, "sixteen counters", "Ordinary"),
    ("3", "16", "1e-12", "1", FINE, "delta 1e-12", "SmallDelta"),
    ("3", "128", "1e-300", "1", FINE, "delta 1e-300", "TinyDelta"),
    ("51914", "1152", "1e-5", "0.35", SUM, "many counters", "ManyCounters SumOfDeltas"),
]


GROUP = Group(
    name="csh",
    description="Correlated sparse histogram: N(0, sigma^2) on every non-zero counter plus one "
    "shared N(0, sigma^2/sqrt k) on all of them, k being the sparsity, released where the noisy "
    "counter is > 1 + tau. No histogram ever has more non-zero counters than the sparsity, which "
    "a bound on users does not ensure; one user changes counters by 1 each, all in the same "
    "direction. The answers are the published upper bounds on delta, cut at 1, not the mechanism's "
    "exact delta.",
    questions={
        "delta": "the bound of the analysis 'published' (Theorem 3.5) or 'add-the-deltas' "
        "(Theorem 3.3) at epsilon",
        "tau": "the least tau >= 0 with which the analysis shows (epsilon, delta) at this sigma",
    },
    source="Lebeda and Retschmeier, The Correlated Gaussian Sparse Histogram Mechanism, Theorems "
    "3.5 and 3.3",
    methods=METHODS,
    recipes=partial(recipes, DELTAS, TAUS, _delta, _tau, "sparsity"),
)
