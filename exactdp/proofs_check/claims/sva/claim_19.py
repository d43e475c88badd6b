"""SVA, Claim 19 (Appendix C-B): the density ratio of the noisy bins, printed upside down."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.sva._model import bins, distance, hashes, sparse
from exactdp.proofs_check.claims.sva._tails import at_most
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_POINTS = tuple(Fraction(x, 2) for x in range(-6, 7, 3))
_SLACK = Fraction(1, 10**9)
_CENTRES = tuple(Fraction(x, 2) for x in (-3, 0, 2))


def _mass(centre: Fraction, low: Fraction, high: Fraction) -> arb:
    """P(centre + Lap(1) in [low, high]) through the distribution function."""
    return _cdf(high - centre) - _cdf(low - centre)


def _cdf(x: Fraction) -> arb:
    tail = ball(-abs(x)).exp() / 2
    return tail if x < 0 else 1 - tail


def _ratio(rate: Fraction) -> str:
    """Mean value: on an interval the ratio of masses lies between the extremes of the formula.

    The formula: exp(rate * (|x - B| - |x - B'|)), rate = -1 for Laplace densities of scale 1.
    """
    width = Fraction(1, 4)
    lows = [*_POINTS, *(centre - Fraction(1, 10) for centre in _CENTRES)]
    with precision(80):
        for x, here, there in product(lows, _CENTRES, _CENTRES):
            ratio = _mass(here, x, x + width) / _mass(there, x, x + width)
            turns = [y for y in (here, there) if x < y < x + width]  # linear in between
            ends = [rate * (abs(y - here) - abs(y - there)) for y in (x, x + width, *turns)]
            low, high = min(ends) - _SLACK, max(ends) + _SLACK
            case = f"B={here}, B'={there}, on [{x}, {x + width}]: log ratio of the masses"
            at_most(low, ratio.log(), f"{case} too small")
            at_most(ratio.log(), high, f"{case} too large")
    return f"{len(lows) * len(_CENTRES) ** 2} cases, masses from the distribution function"


def _worst(slack: Fraction) -> str:
    """The largest log ratio over x is the sum of |B_j - B'_j|, attained at x = B."""
    tried = 0
    for first, second in product(product(_CENTRES, repeat=2), repeat=2):
        logs = [
            sum(abs(x - c) for x, c in zip(point, second, strict=True))
            - sum(abs(x - c) for x, c in zip(point, first, strict=True))
            for point in product((*_POINTS, *_CENTRES), repeat=2)
        ]
        gap = distance(first, second)
        require(max(logs) == gap * slack, f"{first}, {second}: {max(logs)} against {gap * slack}")
        tried += 1
    return f"{tried} pairs of two bins, x over a grid that contains both"


def _contraction(stretch: Fraction) -> str:
    """Clipping moves two numbers no farther apart."""
    for v, w in product(sparse(3, 2, (-1, 0, 1))[::2], repeat=2):
        for f in hashes(3, 2)[::5]:
            raw = distance(bins(v, f, 2), bins(w, f, 2))
            clipped = distance(bins(v, f, 2, Fraction(1)), bins(w, f, 2, Fraction(1)))
            require(clipped <= raw * stretch, f"{v}, {w}: {raw} apart, {clipped} after clipping")
    return "pairs of 2-sparse vectors in three dimensions, b = 2, eta = 1"


CLAIMS = (
    SVA.verified(
        "Claim 19",
        "Given h and s, the largest density ratio of the noisy bins is exp((epsilon/"
        "Delta) sum of |B_j - B'_j|), so at most e^epsilon when that sum is at most Delta.",
        "enumeration",
        **varied(_worst, Fraction(1), Fraction(99, 100), "the exponent is 1 % smaller"),
        note="Delta is called lambda here, as is the security parameter elsewhere; in the failure "
        "event at the end the text compares the sum with delta instead",
    ),
    SVA.verified(
        "Claim 19, clipping",
        "Clipping does not increase the L1 distance of the bins.",
        "enumeration",
        **varied(_contraction, Fraction(1), Fraction(99, 100), "it shrinks it by 1 %"),
    ),
    Quibble(
        paper="SVA",
        item="Claim 19, proof, density ratio",
        statement="The ratio of the density of B + Lap to that of B' + Lap at x is the exponential "
        "of (epsilon/lambda)(|x - B| - |x - B'|).",
        printed=Printed(
            r"\frac{\prod_{j \in [b]} \exp(\frac{\epsilon}{\lambda} \|x - B_j\|)}{\prod_{j "
            r"\in [b]} \exp(\frac{\epsilon}{\lambda} \|x - B'_j\|)}",
            "Appendix C-B, Claim 19, proof, display",
            623,
        ),
        method="certified numerics",
        check=lambda: _ratio(Fraction(1)),
        example="""
>>> from math import exp                   # scale 1, B = 0, B' = 1, x = 0
>>> density = lambda y: exp(-abs(y)) / 2
>>> round(density(0 - 0) / density(0 - 1), 3)
2.718
>>> round(exp(abs(0 - 0) - abs(0 - 1)), 3)          # as printed
0.368
""",
        extraction="no: the minus sign is missing in three expressions in a row that agree; the "
        "final bound is symmetric and stands",
        note="A sign, and norm bars where absolute values are meant.",
        corrected=SVA.verified(
            "Claim 19, proof, density ratio, corrected",
            "The ratio is exp((epsilon/Delta)(|x - B'| - |x - B|)).",
            "certified numerics",
            **varied(_ratio, Fraction(-1), Fraction(-99, 100), "an exponent 1 % smaller"),
        ),
    ),
)
