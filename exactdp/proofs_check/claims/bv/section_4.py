"""BV, Section 4.1: the two-sided geometric law, Algorithm 2 and the length of its integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import clamped_geometric, geo, pmf
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_RATIOS = (Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(32, 33), Fraction(1, 100))


def _mass(numerator: Fraction) -> str:
    """sum over z of (E - 1)/(E + 1) E^-|z| = 1, E = e^(1/s)."""
    import sympy

    e = sympy.symbols("E", positive=True)
    tail = 1 / (e - 1)  # sum of E^-k over k >= 1, E > 1
    total = sympy.simplify((e - sympy.Rational(numerator)) / (e + 1) * (1 + 2 * tail))
    require(total == 1, f"the masses sum to {total}")
    return "geometric series, E = e^(1/s) > 1"


def _distribution(lead: int) -> str:
    """F(z) - F(z - 1) = f(z) in the three cases z <= c, z = c + 1, z > c + 1; limits."""
    import sympy

    e = sympy.symbols("E", positive=True)
    k = sympy.symbols("k", integer=True)

    def lower(j: Any) -> Any:
        return e**lead / (e + 1) * e**j

    def upper(j: Any) -> Any:
        return 1 - e ** (-j) / (e + 1)

    for name, part in (("F/E^z", lower(k) / e**k), ("(1 - F) E^z", (1 - upper(k)) * e**k)):
        require(sympy.diff(sympy.simplify(part), k) == 0, f"{name} depends on z: {part}")
    mass = (e - 1) / (e + 1)
    cases = (
        ("z <= c", lower(k) - lower(k - 1) - mass * e**k),
        ("z = c + 1", upper(1) - lower(0) - mass / e),
        ("z > c + 1", upper(k) - upper(k - 1) - mass * e ** (-k)),
    )
    for name, rest in cases:
        left = sympy.simplify(rest)
        require(left == 0, f"{name}: F(z) - F(z-1) - f(z) = {left}")
    return "three cases; F and 1 - F are multiples of E^z and E^-z, which vanish at the ends"


def _clamped(last: int) -> str:
    """P(c~ <= z) = F_Z(z) for z < n and 1 at n, for every c."""
    for q, n in product(_RATIOS, (1, 2, 3, 6)):
        for c in range(n + 1):
            law = clamped_geometric(n, q, c)
            require(sum(law) == 1, f"q={q}, n={n}, c={c}: total {sum(law)}")
            for z in range(n + last):
                exact, stated = sum(law[: z + 1]), _cdf(q, z - c)
                require(exact == stated, f"q={q}, n={n}, c={c}, z={z}: {exact}, F = {stated}")
    return f"{len(_RATIOS)} ratios, n <= 6, every c and z < n"


def _cdf(q: Fraction, k: int) -> Fraction:
    return q ** (-k) / (1 + q) if k <= 0 else 1 - q ** (k + 1) / (1 + q)


def _truncated(most: float) -> str:
    """Clamped counts keep the ratio 1/q; noise cut to [-t, t] and not clamped has the ratio most.

    A long execution is cut short: its noise is beyond some t and drawn anew.
    """
    q, n = Fraction(2, 3), 12
    for c, t in product(range(n), range(1, 6)):
        clamped = [Law(dict(enumerate(clamped_geometric(n, q, x)))) for x in (c, c + 1)]
        require(max_loss(*clamped) == 1 / q, f"c={c}: ratio {max_loss(*clamped)}")
        ratio = max_loss(*(_cut(q, x, t) for x in (c, c + 1)))
        require(ratio == most, f"c={c}, noise within {t}: ratio {ratio}")
    return "n = 12, every c, t <= 5: c - t is impossible for c + 1"


def _cut(q: Fraction, c: int, t: int) -> Law[int]:
    kept = {c + k: pmf(q, k) for k in range(-t, t + 1)}
    return Law({z: p / sum(kept.values()) for z, p in kept.items()})


def _bits(least: Fraction) -> str:
    """log2 d >= n log2(1 + 2^b) >= n log2(3): GeoSample's integers have at least 1.58 n bits."""
    for n, inverse in product((1, 2, 5, 40, 300), (1, 2, 3, 10)):
        d = geo(n, inverse).cdf(0).denominator
        with precision(128):
            bits = ball(d).log() / ball(2).log()
            case = f"n={n}, epsilon=1/{inverse}: log2 d = {bits.str(5)}"
            require(bool(bits >= ball(least * n)), f"{case} < {float(least * n)}")
    return "n <= 300"


CLAIMS = (
    BV.proved(
        "Section 4.1, mass function of Geo(s)",
        "f(z) = (e^(1/s) - 1)/(e^(1/s) + 1) e^(-|z - c|/s) sums to 1.",
        "symbolic",
        **varied(_mass, Fraction(1), Fraction(101, 100), "with e^(1/s) - 1.01 in the numerator"),
    ),
    BV.proved(
        "Section 4.1, distribution function of Geo(s)",
        "F(z) = e^(1/s)/(e^(1/s) + 1) e^(-(c-z)/s) for z <= c, and "
        "1 - e^(-(z-c)/s)/(e^(1/s) + 1) above.",
        "symbolic",
        **varied(_distribution, 1, 0, "without e^(1/s) in the first line"),
    ),
    BV.verified(
        "Algorithm 2",
        "The clamped noisy count has the distribution function of the noise below n, and 1 at n.",
        "enumeration",
        **varied(_clamped, 0, 1, "that of the noise at n, too"),
        note="the header of the algorithm is damaged in the text; its displayed formula is not",
    ),
    BV.verified(
        "Section 1, truncating long executions",
        "Clamping to [0, n] keeps the ratio e^(epsilon/2) of neighbouring counts, while noise cut "
        "to a fixed range makes some output impossible for one of them: the ratio is infinite.",
        "enumeration",
        **varied(_truncated, inf, 1.5, "cut noise has the ratio e^(epsilon/2), too"),
    ),
    BV.verified(
        "Section 4.2, bit length",
        "The denominator d of GeoSample has log2 d >= 1.58 n.",
        "exact law",
        **varied(_bits, Fraction(158, 100), Fraction(159, 100), "log2 d >= 1.59 n"),
        note="for the shipped construction",
    ),
)
