"""BV, Theorem 6.5 and Section 6.2: approximating KH'' in strict time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy, KeepHeavySampled, SparseHistogram
from exactdp.mechanisms.mixing import mixed_law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import Counts, data_sets, neighbouring_laws
from exactdp.proofs_check.claims.bv._laws import fast, geo
from exactdp.proofs_check.claims.bv._printed import kh_second, too_few_distinct
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.strict_order import truncated_power

__all__ = ["CLAIMS"]

_DELTA = Fraction(1, 400)


def _private(law: Callable[[Counts], Law[Any]]) -> str:
    """The law is (epsilon, (e^epsilon + 1) delta)-DP: n=1, |X|=4."""
    factor = geo(1).e_half_epsilon ** 2
    worst = max(hockey_stick(p, q, e_epsilon=factor).lower for p, q in neighbouring_laws(law, 1, 4))
    allowed = (factor + 1) * _DELTA
    require(worst <= allowed, f"hockey stick {worst} = {float(worst):.4f} > {float(allowed):.4f}")
    return f"worst hockey stick {float(worst):.3g} <= {float(allowed):.3g}, e^epsilon = {factor}"


def _printed(counts: Counts) -> Law[Any]:
    return kh_second(geo(1), counts, 4, 2)


def _shipped(counts: Counts) -> Law[Any]:
    return SparseHistogram(geo(1), 4, _DELTA).law(counts, residual=0)


def _close(part: Fraction) -> str:
    """SparseHistogram as shipped lies within its distance of KeepHeavy."""
    for noise, universe, distance in ((geo(1), 4, _DELTA), (fast(1), 3, Fraction(1, 20))):
        for counts in data_sets(noise.n, universe):
            law = SparseHistogram(noise, universe, distance).law(counts, residual=0)
            gap = total_variation(law, KeepHeavy(noise, universe).law(counts, residual=0)).upper
            require(gap <= part * distance, f"{counts}: distance {float(gap):.3g}")
    return "two mechanisms, every data set"


def _conversion(factor_of_delta: Callable[[Fraction], Fraction]) -> str:
    """Whatever lies within delta of a pair with ratios <= e^epsilon; it is attained."""
    laws = [Law({0: Fraction(i, 6), 1: Fraction(6 - i, 6)}) for i in range(7)]
    cases = 0
    for e in (Fraction(3, 2), Fraction(3), Fraction(10)):
        bound = factor_of_delta(e)
        for p, q in product(laws, repeat=2):
            if max(max_loss(p, q), max_loss(q, p)) > e:
                continue
            for near_p, near_q in product(laws, repeat=2):
                delta = max(total_variation(p, near_p).upper, total_variation(q, near_q).upper)
                worst = hockey_stick(near_p, near_q, e_epsilon=e).upper
                case = f"e^epsilon={e}: {p}, {q} moved to {near_p}, {near_q}"
                require(worst <= bound * delta, f"{case}: {worst} > {bound} {delta}")
                cases += 1
        delta = 1 / (e + 1)
        worst = hockey_stick(Law.point(0), Law.point(1), e_epsilon=e).upper
        require(worst == bound * delta, f"e^epsilon={e}: {worst} is reached, not {bound} {delta}")
    return f"{cases} cases; randomised response moved by 1/(e^epsilon + 1) attains it"


def _power_error(doubled: int) -> str:
    """0 <= (a/b)^i - y/s <= (2i - 1)/s for truncated repeated squaring, y <= s throughout."""
    cases = 0
    for scale, b in product((7, 64, 1000), (3, 5, 10)):
        for a, i in product(range(b + 1), range(1, 41)):
            y = truncated_power(a, b, i, scale)
            error = Fraction(a, b) ** i - Fraction(y, scale)
            most = Fraction(doubled * i - 1, scale)
            require(0 <= error <= most, f"({a}/{b})^{i}, s={scale}: error {error} > {most}")
            cases += 1
    return f"{cases} powers"


def _exponents(slack: int) -> str:
    """Every exponent m - i that KH'' passes on is at least |X| - 2n."""
    for n in range(1, 5):
        for universe in (4 * n, 4 * n + 3):
            for counts in data_sets(n, universe)[:: 1 + universe // 6]:
                m = universe - len(counts)
                least = min(m - i for i in range(n + 1))
                require(least >= universe - 2 * n + slack, f"n={n}, {counts}: exponent {least}")
    return "n <= 4, exponents |X| - |A| - i, i <= n"


def _corrected(counts: Counts) -> Law[Any]:
    fails = too_few_distinct(4, 12, 3)
    return mixed_law(KeepHeavySampled(geo(1), 4).law(counts, 0), Law.point(()), fails)


CLAIMS = (
    BV.verified(
        "Theorem 6.5",
        "An (epsilon, (e^epsilon + 1) delta)-DP algorithm SparseHistogram exists: as shipped, "
        "within delta of KeepHeavy, it is one.",
        "exact law",
        **varied(
            _private, _shipped, _printed, "so is KH'' with OrdSample as printed (BV-Lemma-2.9)"
        ),
        note="a bare statement of existence, with no closeness to KH'' or accuracy. What is "
        "described after it approximates KH'', whose order statistics are those of Lemma 2.9",
        slack="KeepHeavy itself is (epsilon, 0)-DP with room to spare",
    ),
    BV.verified(
        "Theorem 6.5, from distance to delta",
        "A mechanism within total variation distance delta of an (epsilon, 0)-DP one is "
        "(epsilon, (e^epsilon + 1) delta)-DP, and this is the best constant.",
        "enumeration",
        **varied(_conversion, lambda e: e + 1, lambda e: e, "(epsilon, e^epsilon delta)-DP"),
    ),
    BV.verified(
        "Theorem 6.5, distance",
        "SparseHistogram as shipped lies within delta of KeepHeavy's law.",
        "exact law",
        **varied(_close, Fraction(1), Fraction(3, 100), "within 3 % of delta"),
        ours=True,
        slack="delta bounds the sum of all truncations; most of them do not happen",
    ),
    BV.verified(
        "Section 6.2, repeated squaring",
        "Repeated squaring in which every product is cut to a multiple of 1/s gives "
        "(a/b)^i from below within (2i - 1)/s, with no number above s.",
        "enumeration",
        **varied(_power_error, 2, 1, "within (i - 1)/s"),
        note="the paper announces the method without its error bound; the bound is derived here",
    ),
    BV.verified(
        "Section 6.2, exponent",
        "KH'' raises ratios F(z)/F(v) to powers of at least |X| - 2n.",
        "enumeration",
        **varied(_exponents, 0, 1, "of at least |X| - 2n + 1"),
    ),
    BV.not_checkable(
        "Theorem 6.5, running time",
        "SparseHistogram runs in time quasi-linear in n and polynomial in log|X|, "
        "log d and log(1/delta), for beta_1 >= 1/polylog(n).",
        "asymptotic running time in the word RAM model",
    ),
)
