"""ALP, Lemma 4.1: what the projection of a k-sparse vector really loses, in closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.mechanisms.projections.loss import e_epsilon
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


def _attained(share: Fraction) -> str:
    """Enumerated over all neighbours: the closed form is reached, and never exceeded."""
    for alpha, k, step in _INSTANCES:
        stated = 1 + share * (e_epsilon(Fraction(1), alpha, k) - 1)
        collided = _largest(alpha, k, step, together=True)
        require(collided <= stated, f"alpha={alpha}, k={k}, one row: {collided} > {stated}")
        ratio = _largest(alpha, k, step, together=False)
        require(ratio == stated, f"alpha={alpha}, k={k}: {ratio}, stated {stated}")
    return "alpha = 3, 1/2, 2/3 with one entry and 2 with two, all neighbours on a grid"


def _below(rate: Fraction) -> str:
    """(1 + 1/k)^k for alpha >= 1: below e, by about e/(2 k)."""
    for k in (1, 2, 5, 20, 100):
        exact = e_epsilon(Fraction(1), Fraction(3), k)
        require(exact == (1 + Fraction(1, k)) ** k, f"k={k}: {exact}")
        gap = exp_lower(Fraction(1)) - exact
        bound = rate * exp_lower(Fraction(1)) / k
        require(0 < gap <= bound, f"k={k}: {float(gap):.4g} below e, bound {float(bound):.4g}")
    return "k = 1, 2, 5, 20, 100 and alpha = 3"


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
        "Lemma 4.1, how much is left",
        "For alpha >= 1 the loss of Algorithm 2 is (1 + 1/k)^k, below e by at most e/(2k).",
        "exact law",
        **varied(_below, Fraction(1, 2), Fraction(1, 4), "at most e/(4k)"),
        ours=True,
    ),
)
