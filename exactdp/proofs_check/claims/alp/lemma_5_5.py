"""ALP, Lemma 5.5: error of the combined structure; wrong limits in its proof."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Printed, Quibble, Refuted, require
from exactdp.proofs_check.claims.alp._model import columns, estimate
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _mean(first: Fraction) -> str:
    """The exact bound on the mean, eps1 = 1, is <= first + c for every x, beta and c >= 0.

    c: error of the projection for entries up to beta. a = |beta - x|.
    """
    import sympy as sp

    a, c, t = sp.symbols("a c t", positive=True)
    density = sp.exp(-t) / 2
    beyond = sp.integrate(t * density, (t, a, sp.oo))
    tail = sp.exp(-a) / 2
    below = c * (1 - tail) + beyond  # x = beta - a
    above = (a + c) * tail + (1 - beyond)  # x = beta + a, where E|noise| = 1
    require(sp.simplify(below - c - tail * (a + 1 - c)) == 0, "x < beta")
    require(sp.simplify(above - 1 - tail * (c - 1)) == 0, "x > beta")
    # (a + 1) e^-a/2 falls from 1/2, so below = c + e^-a (a + 1 - c)/2 <= c + 1/2
    require(sp.simplify(sp.diff(tail * (a + 1), a) + a * tail) == 0, "(a + 1) e^-a/2 does not fall")
    # above = 1 + e^-a (c - 1)/2 <= 1 + c, and it tends to 1
    require(sp.simplify(1 + c - above - (1 - tail) * c - tail) == 0, "slack above")
    limit = sp.limit(above.subs(c, 0), a, sp.oo)
    require(limit <= sp.Rational(first), f"x far above beta: error {limit}")
    return "closed forms on both sides of beta; slack c (1 - e^-a/2) + e^-a/2 > 0 above"


def _half_line(w: Fraction, c: Fraction) -> arb:
    """The integral of (|h| + c) e^-|h|/2 over h < w."""
    size = ball(abs(w))
    tail = (-size).exp() / 2
    value = tail * (size + 1 + ball(c))
    return value if w <= 0 else 1 + ball(c) - tail * (size + 1 + ball(c))


def _limits(printed: bool) -> str:
    """(max(0, x - beta) + c) P(Lap < beta - x) < integral of (|v - x| + c') f up to the limit.

    c' = c, or, for the printed limit, c' = 10^6 c: no constant makes up for what is cut off.
    """
    for x, beta, c in product(range(21), (1, 5, 20), (Fraction(1), Fraction(10))):
        gap = Fraction(beta - x)
        with precision(64):
            size = (-ball(abs(gap))).exp() / 2
            chance = size if gap < 0 else 1 - size
            left = ball(max(Fraction(0), -gap) + c) * chance
            right = _half_line(gap - x, 10**6 * c) if printed else _half_line(gap, c)
            require(
                bool(left < right),
                f"eps1=1, x={x}, beta={beta}, c={c}: {float(left.mid()):.4g} is not below "
                f"{float(right.mid()):.4g}",
            )
    return "126 cases with eps1 = 1, ball arithmetic"


def _largest(extra: int) -> str:
    """The largest estimate (all bits one) is at most beta + extra alpha/eps."""
    for beta, eps, alpha in product((1, 4, 7), (Fraction(1, 2), Fraction(2)), (1, 3)):
        m = columns(beta * eps, Fraction(alpha))
        most = estimate([1] * m) * alpha / eps
        require(
            most <= beta + extra * alpha / eps,
            f"beta={beta}, eps={eps}, alpha={alpha}: m={m}, estimate {most}",
        )
    return "12 cases"


def _maximum(threshold: Fraction) -> str:
    """Whatever the bits: |error| <= threshold * beta + alpha/eps + |noise| for every entry."""
    noises = [Fraction(n, 2) for n in range(-10, 11)]
    for unit, beta, x, eta in product((Fraction(1, 2), Fraction(12, 5)), (3, 5), range(12), noises):
        v = x + eta
        answers = [v] if v >= beta else [g * unit for g in range(ceil(beta / unit) + 1)]
        for answer in answers:
            bound = threshold * beta + unit + abs(eta)
            case = f"beta={beta}, alpha/eps={unit}, x={x}, noise {eta}: {answer}"
            require(abs(x - answer) <= bound, case)
    return "alpha/eps2 = 1/2, 12/5, 2 thresholds, 12 entries, 21 values of noise, every estimate"


CLAIMS = (
    ALP.proved(
        "Lemma 5.5",
        "The expected error of an entry is at most 1/epsilon1 + C/epsilon2, with C the constant of "
        "Lemma 4.14.",
        "symbolic",
        **varied(_mean, Fraction(1), Fraction(49, 50), "0.98/epsilon1 + C/epsilon2"),
        note="Evaluation time: m = ceil(2 ln(d) epsilon2/(epsilon1 alpha)) bits are read.",
    ),
    Refuted(
        paper="ALP",
        item="Lemma 5.5, proof, integration limits",
        statement="With constants c, c' for the two O(1/epsilon2), (max(0, x - beta) + c) P(Lap < "
        "beta - x) < integral over v < beta - x of (|v - x| + c') times the density at v - x.",
        severity="cosmetic",
        printed=Printed(
            r"&< \int_{-\infty}^{\beta - x_i} (|v - x_i| + O(1/\varepsilon_2)) \cdot "
            r"\frac{\varepsilon_1}{2} e^{-|v - x_i|\varepsilon_1} dv",
            "Section 5, Lemma 5.5, proof, fourth line of the display",
            511,
        ),
        method="certified numerics",
        check=lambda: _limits(True),
        example="""
>>> from math import exp
>>> for x in (5, 10, 20):                          # = beta; eps1 = c = c' = 1; P(Lap < 0) = 1/2
...     left = (max(0, x - x) + 1) * 0.5
...     w = (x - x) - x                            # v < beta - x means noise v - x < w = -x
...     right = exp(w) / 2 * (abs(w) + 1 + 1)      # integral of (|h| + 1) e^-|h|/2 over h < w
...     print(f"{left / right:.2g}")               # no constant bounds the quotient
21
1.8e+03
2.2e+07
""",
        extraction="no: the limit beta - x occurs in four integrals, beside the integrand |v - x|",
        corrected=ALP.verified(
            "Lemma 5.5, proof, integration limits, corrected",
            "With the limit beta (or beta - x for the noise as variable) it holds with the same "
            "constant on both sides.",
            "certified numerics",
            **varied(_limits, False, True, "the limit is beta - x, for a 10^6 times larger c'"),
        ),
    ),
    Quibble(
        paper="ALP",
        item="Lemma 5.5, proof, largest estimate",
        statement="The output of Algorithm 5 is at most beta.",
        printed=Printed(
            r"the output of the Algorithm 5 is at most β",
            "Section 5, Lemma 5.5, proof, last paragraph",
            517,
        ),
        method="enumeration",
        check=lambda: _largest(0),
        example="""
>>> from math import ceil
>>> alpha, eps, beta = 3, 1, 1
>>> m = ceil(beta * eps / alpha)
>>> m * alpha / eps                    # the estimate when all m bits are one
3.0
""",
        extraction="no: it is a sentence",
        corrected=ALP.verified(
            "Lemma 5.5, proof, largest estimate, corrected",
            "It is at most beta + alpha/epsilon.",
            "enumeration",
            **varied(_largest, 1, 0, "at most beta"),
        ),
        note="Off by less than one rounding step alpha/epsilon, which the order of the maximum "
        "error absorbs; the restriction to [0, u] does not help when u > beta.",
    ),
    ALP.verified(
        "Lemma 5.5, maximum error",
        "Whatever the bits are, every entry errs by at most beta + alpha/epsilon2 plus the size of "
        "its Laplace noise.",
        "enumeration",
        **varied(_maximum, Fraction(1), Fraction(19, 20), "0.95 beta for beta"),
        note="With the maximum of the noise, Proposition 2.5, the expected maximum error is at "
        "most (2 ln d + 1 + ln d)/epsilon1 + alpha/epsilon2; see Theorem 5.10.",
    ),
)
