"""CP, Sections 1 to 3: what is said about RIP of random sign matrices."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Mutant, Printed, Quibble, Refuted, require
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_ROWS = (*range(1, 41), 100, 200, 400)


def _failure(m: int) -> Fraction:
    """P(two random sign columns over sqrt(m) are not (2, 1/sqrt(2))-RIP), exactly.

    Their Gram matrix has eigenvalues 1 +- g, g = (m - 2h)/m with h ~ Binomial(m, 1/2). The bounds
    (1 -+ 1/sqrt(2))^2 = 3/2 -+ sqrt(2) ask for |g| <= sqrt(2) - 1/2.
    """
    half = Fraction(1, 2)
    bad = sum(comb(m, h) for h in range(m + 1) if (abs(Fraction(m - 2 * h, m)) + half) ** 2 > 2)
    return Fraction(bad, 2**m)


def _exponent(rate: Fraction | int, factor: int, rows: tuple[int, ...] = _ROWS) -> str:
    """P(failure) <= factor exp(-rate m) for two columns, at every listed m."""
    with precision(128):
        for m in rows:
            exact, bound = _failure(m), factor * (-ball(Fraction(rate)) * m).exp()
            case = f"k = 2 columns, m={m}: failure probability {float(exact):.4g}"
            require(exact >= Fraction(2, 2**m), f"{case} < 2^(1-m)")
            require(bool(ball(exact) <= bound), f"{case} > {bound.str(4)}")
    return f"{len(rows)} values of m up to {max(rows)}; never below 2^(1-m), where columns coincide"


def _enough_rows(inner: Fraction) -> str:
    """m = ceil(s log(inner k/s)) >= s: fewer rows leave any s columns linearly dependent.

    inner = e is tested through a rational number a little below e.
    """
    with precision(64):
        for k in range(1, 61):
            for s in range(1, k + 1):
                rows = s * ball(inner * k / s).log()
                case = f"s={s}, k={k}: {rows.str(4)} rows"
                require(bool(rows > s - 1), f"{case} leave {s} columns dependent")
    return "1 <= s <= k <= 60"


def _rows(inner: Fraction) -> str:
    """The same, and s log(k/s) rounded up is below s for s >= 4, k <= 2 s."""
    with precision(64):
        for s in range(4, 61):
            for k in range(s, 2 * s + 1):
                rows = s * ball(Fraction(k, s)).log()
                require(bool(rows <= s - 1), f"s={s}, k={k}: {rows.str(4)} rows are enough")
    return f"{_enough_rows(inner)}; 4 <= s <= 60, k <= 2s"


def _too_few(constants: tuple[int, ...]) -> str:
    """For each constant there is an s at which constant s log(k/s), k = s + 1, is below s."""
    with precision(128):
        for constant in constants:
            s = 2 * constant
            rows = constant * s * ball(Fraction(s + 1, s)).log()
            require(bool(rows < s), f"s={s}, k=s+1: {constant} s log(k/s) = {rows.str(5)}")
    return f"too few rows at s = {', '.join(str(2 * c) for c in constants)}"


def _vanishing(constant: int, inner: Fraction) -> str:
    """constant s log(inner k/s) rows are at least s, also for k = s + 1 and large s."""
    with precision(128):
        for j in range(1, 31):
            s = 2**j
            rows = constant * s * ball(inner * (s + 1) / s).log()
            require(bool(rows > s - 1), f"s=2^{j}, k=s+1: {constant} s log(k/s) = {rows.str(5)}")
    return "s up to 2^30, k = s + 1"


#: A little below e, so that what is enough with it is enough with e.
_E = Fraction(2_718_281_828, 10**9)

CLAIMS = (
    Refuted(
        paper="CP",
        item="Section 3, probability of RIP",
        statement="For m = O(s log(k/s)) rows a random sign matrix over sqrt(m) is "
        "(s, 1/sqrt(2))-RIP, s >= 2, with probability at least 1 - exp(-m).",
        note="only the constant in the exponent is wrong; the Omega of Theorem 3.6 absorbs it, as "
        "its log(k/delta) makes exp(-c m) small against delta",
        severity="cosmetic",
        printed=Printed(
            r"It is known that for $m \geq O(s \log \frac{k}{s})$, B satisfies $(s, "
            r"1/\sqrt{2})$ -RIP with probability $1 - e^{-m}$ (Baraniuk et al. 2008).",
            "Section 3, Guarantees on Random Matrices",
            229,
        ),
        method="enumeration",
        check=lambda: _exponent(1, 1, (100, 400)),
        example="""
>>> from math import exp
>>> m = 200                          # any m: two equal columns break RIP of every order s >= 2
>>> equal = 2.0 ** -m                # the probability that the first two columns are equal
>>> equal > exp(-m)
True
""",
        extraction="no: 1 - e^(-m) stands in Sections 1, 3 and 4 and in two theorems; the source "
        "has 1 - 2 exp(-cm) with a small constant c",
        corrected=CP.verified(
            "Section 3, probability of RIP, corrected",
            "The exponent is c m with c < ln 2: for two columns the failure "
            "probability lies between 2^(1-m) and 2 exp(-m/2).",
            "enumeration",
            **varied(_exponent, Fraction(1, 2), Fraction(55, 100), "and 2 exp(-0.55 m)", 2),
        ),
    ),
    Quibble(
        paper="CP",
        item="Section 2, rows for RIP",
        statement="m >= s log(k/s) rows make a random sign matrix RIP of order s with high "
        "probability (said without a constant, and with one in Sections 1 and 3).",
        printed=Printed(
            r"a Rademacher random matrix satisfies RIP with high probability if $m \geq s "
            r"\log \frac{k}{s}$",
            "Section 2, after property P2",
            93,
        ),
        method="certified numerics",
        check=lambda: _enough_rows(Fraction(1)),
        example="""
>>> from math import ceil, log
>>> s, k = 100, 200
>>> m = ceil(s * log(k / s))
>>> m < s                            # any s columns in R^m are dependent: B x = 0, x s-sparse
True
""",
        extraction="no: s log(k/s) without a constant here, with O or Omega elsewhere",
        note="A constant is meant, as Sections 1 and 3 say; that log(k/s) vanishes at s = k, where "
        "log(ek/s) is usual, matters only for s near k.",
        corrected=CP.verified(
            "Section 2, rows for RIP, corrected",
            "s log(ek/s) rounded up is at least s, the least number of rows for any RIP of order s "
            "(s log(k/s) rounded up is not, for s >= 4 and k <= 2s).",
            "certified numerics",
            **varied(_rows, _E, Fraction(26, 10), "log(2.6 k/s)"),
        ),
    ),
    CP.verified(
        "Section 2, rows for RIP, constant",
        "No constant repairs log(k/s): for k = s + 1 it gives fewer than s rows; "
        "log(ek/s) does not have this fault.",
        "certified numerics",
        check=lambda: f"{_too_few((1, 100, 10**6))}; {_vanishing(1, _E)}",
        mutant=Mutant("100 s log(k/s) rows are at least s", lambda: _vanishing(100, Fraction(1))),
        ours=True,
    ),
    CP.not_checkable(
        "Section 3, rows for RIP",
        "m = O(s log(k/s)) rows suffice for RIP of a random sign matrix.",
        "asymptotic with an unstated constant, cited; its necessary conditions are checked "
        "in the entries on Section 2",
        note="A is said to have n columns in Sections 1 and 3 (n is the number of samples "
        "elsewhere); it has k",
    ),
)
