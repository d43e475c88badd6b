"""ALP, Lemma 4.1: what the projection of a k-sparse vector really loses, in closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon
from exactdp.mechanisms.projections.ramp import Ramp
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import exp_lower, projection_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

#: alpha, k, step of the grid of values up to 1: the scale is 1, as in Algorithm 2.
_INSTANCES = (
    (Fraction(3), 1, Fraction(1, 4)),
    (Fraction(1, 2), 1, Fraction(1, 4)),
    (Fraction(2, 3), 1, Fraction(1, 3)),
    (Fraction(2), 2, Fraction(1, 2)),
    (Fraction(2, 3), 2, Fraction(1, 6)),
)


def _largest(alpha: Fraction, k: int, step: Fraction, together: bool) -> Fraction:
    """The largest ratio over all neighbours with k entries in a grid from 0 to 1."""
    values = [step * n for n in range(int(1 / step) + 1)]
    m = -(-1 // alpha)
    rows = (0,) * k if together else tuple(range(k))
    hashes = (rows,) * int(m)
    laws = {x: projection_law(x, hashes, k, alpha) for x in product(values, repeat=k)}
    found = Fraction(1)
    for x, y in product(laws, repeat=2):
        if 0 < sum((abs(a - b) for a, b in zip(x, y, strict=True)), Fraction(0)) <= 1:
            ratio = max_loss(laws[x], laws[y])
            require(isinstance(ratio, Fraction), f"{x} and {y} have different supports")
            found = max(found, Fraction(ratio))
    return found


def _closed(change: Fraction, rise: Fraction, k: int) -> Fraction:
    """max over J of (1 + rise)^J (1 + (change - J rise)/k)^k, as stated and as shipped."""
    ends = range(int(change / rise) + 1)
    stated = max((1 + rise) ** j * (1 + (change - j * rise) / k) ** k for j in ends)
    shipped = e_epsilon(change, rise, k)
    require(stated == shipped, f"{change}, {rise}, k={k}: {stated}, as shipped {shipped}")
    return stated


def _attained(share: Fraction) -> str:
    """Enumerated over all neighbours: the closed form is reached, and never exceeded."""
    for alpha, k, step in _INSTANCES:
        stated = 1 + share * (_closed(Fraction(1), alpha, k) - 1)
        collided = _largest(alpha, k, step, together=True)
        require(collided <= stated, f"alpha={alpha}, k={k}, one row: {collided} > {stated}")
        ratio = _largest(alpha, k, step, together=False)
        require(ratio == stated, f"alpha={alpha}, k={k}: {ratio}, stated {stated}")
    return "alpha = 3, 1/2, 2/3 with one entry, 2, 2/3 with two, all neighbours on a grid"


#: Ratio of a step, steps of a cell, width of a step, entries: half a cell each is a change of 1.
_RAMPS = (
    (Fraction(2), 4, Fraction(1, 2), 1),
    (Fraction(3, 2), 4, Fraction(1, 2), 2),
    (Fraction(3), 2, Fraction(1), 2),
)


def _chance(value: Fraction, ramp: Ramp, width: Fraction) -> Fraction:
    """A 1 after the noise where one entry may set the bit of its first cell."""
    step, part = divmod(value / width, 1)
    ends = ramp.chances[int(step) :][:2]
    return ends[0] + part * (ends[-1] - ends[0])


def _ramp_law(x: tuple[Fraction, ...], ramp: Ramp, width: Fraction, together: bool) -> Law[Any]:
    """Bits of one cell per entry, or one bit that any of them sets."""
    p, ones = ramp.flip, [_chance(value, ramp, width) for value in x]
    if together:
        unset = prod((1 - (one - p) / (1 - 2 * p) for one in ones), start=Fraction(1))
        ones = [p + (1 - unset) * (1 - 2 * p)]
    law: Law[Any] = Law.point(())
    for one in ones:
        bit = Law({1: one, 0: 1 - one})
        law = law.product(bit).map(lambda pair: (*pair[0], pair[1]))
    return law


def _ramps(share: Fraction) -> str:
    """Every pair of neighbours on a grid of quarters up to 1."""
    values = [Fraction(n, 4) for n in range(5)]
    for ratio, steps, width, k in _RAMPS:
        ramp, rise = Ramp(ratio, steps), ratio - 1
        stated = 1 + share * (_closed(rise / width, rise, k) - 1)
        for together in (False, True):
            laws = {x: _ramp_law(x, ramp, width, together) for x in product(values, repeat=k)}
            ratios = [
                Fraction(max_loss(laws[x], laws[y]))
                for x, y in product(laws, repeat=2)
                if 0 < sum((abs(a - b) for a, b in zip(x, y, strict=True)), Fraction(0)) <= 1
            ]
            case = f"r={ratio}, L={steps}, k={k}: {max(ratios)}, stated {stated}"
            require(max(ratios) <= stated and (together or max(ratios) == stated), case)
    return "r = 2, 3/2, 3; one and two entries, apart and in one row"


def _spread_out(k: int, alpha: Fraction) -> Fraction:
    """The ratio for k entries apart that rise from 0 to 1/k each, from the laws of the bits."""
    hashes = (tuple(range(k)),)
    zero, risen = ((Fraction(n, k),) * k for n in (0, 1))
    laws = [projection_law(x, hashes, k, alpha) for x in (zero, risen)]
    return Fraction(max_loss(laws[1], laws[0]))


def _below(rate: Fraction) -> str:
    """(1 + 1/k)^k for alpha >= 1: below e, by about e/(2 k)."""
    for k, alpha in product((1, 2, 5, 20, 100), (Fraction(1), Fraction(3))):
        exact = e_epsilon(Fraction(1), alpha, k)
        require(exact == (1 + Fraction(1, k)) ** k, f"alpha={alpha}, k={k}: {exact}")
        reached = _spread_out(k, alpha) if k <= 5 else exact
        require(reached == exact, f"k={k}: the laws lose {reached}, the formula {exact}")
        gap = exp_lower(Fraction(1)) - exact
        bound = rate * exp_lower(Fraction(1)) / k
        require(0 < gap <= bound, f"k={k}: {float(gap):.4g} below e, bound {float(bound):.4g}")
    return "k = 1, 2, 5 by the laws of the bits, 20 and 100 by the formula, alpha = 1, 3"


CLAIMS = (
    ALP.verified(
        "Lemma 4.1, exact loss",
        "Algorithm 2 loses exactly max over J of (1 + alpha)^J (1 + (1 - J alpha)/k)^k, J whole "
        "cells and the rest in equal parts over k entries; collisions do not add to it.",
        "enumeration",
        **varied(_attained, Fraction(1), Fraction(101, 100), "1 % more than that (less 1)"),
        ours=True,
        note="The sketches spend what is left up to e^epsilon on narrower cells.",
    ),
    ALP.verified(
        "Lemma 4.1, levels in steps of one ratio",
        "Where the probability of a 1 rises to 1/2 by a factor r per step, k entries that rise by "
        "half a level lose exactly max over J of r^J (1 + (c - J (r - 1))/k)^k, "
        "c = (r - 1)/(width of a step); collisions add nothing.",
        "enumeration",
        **varied(_ramps, Fraction(1), Fraction(101, 100), "1 % more than that (less 1)"),
        ours=True,
        note="Random rounding in one step is Algorithm 2; several halve the error in the same "
        "space.",
    ),
    ALP.verified(
        "Lemma 4.1, how much is left",
        "For alpha >= 1 the loss of Algorithm 2 is (1 + 1/k)^k, below e by at most e/(2k).",
        "exact law",
        **varied(_below, Fraction(1, 2), Fraction(1, 4), "at most e/(4k)"),
        ours=True,
    ),
)
