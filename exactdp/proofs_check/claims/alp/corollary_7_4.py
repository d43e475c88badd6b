"""ALP, Corollary 7.4: how large s must be for O(1/epsilon) and O(1/e^epsilon)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

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


def _bits(most_ratio: int) -> str:
    """s ceil(2 ln(d)/eps) <= 20 k log2(d) for s = 4 k eps, eps <= most_ratio ln d."""
    for bits, share, k in product(
        (1, 10, 64), (Fraction(1, 10), Fraction(1), Fraction(2), Fraction(100)), (1, 9)
    ):
        if share > most_ratio:
            continue
        with precision(64):
            log_d = bits * ball(2).log()
            eps = ball(share) * log_d
            stored = 4 * k * eps * (2 * log_d / eps).ceil()
            if share == 2:  # the quotient is exactly 1
                stored = 4 * k * eps
            case = f"d=2^{bits}, eps={float(eps.mid()):.4g}, k={k}"
            require(bool(stored <= 20 * k * bits), f"{case}: {float(stored.mid()):.4g} bits")
    return "d = 2, 2^10, 2^64, eps from ln(d)/10 to 2 ln d"


def _bits_exponential(most_ratio: int) -> str:
    """4 k e^eps ceil(2 ln(d)/eps) <= 16 e^eps k ln(d)/eps; the common factor 4 k e^eps cancels."""
    for bits, share in product((1, 10, 64), (Fraction(1, 10), Fraction(3, 2), Fraction(100))):
        if share > most_ratio:
            continue
        with precision(64):
            quotient = ball(2 / share)  # 2 ln(d)/eps
            require(bool(quotient.ceil() <= 2 * quotient), f"d=2^{bits}, eps={share} ln d")
    return "eps from ln(d)/10 to 3/2 ln d"


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
    ),
    ALP.verified(
        "Corollary 7.4, (1), space",
        "s ceil(t) = 4 k epsilon ceil(2 ln(d)/epsilon) bits are at most 20 k log2 d while epsilon "
        "<= 2 ln d.",
        "certified numerics",
        **varied(_bits, 2, 1000, "for every epsilon"),
        note="For epsilon above 2 ln d a single column already takes Theta(k epsilon) bits; the "
        "corollary lets epsilon grow without saying so.",
    ),
    ALP.verified(
        "Corollary 7.4, (2), space",
        "s ceil(2 ln(d)/epsilon) bits are O(e^epsilon k log(d)/epsilon) while epsilon <= 2 ln d.",
        "certified numerics",
        **varied(_bits_exponential, 2, 1000, "for every epsilon"),
    ),
)
