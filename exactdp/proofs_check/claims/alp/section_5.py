"""ALP, Section 5, running text: the ratio of the epsilons, and why entries are rounded."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, elsewhere, varied

__all__ = ["CLAIMS"]


def _ratio(power: int) -> str:
    """2 ln(d) eps2/(eps1 alpha) grows linearly with eps2/eps1: m doubles up to one column."""
    for d, alpha, ratio in product((10, 1000), (1, 3), (1, 2, 8)):
        with precision(64):
            plain = 2 * ball(d).log() / alpha
            m = (plain * ratio).ceil()
            expected = plain * ratio**power
            require(bool(abs(m - expected) <= 1), f"d={d}, alpha={alpha}, ratio {ratio}: m={m}")
    return "d = 10, 1000, alpha = 1, 3, ratios 1, 2, 8"


def _constants(least: Fraction) -> str:
    """min over alpha of (1/2 + 2 (4 alpha + 4)/alpha^2) alpha, no collisions, against 1."""
    import sympy as sp

    a = sp.symbols("alpha", positive=True)
    constant = (sp.Rational(1, 2) + 2 * (4 * a + 4) / a**2) * a
    (at,) = sp.solve(sp.diff(constant, a), a)
    found = constant.subs(a, at)
    require(found == sp.Rational(least), f"minimum {found} at alpha = {at}")
    return (
        f"the bound is {found}/eps at alpha = {at}, s = infinity; the Laplace mechanism has 1/eps"
    )


def _changed(real: bool) -> str:
    """Neighbours with a zero entry in one of them only: how many positions can that be?"""
    unit = Fraction(1, 3) if real else Fraction(1)
    grid = [n * unit for n in range(4)]
    worst = 0
    for x, y in product(product(grid, repeat=3), repeat=2):
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1:
            changes = sum((a == 0) != (b == 0) for a, b in zip(x, y, strict=True))
            worst = max(worst, changes)
    require(worst <= 1, f"{worst} entries change between zero and nonzero")
    return "three integer entries; three entries in steps of 1/3 can all change"


CLAIMS = (
    ALP.verified(
        "Section 5, ratio of the epsilons",
        "The number of columns scales with epsilon2/epsilon1.",
        "certified numerics",
        **varied(_ratio, 1, 2, "with its square"),
    ),
    ALP.proved(
        "Section 5, constant factors",
        "The Laplace mechanism has the lower constant: the bound for the projection is never below "
        "12/epsilon, at alpha = 4 without collisions.",
        "symbolic",
        **varied(_constants, Fraction(12), Fraction(59, 5), "the minimum is 11.8"),
    ),
    ALP.verified(
        "Section 5.1, discrete setting",
        "Between integer neighbours at most one entry changes from zero to nonzero; between real "
        "ones several can.",
        "enumeration",
        **elsewhere(
            "the mutant speaks of real vectors",
            varied(_changed, False, True, "at most one between real neighbours"),
        ),
    ),
)
