"""CP, Lemma 3.1: the error that comes from sets of unequal sizes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import beta_of, first_error, instances
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    plus,
    square,
    weights,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_FACTORS = HIGH_PRIVACY + MEDIUM_PRIVACY


def _sizes() -> list[tuple[int, int, Fraction]]:
    """m, n and beta = |2n/m - 1| below 1."""
    return [(m, n, abs(Fraction(2 * n, m) - 1)) for m in range(2, 13) for n in range(1, m)]


def _norm(share: Fraction) -> str:
    """|e_1| <= share beta/(1 - beta): from the exact channel, and for every size of one set."""
    for columns, e, p in instances(_FACTORS):
        beta, m = beta_of(columns), len(columns[0])
        if beta < 1:
            exact = square(first_error(columns, e, p)) / m
            require(exact <= (share * beta / (1 - beta)) ** 2, f"e^eps={e}, beta={beta}: {exact}")
    for (m, n, beta), e in product(_sizes(), (*_FACTORS[::3], Fraction(10**6))):
        column = ((1,) * n + (-1,) * (m - n),)
        exact = square(first_error(column, e, (Fraction(1),))) / m
        bound = (share * beta / (1 - beta)) ** 2
        case = f"m={m}, n={n}, beta={beta}, e^eps={e}: |e_1|^2 = {float(exact):.6g}"
        require(exact <= bound, f"{case} > {float(bound):.6g}")
    return "exact channels, and one set of every size for m <= 12"


def _twice(slope: Fraction) -> str:
    """slope beta - beta/(1 - beta) at beta = 1/2 - u, times (1 - beta)/beta: a polynomial in u."""
    import sympy as sp

    u = sp.symbols("u", nonnegative=True)
    beta = sp.Rational(1, 2) - u
    rest = (sp.Rational(slope) * beta - beta / (1 - beta)) * (1 - beta) / beta
    rest = sp.simplify(rest)
    constant = Fraction(str(rest.subs(u, 0)))
    require(bool(sp.diff(rest, u) > 0), f"it falls in u: {rest}")
    require(constant >= 0, f"beta = 1/2: {constant}")
    return "no negative coefficient in 1/2 - beta"


def _deviation(power: int) -> str:
    """|d' - 1| = |m/2 - n|(e-1)/(ne + m - n) <= beta (e-1)/((1-beta)^power (e+1))."""
    for (m, n, beta), e in product(_sizes(), _FACTORS):
        column = ((1,) * n + (-1,) * (m - n),)
        (d,) = weights(column, e)
        require(abs(d - 1) == abs(Fraction(m, 2) - n) * (e - 1) / (n * e + m - n), f"m={m}, n={n}")
        bound = beta * (e - 1) / ((1 - beta) ** power * (e + 1))
        require(abs(d - 1) <= bound, f"m={m}, n={n}, e^eps={e}: {abs(d - 1)} > {bound}")
    return "every size for m <= 12, nine values of eps"


def _first_display(share: Fraction) -> str:
    """|e_1| <= share (e+1)/(e-1) sum |d'_i - 1| p_i, from the exact channel."""
    for columns, e, p in instances(_FACTORS):
        d = weights(columns, e)
        exact = square(first_error(columns, e, p)) / len(columns[0])
        total = sum((abs(a - 1) * b for a, b in zip(d, p, strict=True)), Fraction(0))
        require(exact <= (share * (e + 1) / (e - 1) * total) ** 2, f"e^eps={e}, p={p}")
    return "exact channels; equality where all mass lies on one value"


def _tight(extra: Fraction) -> str:
    """|e_1| <= beta/(1 - beta t): sharper, attained by sets with n = (1 - beta) m/2."""
    for (m, n, beta), e in product(_sizes(), _FACTORS):
        column = ((1,) * n + (-1,) * (m - n),)
        t = (e - 1) / (e + 1)
        exact = square(first_error(column, e, (Fraction(1),))) / m
        bound = beta / (1 - extra * beta * t)
        require(exact <= bound**2, f"m={m}, n={n}, e^eps={e}")
        if 2 * plus(column[0]) < m and extra == 1:
            require(exact == bound**2, f"m={m}, n={n}, e^eps={e}: not attained")
    return "every size for m <= 12; equality for sets smaller than m/2"


CLAIMS = (
    CP.verified(
        "Lemma 3.1",
        "For sets of sizes within (1 +- beta)m/2, |e_1|_2 <= beta/(1 - beta).",
        "enumeration",
        **varied(_norm, Fraction(1), Fraction(98, 100), "0.98 of it"),
        note="holds for every eps; sharp only as eps grows, see the tight form",
    ),
    CP.proved(
        "Lemma 3.1, second inequality",
        "beta/(1 - beta) <= 2 beta for 0 < beta < 1/2.",
        "symbolic",
        **varied(_twice, Fraction(2), Fraction(196, 100), "<= 1.96 beta"),
    ),
    CP.verified(
        "Lemma 3.1, proof, first display",
        "|e_1|_2 <= (e^eps+1)/(e^eps-1) sum_i |d'_i - 1| p_i.",
        "enumeration",
        **varied(_first_display, Fraction(1), Fraction(98, 100), "0.98 of it"),
    ),
    CP.verified(
        "Lemma 3.1, proof, second display",
        "|d'_i - 1| = |m/2 - n_i|(e^eps-1)/(n_i e^eps + m - n_i), which is at most "
        "beta(e^eps-1)/((1-beta)(e^eps+1)).",
        "enumeration",
        **varied(_deviation, 1, 0, "without the factor 1 - beta"),
        note="the middle line's denominator may have +beta m/2 in place of -beta m/2; as printed "
        "it is a weaker, still valid bound",
    ),
    CP.verified(
        "Lemma 3.1, tight form",
        "Sharper: |e_1|_2 <= beta/(1 - beta t), t = (e^eps-1)/(e^eps+1), attained.",
        "enumeration",
        **varied(_tight, Fraction(1), Fraction(98, 100), "with 0.98 t in place of t"),
        ours=True,
    ),
)
