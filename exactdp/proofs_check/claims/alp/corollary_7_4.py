"""ALP, Corollary 7.4: how large s must be for O(1/epsilon) and O(1/e^epsilon)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from flint import arb

from exactdp.balls import ball, refine
from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp.lemma_7_3 import bound
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_FACTOR = 4


def _agree(slack: arb, stated: Fraction, case: str) -> None:
    """The formula in new variables is that of Lemma 7.3."""
    require(bool(abs(slack - ball(stated)) < ball(Fraction(1, 10**9))), f"{case}: {slack.str(9)}")


def _one_over_epsilon(constant: Fraction) -> str:
    """s = 4 k eps, eps >= 1: eps * bound < constant.

    w = 1/eps in [0, 1], u = e^-eps = w v with v = eps e^-eps in [0, 0.368]; the box is larger
    than the curve.
    """

    def slack(w: arb, v: arb) -> arb:
        u = w * v
        q_over_w = (v + (1 - u) / _FACTOR) / (1 + u)
        q = w * q_over_w
        return ball(constant) - 4 * v / (1 - u) ** 2 - 4 * q_over_w * (1 - q) / (1 - 2 * q) ** 2

    for base, w in product((Fraction(3), Fraction(50)), (Fraction(1, 7), Fraction(1))):
        stated = constant - bound(base, w / _FACTOR) / w  # v = e^-eps/w
        _agree(slack(ball(w), ball(1 / (base * w))), stated, f"e^eps={base}, w={w}")
    parts = always_positive(slack, [(0, 1), (0, Fraction(184, 500))])
    return f"{parts} parts of the box w in [0, 1], v in [0, 0.368]"


def _one_over_exponential(constant: Fraction) -> str:
    """s = 4 k e^eps, eps >= 1: e^eps * bound < constant, in u = e^-eps <= 0.368."""

    def slack(u: arb) -> arb:
        q_over_u = (1 + (1 - u) / _FACTOR) / (1 + u)
        q = u * q_over_u
        return ball(constant) - 4 / (1 - u) ** 2 - 4 * q_over_u * (1 - q) / (1 - 2 * q) ** 2

    for base in (Fraction(3), Fraction(50)):
        stated = constant - bound(base, 1 / (_FACTOR * base)) * base
        _agree(slack(ball(1 / base)), stated, f"e^eps={base}")
    parts = always_positive(slack, [(0, Fraction(184, 500))])
    return f"{parts} parts of u in [0, 0.368]"


def _limits(second: int) -> str:
    """The growth of both summands by computer algebra, for s = 4 k e^eps."""
    import sympy as sp

    b, c = sp.symbols("b c", positive=True)
    q = (1 + (b - 1) * c) / (b + 1)
    parts = (4 * b / (b - 1) ** 2, 4 * q * (1 - q) / (1 - 2 * q) ** 2)
    point = {b: 3, c: sp.Rational(1, 10)}
    lemma = bound(Fraction(3), Fraction(1, 10))
    require(Fraction(str(sum(parts).subs(point))) == lemma, f"not the bound of Lemma 7.3: {lemma}")
    got = tuple(sp.limit(sp.simplify(x.subs(c, 1 / (4 * b))) * b, b, sp.oo) for x in parts)
    require(got == (4, second), f"limits {got}")
    return f"e^eps times the summands tends to {got} for s = 4 k e^eps"


def _array(d: int, k: int, s: int, eps: Fraction) -> int:
    """Bits of the shipped array below the threshold t = 2 ln(d)/eps."""
    t = refine(lambda: 2 * ball(d).log() / ball(eps)).upper
    return HistogramALP(d=d, k=k, s=s, beta=ceil(t), epsilon=eps).layout.size


def _bits(most: Fraction) -> str:
    """Halves eps from 1 to most * ln d: at most 16 k ln d bits for s = 4 k eps."""
    for bits, k in product((10, 20, 30), (1, 9)):
        log_d = refine(lambda: bits * ball(2).log()).lower
        for eps in (Fraction(n, 2) for n in range(2, int(2 * most * log_d) + 1)):
            size = _array(2**bits, k, int(4 * k * eps), eps)
            require(size <= 16 * k * log_d, f"d=2^{bits}, k={k}, eps={eps}: {size} bits")
    return "shipped arrays, d = 2^10, 2^20, 2^30, k = 1, 9, every half epsilon from 1 to 2 ln d"


def _bits_exponential(most: Fraction) -> str:
    """Halves eps from 1 to most * ln d: at most 16.1 k e^eps ln(d)/eps for s = ceil(4 k e^eps)."""
    for bits, k in product((5, 8, 11), (2, 9)):
        log_d = refine(lambda: bits * ball(2).log()).lower
        for eps in (Fraction(n, 2) for n in range(2, int(2 * most * log_d) + 1)):
            growth = refine(lambda: ball(eps).exp())
            size = _array(2**bits, k, ceil(4 * k * growth.upper), eps)
            bound = Fraction(161, 10) * k * growth.lower * log_d / eps
            require(size <= bound, f"d=2^{bits}, k={k}, eps={eps}: {size} bits > {float(bound)}")
    return "shipped arrays, d = 2^5, 2^8, 2^11, k = 2, 9, every half epsilon from 1 to 2 ln d"


CLAIMS = (
    ALP.proved(
        "Corollary 7.4",
        "For s = 4 k epsilon and epsilon >= 1 the bound of Lemma 7.3 is below 22/epsilon.",
        "interval search",
        **varied(_one_over_epsilon, Fraction(22), Fraction(21), "below 21/epsilon"),
    ),
    ALP.proved(
        "Corollary 7.4, (2)",
        "For s = 4 k e^epsilon and epsilon >= 1 the bound is below 27/e^epsilon.",
        "interval search",
        **varied(_one_over_exponential, Fraction(27), Fraction(26), "below 26/e^epsilon"),
    ),
    ALP.proved(
        "Corollary 7.4, (2), limit",
        "e^epsilon times the bound tends to 4 + 5 for s = 4 k e^epsilon: 4 by the flipped ones, 5 "
        "by flips and collisions beyond the entry.",
        "symbolic",
        **varied(_limits, 5, 4, "to 4 + 4"),
        ours=True,
    ),
    Conditional(
        paper="ALP",
        item="Corollary 7.4, (1), space",
        statement="The array takes O(k log d) bits: with s = 4 k epsilon rows, as shipped, at most "
        "16 k ln d.",
        outcome="verified",
        method="certified numerics",
        condition="epsilon <= 2 ln d: above it a single column already takes Theta(k epsilon) "
        "bits, and the corollary lets epsilon tend to infinity",
        **varied(_bits, Fraction(2), Fraction(41, 10), "for epsilon <= 4.1 ln d"),
    ),
    Conditional(
        paper="ALP",
        item="Corollary 7.4, (2), space",
        statement="The array takes O(e^epsilon k log(d)/epsilon) bits: with s = ceil(4 k e^epsilon)"
        " rows, as shipped, at most 16.1 k e^epsilon ln(d)/epsilon.",
        outcome="verified",
        method="certified numerics",
        condition="epsilon <= 2 ln d, as in (1)",
        **varied(_bits_exponential, Fraction(2), Fraction(41, 10), "for epsilon <= 4.1 ln d"),
    ),
)
