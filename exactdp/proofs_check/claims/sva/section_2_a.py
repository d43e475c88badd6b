"""SVA, Section II-A: Binary Local Hashing for one item per client."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball
from exactdp.law import Law
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_FACTORS = (Fraction(3, 2), Fraction(3), Fraction(100))


def _report(item: int, d: int, flip: Fraction) -> Law[tuple[tuple[int, ...], int]]:
    """(s, noisy bit) for a uniform sign function s; flipped with the given probability."""
    functions = list(product((-1, 1), repeat=d))
    return Law.uniform(functions).then(lambda s: Law({(s, s[item]): 1 - flip, (s, -s[item]): flip}))


def _private(scale: Fraction) -> str:
    """The largest ratio over pairs of items is e^epsilon at flip = 1/(scale e^epsilon + 1)."""
    for e_eps in _FACTORS:
        flip = 1 / (scale * e_eps + 1)
        found = max_loss(_report(0, 3, flip), _report(1, 3, flip))
        require(found == e_eps, f"e^epsilon={e_eps}: largest ratio {found}")
    return "d = 3, every s, three epsilons"


def _unbiased(shift: Fraction) -> str:
    """Mean of (e^eps + 1)/(e^eps - 1) (2 t/n - 1) for n = 1, and for two clients by linearity."""
    d = 3
    for e_eps, x in product(_FACTORS, range(d)):
        flip = 1 / (e_eps + 1)
        scale = (e_eps + shift) / (e_eps - 1)
        laws = [_report(item, d, flip) for item in (0, 1)]
        means = [law.expectation(lambda t: scale * (2 * (t[0][x] == t[1]) - 1)) for law in laws]
        truth = Fraction(int(x == 0) + int(x == 1), 2)
        require(sum(means) / 2 == truth, f"e^epsilon={e_eps}, x={x}: mean {sum(means) / 2}")
    return "d = 3, every s, two clients with different items"


def _spread(least: Fraction) -> str:
    """(e^eps + 1)/(e^eps - 1) <= least/eps for eps in (0, 1], with sinh and cosh of eps/2."""
    # coth(x) <= least/(2x) for x = eps/2 in [0, 1/2]: x cosh x <= (least/2) sinh x; over x
    parts = always_positive(lambda x: ball(least / 2) * _sinhc(x) - x.cosh(), [(0, Fraction(1, 2))])
    return f"all 0 < epsilon <= 1, {parts} part(s); a report is +-that, so its variance is below"


def _sinhc(x: arb) -> arb:
    """sinh(x)/x >= 1 + x^2/6, a lower bound that is exact at 0."""
    return 1 + x * x / 6


CLAIMS = (
    SVA.verified(
        "Section II-A, privacy",
        "Flipping the bit s(x) with probability 1/(e^epsilon + 1) is epsilon-LDP, exactly.",
        "exact law",
        **varied(_private, Fraction(1), Fraction(101, 100), "1/(1.01 e^epsilon + 1)"),
    ),
    SVA.verified(
        "Section II-A, estimator",
        "(e^epsilon + 1)/(e^epsilon - 1) (2 t/n - 1), t the number of clients whose bit "
        "matches s_i(x), is unbiased for the share of clients with x.",
        "exact law",
        **varied(_unbiased, Fraction(1), Fraction(101, 100), "with e^epsilon + 1.01"),
    ),
    SVA.proved(
        "Section II-A, error",
        "One report has magnitude (e^epsilon + 1)/(e^epsilon - 1) <= 2.17/epsilon for "
        "epsilon <= 1, so by Hoeffding the error is O((1/epsilon) sqrt(log d/n)) there.",
        "interval search",
        **varied(_spread, Fraction(217, 100), Fraction(216, 100), "2.16/epsilon"),
        note="epsilon = O(1) is implied: the magnitude tends to 1, not to 0. That the order is "
        "optimal is cited",
    ),
)
