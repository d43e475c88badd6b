"""The least error of estimating from private reports of two items, in fractions."""

from __future__ import annotations

from itertools import product

from exactdp_proofs.rationals import Fraction

Cells = dict[tuple[int, int], Fraction]


def _two_items(n: int, share: Fraction, e_eps: Fraction) -> Cells:
    """P(m clients hold item 1, t report it): independent clients, randomized response."""
    keep = e_eps / (e_eps + 1)
    one: Cells = {
        (1, 1): share * keep,
        (1, 0): share * (1 - keep),
        (0, 1): (1 - share) * (1 - keep),
        (0, 0): (1 - share) * keep,
    }
    law: Cells = {(0, 0): Fraction(1)}
    for _ in range(n):
        grown: Cells = {}
        for ((m, t), p), ((i, j), q) in product(law.items(), one.items()):
            grown[m + i, t + j] = grown.get((m + i, t + j), Fraction(0)) + p * q
        law = grown
    return law


def bayes_risk(n: int, e_eps: Fraction, eta: Fraction) -> Fraction:
    """The least expected error over all estimators when V is uniform: medians of the posterior."""
    laws = [_two_items(n, (1 + sign * eta) / 2, e_eps) for sign in (-1, 1)]
    total = Fraction(0)
    for t in range(n + 1):
        weights = [sum((law[m, t] for law in laws), Fraction(0)) / 2 for m in range(n + 1)]
        total += min(
            sum((w * abs(Fraction(a - m, n)) for m, w in enumerate(weights)), Fraction(0))
            for a in range(n + 1)
        )
    return total
