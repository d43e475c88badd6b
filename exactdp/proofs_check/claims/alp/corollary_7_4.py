"""ALP, Corollary 7.4: how large s must be for O(1/epsilon) and O(1/e^epsilon)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.entries import ALP, elsewhere, varied

__all__ = ["CLAIMS"]

_FACTOR = 4


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

    parts = always_positive(slack, [(0, 1), (0, Fraction(184, 500))])
    return f"{parts} parts of the box w in [0, 1], v in [0, 0.368]"


def _one_over_exponential(constant: Fraction) -> str:
    """s = 4 k e^eps, eps >= 1: e^eps * bound < constant, in u = e^-eps <= 0.368."""

    def slack(u: arb) -> arb:
        q_over_u = (1 + (1 - u) / _FACTOR) / (1 + u)
        q = u * q_over_u
        return ball(constant) - 4 / (1 - u) ** 2 - 4 * q_over_u * (1 - q) / (1 - 2 * q) ** 2

    parts = always_positive(slack, [(0, Fraction(184, 500))])
    return f"{parts} parts of u in [0, 0.368]"


def _limit(power: str) -> str:
    """The growth by computer algebra, for s = 4 k eps and s = 4 k e^eps."""
    import sympy as sp

    b, c = sp.symbols("b c", positive=True)
    q = (1 + (b - 1) * c) / (b + 1)
    whole = 4 * b / (b - 1) ** 2 + 4 * q * (1 - q) / (1 - 2 * q) ** 2
    got = sp.limit(sp.simplify(whole.subs(c, 1 / (4 * b))) * b, b, sp.oo)
    require(got == sp.Rational(power), f"limit {got}")
    return f"e^eps times the bound tends to {got} for s = 4 k e^eps"


_SHARES = tuple(Fraction(x) for x in ("1/10", "1", "21/20", "3/2", "2", "5/2", "9/2"))


def _bits(most_share: Fraction) -> str:
    """4 k eps ceil(2 ln(d)/eps) <= 16 k ln d, eps = share ln d: 4 share ceil(2/share) <= 16."""
    for share, k in product(_SHARES, (1, 9)):
        if share <= most_share:
            rows, columns = 4 * k * share, ceil(2 / share)  # rows in units of ln d
            case = f"eps={share} ln d, k={k}: {rows * columns} ln d bits"
            require(rows * columns <= 16 * k, case)
    return "eps from ln(d)/10 to 2 ln d, every d"


def _bits_exponential(most_share: Fraction) -> str:
    """ceil(2 ln(d)/eps) <= 2 * 2 ln(d)/eps, eps = share ln d; the common factor cancels."""
    for share in _SHARES:
        if share <= most_share:
            columns = ceil(2 / share)
            require(columns <= 2 * (2 / share), f"eps={share} ln d: {columns} columns")
    return "eps from ln(d)/10 to 2 ln d, every d"


CLAIMS = (
    ALP.proved(
        "Corollary 7.4",
        "For s = 4 k epsilon and epsilon >= 1 the bound of Lemma 7.3 is below 22/epsilon.",
        "interval search",
        **varied(_one_over_epsilon, Fraction(22), Fraction(21), "below 21/epsilon"),
    ),
    ALP.proved(
        "Corollary 7.4, (2)",
        "For s = 4 k e^epsilon and epsilon >= 1 the bound is below 40/e^epsilon.",
        "interval search",
        **varied(_one_over_exponential, Fraction(40), Fraction(25), "below 25/e^epsilon"),
    ),
    ALP.proved(
        "Corollary 7.4, (2), limit",
        "e^epsilon times the bound tends to 4 + 5 = 9 for s = 4 k e^epsilon.",
        "symbolic",
        **varied(_limit, "9", "8", "to 8"),
        ours=True,
    ),
    Conditional(
        paper="ALP",
        item="Corollary 7.4, (1), space",
        statement="The array takes O(k log d) bits: 4 k epsilon ceil(2 ln(d)/epsilon) <= 16 k ln "
        "d.",
        outcome="verified",
        method="certified numerics",
        condition="epsilon <= 2 ln d: above it a single column already takes Theta(k epsilon) "
        "bits, and the corollary lets epsilon tend to infinity",
        **elsewhere(
            "the mutant weakens the condition",
            varied(_bits, Fraction(2), Fraction(9, 2), "for epsilon <= 4.5 ln d"),
        ),
    ),
    Conditional(
        paper="ALP",
        item="Corollary 7.4, (2), space",
        statement="The array takes O(e^epsilon k log(d)/epsilon) bits: the 4 k e^epsilon rows "
        "times ceil(2 ln(d)/epsilon) columns are at most twice the rows times 2 ln(d)/epsilon.",
        outcome="verified",
        method="enumeration",
        condition="epsilon <= 2 ln d, as in (1)",
        **elsewhere(
            "the mutant weakens the condition",
            varied(_bits_exponential, Fraction(2), Fraction(9, 2), "for epsilon <= 4.5 ln d"),
        ),
    ),
)
