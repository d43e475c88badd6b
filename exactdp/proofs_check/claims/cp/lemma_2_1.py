"""CP, Lemma 2.1: the privacy of the mechanism when the sets have nearly equal sizes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    Columns,
    channel,
    plus,
    privacy_factor,
)
from exactdp.proofs_check.entries import CP, elsewhere, varied

__all__ = ["CLAIMS"]

#: Just above tanh(1/2), the value of (e^epsilon - 1)/(e^epsilon + 1) at epsilon = 1.
_TANH_HALF = Fraction(46212, 100_000)


def _pairs(sizes: tuple[int, ...] = (2, 3, 5, 10)) -> Iterator[tuple[Columns, Fraction]]:
    """Two sets of every pair of sizes, once nested and once as disjoint as they can be; beta."""
    for m in sizes:
        for a, b in product(range(1, m), repeat=2):
            beta = max(abs(Fraction(2 * n, m) - 1) for n in (a, b))
            first = tuple(1 if y < a else -1 for y in range(m))
            nested = tuple(1 if y < b else -1 for y in range(m))
            apart = tuple(1 if y >= m - b else -1 for y in range(m))
            yield (first, nested), beta
            yield (first, apart), beta


def _at_most(factor: Fraction, e: Fraction, extra: Fraction) -> bool:
    """factor <= e exp(extra), decided exactly (exp of a rational other than 0 is irrational)."""
    if not extra:
        return factor <= e
    with precision(256):
        return bool(ball(factor / e) < ball(extra).exp())


def _case(columns: Columns, e: Fraction, factor: Fraction, beta: Fraction) -> str:
    sizes = [plus(c) for c in columns]
    return f"m={len(columns[0])}, sizes {sizes}, e^eps={e}, beta={beta}: largest ratio {factor}"


def _exact_channels(factors: tuple[Fraction, ...], slope: Fraction) -> int:
    done = 0
    for (columns, beta), e in product(_pairs(), factors):
        factor = privacy_factor(channel(columns, e))
        require(_at_most(factor, e, slope * beta), _case(columns, e, factor, beta))
        done += 1
    return done


def _artanh_quotient(x: arb) -> arb:
    """artanh(x)/x on balls within [0, 0.51]: forty terms of the series, and the rest as a ball."""
    terms = sum((x ** (2 * j) / (2 * j + 1) for j in range(40)), arb(0))
    rest = ball(Fraction(51, 100)) ** 80 / (81 * (1 - ball(Fraction(51, 100)) ** 2))
    return terms + arb(0, 1) * rest


def _lemma(slope: Fraction) -> str:
    """The normalisers differ by 2 artanh(beta t), t = tanh(eps/2), at most slope beta."""
    done = _exact_channels(HIGH_PRIVACY, slope)

    def room(beta: arb, t: arb) -> arb:
        return ball(slope) / 2 - t * _artanh_quotient(beta * t)

    parts = always_positive(room, [(0, 1), (0, _TANH_HALF)])
    return f"{done} exact channels; 2 artanh(beta t) < {slope} beta on a box in {parts} parts"


def _proportional(rate: Fraction) -> str:
    """ratio <= e^((1 + rate beta) eps): with beta = a/b a comparison of b-th powers."""
    done = 0
    for (columns, beta), e in product(_pairs(), HIGH_PRIVACY + MEDIUM_PRIVACY):
        factor = privacy_factor(channel(columns, e))
        power = rate * beta
        holds = (factor / e) ** power.denominator <= e**power.numerator
        require(holds, _case(columns, e, factor, beta))
        done += 1
    return f"{done} exact channels; artanh is convex from 0, so 2 artanh(beta t) <= beta eps"


def _logarithm(slope: Fraction) -> str:
    """slope x - ln(1 + x) has one stationary point, a minimum; its value there must not be < 0."""
    import sympy

    x = sympy.symbols("x", real=True)
    gap = sympy.Rational(slope.numerator, slope.denominator) * x - sympy.log(1 + x)
    (place,) = sympy.solve(sympy.diff(gap, x), x)
    bend = sympy.simplify(sympy.diff(gap, x, 2) - 1 / (1 + x) ** 2)
    require(bend == 0 and place > -1, f"second derivative off by {bend}, stationary at {place}")
    least = sympy.simplify(gap.subs(x, place))
    require(bool(least >= 0), f"at x = {place} the difference is {least}")
    return f"convex on x > -1, least value {least} at x = {place}; here x = 2 beta"


def _beyond_one(most: Fraction) -> str:
    """(1 + beta) eps-LDP for every e^eps tried; (eps + 2 beta)-LDP for those up to `most`."""
    small = (most, *(e for e in HIGH_PRIVACY + MEDIUM_PRIVACY if e <= most))
    done = _exact_channels(small, Fraction(2))
    return f"{_proportional(Fraction(1))}; (eps + 2 beta)-LDP in {done}"


def _normalisers(sign: int) -> str:
    """((1+b)m e/2 + m - (1+b)m/2)/((1-b)...) = (1 + b t)/(1 - b t), as polynomials.

    e = 1 + x with x > 0; the normaliser rises with b, so the ends of [-beta, beta] are the worst.
    """
    import sympy

    x, b, m = sympy.symbols("x b m", positive=True)
    e = 1 + x
    t = (e - 1) / (e + sign)
    upper = (1 + b) * m / 2 * e + m - (1 + b) * m / 2
    require(bool(sympy.simplify(sympy.diff(upper, b)).is_positive), "it does not rise with b")
    lower = upper.subs(b, -b)
    gap = sympy.simplify(upper / lower - (1 + b * t) / (1 - b * t))
    require(gap == 0, f"the difference is {gap}")
    return "the difference simplifies to 0"


def _half(bound: Fraction) -> str:
    """tanh(eps/2) < bound on [0, 1]."""

    def room(eps: arb) -> arb:
        return ball(bound) - (eps / 2).tanh()

    return f"eps in [0, 1] in {always_positive(room, [(0, 1)])} parts"


def _last_fraction(slope: Fraction) -> str:
    """(1 + slope b)(1 - b/2) - (1 + b/2) = b (slope - 1 - slope b/2) >= 0 for b in [0, 1]."""
    import sympy

    b, rate = sympy.symbols("b", positive=True), sympy.Rational(slope.numerator, slope.denominator)
    gap = (1 + rate * b) * (1 - b / 2) - (1 + b / 2)
    require(sympy.expand(gap - b * (rate - 1 - rate * b / 2)) == 0, f"the difference is {gap}")
    at_ends = [slope - 1 - slope * end / 2 for end in (Fraction(0), Fraction(1))]
    require(min(at_ends) >= 0, f"at beta = 1 the second factor is {at_ends[1]}")
    return "linear in beta after dividing by beta, and >= 0 at both ends"


def _three_epsilon(multiple: Fraction) -> str:
    """With beta = epsilon: e^(eps + 2 eps); sets of sizes m(1 -+ beta)/2, at beta = j/20."""
    for j in range(1, 21):
        beta, m = Fraction(j, 20), 40
        with precision(256):
            e = ball(beta).exp()
            ratio = e * (1 + ball(beta) * (e - 1) / (e + 1)) / (1 - ball(beta) * (e - 1) / (e + 1))
            require(bool(ratio.log() < ball(multiple * beta)), f"eps = beta = {beta}, m = {m}")
    return "eps = beta = 1/20, ..., 1"


def _rescaling(factor: Fraction) -> str:
    """coth(x/3)/coth(x) <= factor for x = eps/2 in (0, 1/2]."""
    for j in range(1, 201):
        with precision(128):
            x = ball(Fraction(j, 400))
            quotient = x.tanh() / (x / 3).tanh()
            require(bool(quotient < ball(factor)), f"eps = {j}/200: factor {quotient.str(8)}")
    return "tanh(3u) = (3T + T^3)/(1 + 3T^2) < 3T for T = tanh u > 0; and 200 values of eps"


CLAIMS = (
    CP.proved(
        "Lemma 2.1",
        "For 0 < eps <= 1 and 0 <= beta <= 1, sets of sizes within (1 +- beta)m/2 make "
        "the mechanism (2) (eps + 2 beta)-LDP, even (eps + 1.001 beta)-LDP.",
        "interval search",
        **varied(_lemma, Fraction(1001, 1000), Fraction(99, 100), "even (eps + 0.99 beta)-LDP"),
        note="eps <= 1 is the paper's standing assumption and is used in the proof",
        slack="decided without cutting the box: the bound is monotone, and 1.00001 at its corner",
    ),
    CP.verified(
        "Lemma 2.1, beyond epsilon 1",
        "For every eps > 0 and 0 <= beta < 1 the mechanism is (1 + beta) eps-LDP, hence "
        "(eps + 2 beta)-LDP for eps <= 2 and 2 eps-LDP whatever the sets are.",
        "enumeration",
        **elsewhere(
            "the mutant is about one more epsilon",
            varied(
                _beyond_one,
                Fraction(7389, 1000),
                Fraction(11),
                "(eps + 2 beta)-LDP also at eps = ln 11",
            ),
        ),
        note="an extension: the lemma is for eps <= 1. For eps = ln 64 and sizes 1 and 11 of 12 "
        "(beta = 5/6) the largest ratio exceeds e^(eps + 2 beta)",
        ours=True,
    ),
    CP.proved(
        "Lemma 2.1, proof, ratio of the normalisers",
        "The largest ratio of two normalisers is (1 + beta t)/(1 - beta t) with "
        "t = (e^eps - 1)/(e^eps + 1).",
        "symbolic",
        **varied(_normalisers, 1, 2, "t = (e^eps - 1)/(e^eps + 2)"),
        note="the text's maximum over y in [k] is over y in [m]",
    ),
    CP.proved(
        "Lemma 2.1, proof, t at most one half",
        "(e^eps - 1)/(e^eps + 1) <= 1/2 for eps in (0, 1), even 0.463.",
        "interval search",
        **varied(_half, Fraction(463, 1000), Fraction(462, 1000), "even 0.462"),
        slack="decided without cutting the interval; tanh(1/2) = 0.46212",
    ),
    CP.proved(
        "Lemma 2.1, proof, last inequality",
        "(1 + beta/2)/(1 - beta/2) <= 1 + 2 beta for 0 <= beta <= 1.",
        "symbolic",
        **varied(_last_fraction, Fraction(2), Fraction(196, 100), "<= 1 + 1.96 beta"),
    ),
    CP.proved(
        "Lemma 2.1, proof, logarithm",
        "ln(1 + x) <= x for x > -1, so that (1 + 2 beta) e^eps <= e^(eps + 2 beta).",
        "symbolic",
        **varied(_logarithm, Fraction(1), Fraction(98, 100), "ln(1 + x) <= 0.98 x"),
        slack="the least value is exactly 0, at x = 0",
    ),
    CP.verified(
        "Section 2, 3 epsilon-LDP",
        "With beta = eps in Lemma 2.1 the mechanism is 3 eps-LDP, for 0 < eps <= 1, even "
        "2.001 eps-LDP.",
        "certified numerics",
        **varied(_three_epsilon, Fraction(2001, 1000), Fraction(199, 100), "even 1.99 eps-LDP"),
        note="the loss is eps + 2 artanh(eps tanh(eps/2)) <= 2 eps. P1 asks for beta <= eps/2, the "
        "text here has beta <= eps",
    ),
    CP.verified(
        "Section 2, rescaling epsilon",
        "Running with eps/3 in place of eps multiplies the noise (e^eps+1)/(e^eps-1) by "
        "less than 3, hence the number of samples by less than 9.",
        "certified numerics",
        **varied(_rescaling, Fraction(3), Fraction(295, 100), "by less than 2.95"),
    ),
)
