"""CP, Theorem 4.2: the error bound in the medium privacy regime."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.cp._instances import instances
from exactdp.proofs_check.claims.cp._medium import (
    deviation,
    inverse_weight,
    noise_square,
    weight,
)
from exactdp.proofs_check.claims.cp._model import empirical_laws, output, square
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_FACTORS = tuple(Fraction(x) for x in ("1.1", "2", "2.72", "3", "4", "10", "100", "1000000"))
_GRID = tuple(Fraction(j, 20) for j in range(1, 20))


def _first_error(slope: Fraction, most: Fraction) -> str:
    """|d' - 1| <= slope beta for n within (1 +- beta) m/e, beta <= most (1: the empty set)."""
    for e, b in product(_FACTORS, (*_GRID, Fraction(1))):
        if b > most:
            continue
        worst = max(deviation(b, e), deviation(-b, e))
        require(worst <= slope * b, f"beta={b}, e^eps={e}: |d' - 1| = {worst}, bound {slope * b}")
    # n = (1 - b) m/e is the worst: r/(1 - b r) with r = (e-1)/(2e-1) < 1/2 grows in r and b
    limit = Fraction(1, 2) / (1 - most / 2)
    require(limit <= slope, f"beta={most}, e^eps to infinity: |d' - 1| = {limit * most}")
    return f"{len(_FACTORS)} values of eps; limit of r/(1 - beta r) at r = 1/2: {limit}"


def _weights_agree(m: int) -> str:
    for e in _FACTORS:
        for n in range(1, m):
            b = n * e / m - 1
            require(weight(m, n, e) * inverse_weight(b, e) == 1, f"m={m}, n={n}, e^eps={e}")
    return f"m={m}, every size"


def _projection_factor(half: Fraction) -> str:
    """max 1/d' = 1 + beta r <= 1 + half beta for n <= (1 + beta) m/e."""
    agreed = _weights_agree(12)
    for e, b in product(_FACTORS, _GRID):
        found = inverse_weight(b, e)
        require(found == 1 + b * (e - 1) / (2 * e - 1), f"beta={b}, e^eps={e}: {found}")
        require(found <= 1 + half * b, f"beta={b}, e^eps={e}: 1/d' = {found}")
    return f"{agreed}; {len(_FACTORS)} values of eps, 19 of beta"


def _tail_factor(constant: Fraction) -> str:
    """(1 + b r)/(1 - b r) <= constant (1 + b/2)^2 for b <= 1/2, r <= 1/2: r = b = 1/2 decides.

    The left side grows with r, and at r = 1/2 the quotient is 1/(1 - b^2/4), which grows with b.
    """
    import sympy as sp

    b, r = sp.symbols("b r", positive=True)
    factor = (1 + b * r) / (1 - b * r)
    require(sp.simplify(sp.diff(factor, r) - 2 * b / (1 - b * r) ** 2) == 0, "slope in r")
    quotient = factor.subs(r, sp.Rational(1, 2)) / (1 + b / 2) ** 2
    require(sp.simplify(quotient - 1 / (1 - b**2 / 4)) == 0, "quotient at r = 1/2")
    rise = sp.diff(1 / (1 - b**2 / 4), b) - (b / 2) / (1 - b**2 / 4) ** 2
    require(sp.simplify(rise) == 0, "slope in b")
    most = Fraction(str(quotient.subs(b, sp.Rational(1, 2))))
    require(most <= constant, f"beta=1/2, e^eps to infinity: {most} > {constant}")
    return f"identities; the largest quotient is {most}"


def _second_error() -> str:
    """E|e_2|^2 <= g^2 m/n for e_2 = g sqrt(m) (q_hat - q), over every outcome of two reports."""
    n, done = 2, 0
    for columns, e, p in instances(_FACTORS[1:4]):
        q, m = output(columns, e, p), len(columns[0])
        spread = Fraction(0)
        for chance, seen in empirical_laws(q, n):
            spread += chance * square([a - b for a, b in zip(seen, q, strict=True)])
        exact, bound = noise_square(e) * m * spread, noise_square(e) * m / n
        require(exact <= bound, f"m={m}, e^eps={e}, p={p}: E|e_2|^2 = {exact} > {bound}")
        require(exact == bound * (1 - square(q)), f"m={m}, e^eps={e}, p={p}: {exact}")
        done += 1
    return f"{done} laws of two reports summed out"


def _bound(slope: Fraction) -> str:
    """The two error terms and the two factors of the bound, one by one."""
    parts = (
        _second_error(),
        _projection_factor(Fraction(1, 2)),
        _tail_factor(Fraction(16, 15)),
        _first_error(slope, Fraction(1, 2)),
    )
    return "; ".join(parts)


def _tail_probability(m: int, e: Fraction, beta: Fraction) -> Fraction:
    """P(|n - m/e| > beta m/e) for n ~ Binomial(m, 1/e), e an integer."""
    mean, others = m / e, e.numerator - 1
    far = (n for n in range(m + 1) if abs(n - mean) > beta * mean)
    return Fraction(sum(comb(m, n) * others ** (m - n) for n in far), e.numerator**m)


def _chernoff(divisor: Fraction) -> str:
    """P(|n - m/e| > beta m/e) <= 2 exp(-beta^2 m/(divisor e))."""
    done = 0
    for e, m in ((Fraction(3), 30), (Fraction(4), 120), (Fraction(20), 2000)):
        for beta in (Fraction(1, 5), Fraction(2, 5), Fraction(7, 10), Fraction(99, 100)):
            exact = _tail_probability(m, e, beta)
            with precision(64):
                bound = 2 * (-ball(beta * beta * m / (divisor * e))).exp()
                require(bool(ball(exact) <= bound), f"m={m}, e^eps={e}, beta={beta}: "
                        f"{float(exact):.4g} > {bound.str(4)}")  # fmt: skip
            done += 1
    return f"{done} exact binomial tails"


CLAIMS = (
    Conditional(
        paper="CP",
        item="Theorem 4.2",
        statement="The expected l2 error is at most D(1+beta/2)((2/3)beta + sqrt(m/n)) (2e^eps-1)/"
        "(e^eps-1)^(3/2) + (1+beta/2)^2 (C/sqrt(s))|p - [p]_s|_1, with C = 16 C'/15.",
        outcome="verified",
        method="enumeration",
        condition="beta <= 1/2, and recovery within (C'/sqrt(s))|p' - [p']_s|_1 + D|e_1 + e_2|, "
        "for which the standardised matrix must be RIP of order 2s: the theorem neither assumes it"
        " nor counts it in its probability",
        rests_on="CP-Section-4-rows-for-RIP",
        **varied(_bound, Fraction(2, 3), Fraction(65, 100), "0.65 beta in place of (2/3) beta"),
        note="the two error terms and the two factors are checked one by one",
    ),
    CP.not_checkable(
        "Theorem 4.2, recovery",
        "The recovery guarantee holds with the stated probability 1 - 2k exp(-beta^2 m/(3 e^eps)).",
        "the statement has no condition on m that makes the standardised matrix RIP, nor "
        "the probability that it is not; its constants C and D are not given",
    ),
    Conditional(
        paper="CP",
        item="Theorem 4.2, first error term",
        statement="The unequal sizes contribute at most |e_1|_2 <= (2/3) beta (2e^eps-1)/(e^eps-1)^"
        "(3/2), that is |d'_i - 1| <= (2/3) beta, for every eps.",
        outcome="verified",
        method="enumeration",
        condition="beta <= 1/2, as in Lemma 3.1; Theorem 4.2 does not repeat it, Lemma 4.1 has "
        "beta <= 1",
        **varied(_first_error, Fraction(2, 3), Fraction(65, 100), "0.65 beta", Fraction(1, 2)),
        note="2/3 is the value of (1/2)/(1 - beta/2) at beta = 1/2; at beta = 1 an empty set has "
        "|d' - 1| = 9/10 for e^eps = 10.",
    ),
    CP.verified(
        "Theorem 4.2, factor 1 + beta/2",
        "max 1/d'_i <= 1 + beta (e^eps-1)/(2e^eps-1) <= 1 + beta/2 for every eps.",
        "enumeration",
        **varied(_projection_factor, Fraction(1, 2), Fraction(49, 100), "1 + 0.49 beta"),
    ),
    CP.proved(
        "Theorem 4.2, factor of the tail term",
        "As in Theorem 3.4 the scaling of the tail is max d'_i, not max 1/d'_i; the "
        "square (1+beta/2)^2 then needs C enlarged by at most 16/15 for beta <= 1/2.",
        "symbolic",
        **varied(_tail_factor, Fraction(16, 15), Fraction(1), "not enlarged"),
        ours=True,
    ),
    CP.verified(
        "Theorem 4.2, probability",
        "One column has n within (1 +- beta)m/e^eps except with probability "
        "2 exp(-beta^2 m/(3 e^eps)), 0 < beta <= 1, in these cases even with 2.2 in place of 3.",
        "enumeration",
        **varied(_chernoff, Fraction(22, 10), Fraction(215, 100), "even with 2.15 in place of 3"),
    ),
)
