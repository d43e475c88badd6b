"""BV, Algorithm 9 and Theorem 7.2: a dense histogram in a polynomial."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms import CompactHistogram
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import Counts, data_sets, worst_ratio
from exactdp.proofs_check.claims.bv._field import evaluate, polynomials
from exactdp.proofs_check.claims.bv._laws import fast, geo
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import GeoSample

__all__ = ["CLAIMS"]

#: Over F_4 and, for the last one, F_64; the promised total is not what is checked here.
_CASES = (
    CompactHistogram(geo(1), 2, 9, 0),
    CompactHistogram(geo(1), 4, 9, 0),
    CompactHistogram(fast(2, 1, 2), 3, 9, 0),
    CompactHistogram(geo(1, 2), 2, 9, 1),
)


@cache
def _law(compact: CompactHistogram, counts: tuple[tuple[int, int], ...]) -> Law[Any]:
    """The released coefficients, run through all random choices."""
    return compact.law(dict(counts), residual=0).map(lambda h: tuple(c for _, c in h))


def _name(compact: CompactHistogram) -> str:
    return f"n={compact.n}, |X|={compact.universe}, F_{compact.field.order}"


def _eps_2(compact: CompactHistogram) -> Fraction:
    """e^(eps_1 + eps_2), from the laws themselves."""
    more = max_loss(compact.inverse.law, compact.noise.law(0))
    return compact.noise.e_half_epsilon**2 * Fraction(more)


def _eps_3(compact: CompactHistogram) -> Fraction:
    return Fraction(max_loss(compact.noise.law(0), compact.inverse.law))


def _private(bound: Callable[[CompactHistogram], Fraction]) -> str:
    found = []
    for compact in _CASES:
        worst = worst_ratio(
            lambda c: _law(compact, tuple(c.items())),
            compact.n,
            compact.universe,
        )
        most = bound(compact)
        require(worst <= most, f"{_name(compact)}: {worst} > {most}")
        found.append(f"{float(worst):.4f} <= {float(most):.4f}")
    return "worst ratios " + ", ".join(found)


def _literal(compact: CompactHistogram, counts: Counts, terms: int) -> dict[Any, Fraction]:
    """Algorithm 9: noisy counts on A, then uniform among the consistent polynomials."""
    level, noise, inverse = compact.level, compact.noise, compact.inverse
    members: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for p in polynomials(terms, level):
        key = tuple(inverse.count(evaluate(p, x, level)) for x in counts)
        members.setdefault(key, []).append(p)
    law: dict[Any, Fraction] = {}
    for values in product(range(noise.n + 1), repeat=len(counts)):
        weight = Fraction(1)
        for c, z in zip(counts.values(), values, strict=True):
            weight *= noise.law(c)[z]
        law |= {p: weight / len(members[values]) for p in members.get(values, [])}
    return law


def _shipped_law(fewer: int) -> str:
    cases = 0
    for compact in _CASES:
        for counts in data_sets(compact.n, compact.universe)[: 1 if compact.level else 3]:
            shipped = _law(compact, tuple(counts.items()))
            literal = _literal(compact, counts, compact.n + 1 - fewer)
            require(dict(shipped.items()) == literal, f"{_name(compact)}, {counts}")
            cases += 1
    return f"{cases} data sets, every polynomial"


def _density(power: int) -> str:
    """P(h | D) = d_0^-(n+1) prod over A of P(M(c_x) = h_x)/P(M_0 = h_x)."""
    for compact in _CASES:
        inverse, noise, level = compact.inverse, compact.noise, compact.level
        # the second data set of two rows has two non-empty bins
        for counts in data_sets(compact.n, compact.universe)[: 1 if level else 2]:
            for p, weight in _law(compact, tuple(counts.items())).items():
                stated = Fraction(1, compact.field.order ** (compact.n + 1))
                for x, c in counts.items():
                    z = inverse.count(evaluate(p, x, level))
                    stated *= noise.law(c)[z] / inverse.law[z] ** power
                case = f"{counts}, level {level}, polynomial {p}"
                require(weight == stated, f"{case}: {weight}, not {stated}")
    return f"{len(_CASES)} mechanisms, one and two non-empty bins, every polynomial"


def _accurate(share: Fraction) -> str:
    """Per query beta, and at once share |X| beta, for the exact law."""
    for compact in (*_CASES, CompactHistogram(GeoSample(1, 8), 2, 9, 1)):
        for counts in data_sets(compact.n, compact.universe)[:3]:
            histograms = _law(compact, tuple(counts.items())).map(lambda p: _histogram(compact, p))
            for a in range(compact.n + 1):
                beta = _beta(compact, a)
                most = share * beta * compact.universe
                _require_accurate(histograms, counts, a, beta, most)
    return f"{len(_CASES) + 1} mechanisms, up to three data sets each, every a"


def _histogram(compact: CompactHistogram, polynomial: tuple[int, ...]) -> tuple[int, ...]:
    values = (evaluate(polynomial, x, compact.level) for x in range(compact.universe))
    return tuple(compact.inverse.count(value) for value in values)


def _beta(compact: CompactHistogram, a: int) -> Fraction:
    """The least beta of the theorem: that of M for every count, and of M_0."""
    noisy = [
        compact.noise.law(c).probability(lambda z: abs(z - c) > a) for c in range(compact.n + 1)
    ]
    return max(*noisy, compact.inverse.law.probability(lambda z: z > a))


def _require_accurate(
    histograms: Law[Any], counts: Counts, a: int, beta: Fraction, most: Fraction
) -> None:
    def off(h: tuple[int, ...], x: int) -> bool:
        return abs(h[x] - counts.get(x, 0)) > a

    bins = range(len(next(iter(histograms))))
    worst = max(histograms.probability(lambda h: off(h, x)) for x in bins)
    require(worst <= beta, f"{counts}, a={a}: a bin fails with {worst} > beta = {beta}")
    some = histograms.probability(lambda h: any(off(h, x) for x in bins))
    require(some <= most, f"{counts}, a={a}: some bin fails with {some} > {most}")


def _degree(terms: int) -> str:
    """Privacy and accuracy for n = 1 over F_4 when polynomials have so many coefficients."""
    compact = _CASES[0]
    laws = {x: _literal(compact, {x: 1}, terms) for x in (0, 1)}
    worst = max(laws[x][p] / laws[1 - x][p] for x in (0, 1) for p in laws[0])
    require(worst <= compact.e_epsilon, f"ratio {worst} > {compact.e_epsilon}")
    other = sum(
        (w for p, w in laws[0].items() if compact.inverse.count(evaluate(p, 1, 0)) == 1),
        Fraction(0),
    )
    stated = compact.inverse.law[1]
    require(other == stated, f"{terms} coefficients: P(empty bin = 1) = {other}, not {stated}")
    return f"ratio {worst}, P(empty bin = 1) = {other} = P(M_0 = 1)"


def _not_a_field_order(least: int) -> str:
    """d has an odd factor >= least, so that d = d_0 = 2^(2 3^l) is out of the question."""
    cases = 0
    for n, inverse, gamma in product((1, 2, 7, 30), (1, 2, 5), (2, 16)):
        for noise in (geo(n, inverse), fast(n, inverse, gamma)):
            d = noise.cdf(0).denominator
            odd = d // (d & -d)
            require(odd >= least, f"{noise}: odd factor {odd}")
            cases += 1
    return f"{cases} samplers"


CLAIMS = (
    BV.verified(
        "Algorithm 9",
        "CompactHistogram as shipped has exactly the law of Algorithm 9: noisy counts "
        "on the non-empty bins, then a uniform polynomial among those consistent with them.",
        "exact law",
        **varied(_shipped_law, 0, 1, "polynomials of degree < n"),
    ),
    BV.verified(
        "Theorem 7.2",
        "CompactHistogram is (eps_1 + eps_2 + eps_3, 0)-DP, e^eps_2 and e^eps_3 being "
        "the largest ratios of the laws of M_0 and M(0), and M (eps_1/2, 0)-DP.",
        "exact law",
        **varied(
            _private,
            lambda compact: _eps_2(compact) * _eps_3(compact),
            _eps_2,
            "(eps_1 + eps_2, 0)-DP",
        ),
    ),
    BV.verified(
        "Theorem 7.2, law of the release",
        "A polynomial h has probability d_0^-(n+1) times the product over the non-empty "
        "bins of P(M(c_x) = h_x)/P(M_0 = h_x), from which the privacy follows.",
        "exact law",
        **varied(_density, 1, 2, "with the ratio's denominator squared"),
    ),
    BV.verified(
        "Theorem 7.2, accuracy",
        "If M and M_0 err by more than a with probability at most beta each, one bin "
        "errs by more than a with probability at most beta, some bin with at most |X| beta.",
        "exact law",
        **varied(_accurate, Fraction(1), Fraction(8, 10), "some bin with at most 0.8 |X| beta"),
    ),
    BV.verified(
        "Section 1, n + 1 independent values",
        "(n + 1)-wise independence keeps both the privacy and the law of an empty bin.",
        "enumeration",
        **varied(_degree, 2, 1, "n-wise independence does"),
        note="n-wise independence would be enough for the privacy bound (at most n values are "
        "conditioned on), not for the law of the empty bins; the text says its analysis seems to "
        "need n + 1",
    ),
    BV.verified(
        "Section 7.2, d is no field order",
        "The denominators d of GeoSample and FastSample have an odd factor of at least 5, so "
        "d_0 = d is impossible.",
        "exact law",
        **varied(_not_a_field_order, 5, 7, "all have an odd factor >= 7"),
        note="FastSample's d is that of the shipped construction",
    ),
    BV.not_checkable(
        "Theorem 7.2, running times",
        "Quasi-linear in n, log d, the time of M and of preimages, and log^2 d_0; one "
        "count in O(n) field operations.",
        "asymptotic running time in the word RAM model",
    ),
)
