"""Shares of cells from the series of a block, against integrals of the density in balls."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import acb, arb

from exactdp.accounting import pld
from exactdp.accounting.pld.grid.cells import TOLERANCE, cells
from exactdp.accounting.pld.grid.lattice import Grid
from exactdp.accounting.pld.losses.density import DensityLaw
from exactdp.balls import ball, precision

SAMPLED = pld.gaussian(sigma=1).sampled("0.05").steps[0][0]


def _shares(law: DensityLaw, low: arb, step: arb) -> tuple[arb, arb]:
    """The integrals of w f and of (1 - w) f over a cell, w = (e^(high - l) - 1)/(e^step - 1)."""

    def to_left(loss: acb, _: bool) -> acb:
        density: acb = law.density(loss)
        return density * ((acb(low + step) - loss).exp() - 1) / step.expm1()

    left = acb.integral(to_left, low, low + step).real
    whole = acb.integral(lambda loss, _: law.density(loss), low, low + step).real
    return left, whole - left


@pytest.mark.parametrize("step", [Fraction(1, 16), Fraction(1, 256), Fraction(1, 4096)])
@pytest.mark.parametrize(
    ("law", "start"),
    [(SAMPLED.removed, Fraction(0)), (SAMPLED.removed, Fraction(2)), (SAMPLED.added, Fraction(-1))],
)
def test_shares_are_integrals(law: DensityLaw, start: Fraction, step: Fraction) -> None:
    grid, first = Grid(Fraction(0), step), int(start / step)
    count = min(int(Fraction(1, 2) / step), 600)
    shared = cells(law, grid, first, first + count)
    assert shared.known.all()
    with precision(256):
        for i in (0, 1, count // 3, count - 1):
            for shares, exact in zip(
                (shared.left, shared.right),
                _shares(law, grid.loss(first + i), ball(step)),
                strict=True,
            ):
                share = shares[i : i + 1].balls()[0]
                assert abs(share / exact - 1) < TOLERANCE
