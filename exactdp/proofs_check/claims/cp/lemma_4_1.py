"""CP, Lemma 4.1: privacy with sets of about m/e^epsilon elements."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._model import channel, privacy_factor
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_FACTORS = tuple(Fraction(e) for e in ("3/2", "2", "3", "4", "8", "16"))


def _pairs(e: Fraction, sizes: tuple[int, ...] = (8, 16)) -> list[tuple[int, int, int]]:
    """m and two sizes of sets within (1 +- 1) m/e, and neither empty nor everything."""
    return [
        (m, a, b) for m in sizes
        for a, b in product(range(1, min(int(2 * m / e), m - 1) + 1), repeat=2)
        if a < b
    ]  # fmt: skip


def _exact_channels(slope: Fraction) -> int:
    done = 0
    for e in _FACTORS:
        for m, a, b in _pairs(e)[::2]:
            beta = max(abs(n * e / m - 1) for n in (a, b))
            first = (1,) * a + (-1,) * (m - a)
            apart = (-1,) * (m - b) + (1,) * b
            factor = privacy_factor(channel((first, apart), e))
            with precision(128):
                holds = bool(ball(factor / e) < ball(slope * beta).exp())
            require(holds, f"m={m}, sizes {a}, {b}, e^eps={e}, beta={beta}: ratio {factor}")
            done += 1
    return done


def _quotient(x: arb) -> arb:
    """artanh(x)/x on balls within [0, 1/2]."""
    terms = sum((x ** (2 * j) / (2 * j + 1) for j in range(40)), arb(0))
    return terms + arb(0, 1) * ball(Fraction(1, 2**80))


def _lemma(slope: Fraction) -> str:
    """2 artanh(beta r) <= slope beta for beta in [0, 1] and r = (e-1)/(2e-1) in [0, 1/2]."""
    done = _exact_channels(slope)

    def room(beta: arb, r: arb) -> arb:
        return ball(slope) / 2 - r * _quotient(beta * r)

    parts = always_positive(room, [(0, 1), (0, Fraction(1, 2))])
    return f"{done} exact channels; a box of beta and (e-1)/(2e-1) in {parts} parts"


def _normalisers(shift: int) -> str:
    """((1+b)m/e (e-1) + m)/((1-b)m/e (e-1) + m) = (1 + b r)/(1 - b r), r = (e-1)/(2e-shift).

    e = 1 + x with x > 0; the normaliser rises with b, so the ends of [-beta, beta] are the worst.
    """
    import sympy

    x, b, m = sympy.symbols("x b m", positive=True)
    e = 1 + x
    upper = (1 + b) * m / e * (e - 1) + m
    r = (e - 1) / (2 * e - shift)
    require(bool(sympy.simplify(sympy.diff(upper, b)).is_positive), "it does not rise with b")
    half = sympy.simplify(sympy.Rational(1, 2) - r)
    require(bool(half.is_positive), f"1/2 - r = {half}")
    gap = sympy.simplify(upper / upper.subs(b, -b) - (1 + b * r) / (1 - b * r))
    require(gap == 0, f"the difference is {gap}")
    return "the difference simplifies to 0; r < 1/2"


CLAIMS = (
    CP.proved(
        "Lemma 4.1",
        "Sets of sizes within (1 +- beta)m/e^eps, 0 <= beta <= 1, make the mechanism "
        "(eps + 2 beta)-LDP, for every eps > 0.",
        "interval search",
        **varied(_lemma, Fraction(2), Fraction(105, 100), "(eps + 1.05 beta)-LDP"),
        note="unlike Lemma 2.1 this needs no bound on eps",
        slack="1.0986 is the best factor, see the entry on the constant",
    ),
    CP.proved(
        "Lemma 4.1, ratio of the normalisers",
        "The largest ratio of two normalisers is (1 + beta r)/(1 - beta r) with "
        "r = (e^eps - 1)/(2 e^eps - 1) < 1/2.",
        "symbolic",
        **varied(_normalisers, 1, 0, "r = (e^eps - 1)/(2 e^eps)"),
    ),
    CP.proved(
        "Lemma 4.1, constant",
        "(eps + 1.1 beta)-LDP holds as well: 2 artanh(1/2) = ln 3 = 1.0986.",
        "interval search",
        **varied(_lemma, Fraction(11, 10), Fraction(109, 100), "(eps + 1.09 beta)-LDP"),
        slack="decided without cutting the box: the quotient is monotone, and 1.0986 at its corner",
        ours=True,
    ),
)
