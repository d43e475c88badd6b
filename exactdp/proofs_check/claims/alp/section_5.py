"""ALP, Section 5, running text: the ratio of the epsilons, and why entries are rounded."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.mechanisms.projections.combined import ThresholdALP
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _levels(d: int, epsilon1: int, ratio: int) -> int:
    """The columns of the sketch that the library makes."""
    of = ThresholdALP(d=d, k=10, s=40, u=10**4, epsilon1=epsilon1, epsilon2=ratio * epsilon1)
    return of.sketch.levels


def _ratio(power: int) -> str:
    """A ratio r in place of 1 takes r^power as many columns, less r^power - 1 by rounding up."""
    seen = []
    for d, ratio in product((1000, 10**6), (2, 4, 8)):
        one, more = _levels(d, 1, 1), _levels(d, 1, ratio)
        times = ratio**power
        case = f"d={d}: {one} columns at ratio 1, {more} at {ratio}"
        require(_levels(d, 2, ratio) == more, f"{case}, another number at epsilon1 = 2")
        require(times * (one - 1) < more <= times * one, case)
        seen.append(f"{one} to {more}")
    return "shipped sketches, ratios 2, 4, 8, epsilon1 = 1, 2: " + ", ".join(seen)


def _constants(least: Fraction) -> str:
    """min over alpha of (1/2 + 2 (4 alpha + 4)/alpha^2) alpha, no collisions, against 1."""
    import sympy as sp

    a = sp.symbols("alpha", positive=True)
    constant = (sp.Rational(1, 2) + 2 * (4 * a + 4) / a**2) * a
    require(bool(sp.simplify(sp.diff(constant, a, 2)).is_positive), "it is not convex")
    (at,) = sp.solve(sp.diff(constant, a), a)
    found = constant.subs(a, at)
    require(bool(sp.simplify(sp.diff(constant, a, 2)).is_positive), "not convex in alpha")
    require(at == 4, f"smallest at alpha = {at}")
    require(found == sp.Rational(least), f"minimum {found} at alpha = {at}")
    return (
        f"the bound is {found}/eps at alpha = {at}, s = infinity; the Laplace mechanism has 1/eps"
    )


def _changed(most: int) -> str:
    """One of three entries at most between integers, this many between multiples of 1/3."""
    found = tuple(_most_changed(unit) for unit in (Fraction(1), Fraction(1, 3)))
    require(found == (1, most), f"{found} entries change between zero and nonzero")
    return "three integer entries; three entries in steps of 1/3 can all change"


def _most_changed(unit: Fraction) -> int:
    """Neighbours with a zero entry in one of them only: how many positions can that be?"""
    grid = [n * unit for n in range(4)]
    return max(
        sum((a == 0) != (b == 0) for a, b in zip(x, y, strict=True))
        for x, y in product(product(grid, repeat=3), repeat=2)
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1
    )


CLAIMS = (
    ALP.verified(
        "Section 5, ratio of the epsilons",
        "The number of columns scales with epsilon2/epsilon1, here that of the shipped sketch, and "
        "depends on nothing else of the two.",
        "enumeration",
        **varied(_ratio, 1, 2, "with its square"),
        note="In the paper m = ceil(2 ln(d) epsilon2/(epsilon1 alpha)) by definition; the library "
        "derives the width of a column from the exact loss, so there it is not.",
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
        **varied(_changed, 3, 1, "at most one between real neighbours"),
    ),
)
