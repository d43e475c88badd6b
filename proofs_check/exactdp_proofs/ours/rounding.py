"""Section 3 of the page certified-pld: the error of the transform and of its powers."""

from __future__ import annotations

from itertools import product

import numpy as np
from flint import acb, arb

from exactdp.accounting.pld.compose.transform import forward, relative_error
from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, fitted, mutant


@PLD.holds("Section 3", "transform")
@mutant("within 1 percent of that", share=Fraction(1, 100))
@fitted(share=Fraction(2, 100))
def transform(share: Fraction = Fraction(1)) -> None:
    """Every output of the transform of L points is within relative_error(L) times the sum of the
    moduli of its inputs, against Arb's transform in balls.

    Note: Errors of opposite signs cancel; the bound is for the worst order of signs.
    """
    for points, spread in product((32, 256, 512), (1.0, 40.0)):
        generator = np.random.default_rng(points)
        sizes = np.exp(-spread * generator.random(points))
        values = sizes * np.exp(2j * np.pi * generator.random(points))
        bound = Fraction(relative_error(points)) * Fraction(float(np.abs(values).sum()))
        with precision(128):
            exact = acb.dft([acb(v) for v in values.tolist()])
            outputs = [acb(v) for v in forward(values).tolist()]
            for a, b in zip(outputs, exact, strict=True):
                at_most(abs(a - b), bound * share, points=points, spread=int(spread))


@PLD.holds("Section 3", "powers")
@mutant("with 0.99 n for n", share=Fraction(99, 100))
def powers(share: Fraction = Fraction(1)) -> None:
    """If |Z - z| <= d and both are in the unit disc, then |Z^n - z^n| <=
    (e^(2nd) - 1) max(|Z|, 1/2)^n.
    """
    with precision(128):
        d = arb(1) / 10**6
        for n, k, direction in product((3, 40, 1000), range(21), range(8)):
            z = acb(arb(k) / 20, 0) * acb(0, arb(k) / 7).exp()
            moved = z + d * acb(0, arb(direction) / 4 * arb.pi()).exp()
            if abs(moved) <= 1:
                bound = (2 * n * d * ball(share)).expm1() * abs(moved).max(arb(1) / 2) ** n
                at_most(abs(moved**n - z**n), bound, n=n, k=k, direction=direction)
