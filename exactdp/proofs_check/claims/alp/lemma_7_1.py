"""ALP, Lemma 7.1: privacy of the projection for histograms."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import all_hashes, exp_lower, projection_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


#: k, beta, rows, hash functions of two entries.
_SHIPPED = ((2, 1, 5, ((0, 3),)), (2, 1, 5, ((4, 4),)), (1, 2, 3, ((0, 2), (1, 1))))


@cache
def _shipped() -> None:
    """The law as shipped: the largest ratio is the promised one, within 2^-39 of e^eps."""
    for eps, (k, beta, s, table) in product((Fraction(1, 4), Fraction(3)), _SHIPPED):
        made = HistogramALP(d=2, k=k, s=s, beta=beta, epsilon=eps)
        vectors = [x for x in product(range(beta + 1), repeat=2) if 2 - x.count(0) <= k]
        laws = {x: made.law(dict(enumerate(x)), Tables(table)) for x in vectors}
        worst = max(
            max_loss(laws[x], laws[y])
            for x, y in product(laws, repeat=2)
            if abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1
        )
        require(worst == made.e_epsilon, f"eps={eps}, h={table}: largest ratio {worst}")
        low = exp_lower(eps, 60) - made.e_epsilon
        require(0 <= low <= Fraction(1, 2**39), f"eps={eps}: {float(low)} below e^eps")


def _private(shift: int) -> str:
    """All neighbours: the largest ratio is e^eps, p = 1/(e^eps + shift), every hash function."""
    _shipped()
    one = Fraction(1)
    grid = list(product((n * one for n in range(3)), repeat=2))
    layouts = list(product(all_hashes(2, 2), repeat=2))
    for base, pair in product((Fraction(5, 4), Fraction(3), Fraction(50)), layouts):
        laws = {x: projection_law(x, pair, 2, one, 1 / (base + shift)) for x in grid}
        worst = max(
            max_loss(laws[x], laws[y])
            for x, y in product(grid, repeat=2)
            if abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1
        )
        require(worst == base, f"e^eps={base}, h={pair}: largest ratio {worst}")
    return (
        "e^eps = 5/4, 3, 50, two entries, two rows, two columns: the ratio e^eps is reached; and "
        "as shipped for eps = 1/4, 3"
    )


def _real(power: int) -> str:
    """(0, 0) against (1/2, 1/2), rounded at random: the ratio is ((e^eps + 1)/2)^power."""
    half = Fraction(1, 2)
    for base in (Fraction(5, 4), Fraction(3), Fraction(50)):
        laws = [
            projection_law(x, ((0, 1),), 2, Fraction(1), 1 / (base + 1))
            for x in ((Fraction(0), Fraction(0)), (half, half))
        ]
        ratio = max_loss(laws[1], laws[0])
        require(ratio > base, f"e^eps={base}: ratio {ratio} is allowed")
        require(ratio == ((base + 1) / 2) ** power, f"e^eps={base}: ratio {ratio}")
    return "e^eps = 5/4, 3, 50: ((e^eps + 1)/2)^2 > e^eps at distance 1"


def _response(shift: int) -> str:
    import sympy as sp

    b = sp.symbols("b", positive=True)
    p = 1 / (b + shift)
    require(sp.simplify((1 - p) / p - b) == 0, f"(1 - p)/p = {sp.simplify((1 - p) / p)}")
    return "identity in e^eps"


CLAIMS = (
    ALP.verified(
        "Lemma 7.1",
        "Algorithm 10 is epsilon-differentially private for histograms, with no slack.",
        "enumeration",
        **varied(_private, 1, 2, "the flip probability is 1/(e^epsilon + 2)"),
    ),
    ALP.proved(
        "Lemma 7.1, proof, display",
        "(1 - p)/p = e^epsilon for p = 1/(e^epsilon + 1).",
        "symbolic",
        **varied(_response, 1, 2, "p = 1/(e^epsilon + 2)"),
    ),
    ALP.verified(
        "Lemma 7.1, integer entries",
        "The restriction to integers is needed: with random rounding of real entries, neighbours "
        "reach the ratio ((e^epsilon + 1)/2)^2 > e^epsilon.",
        "enumeration",
        **varied(_real, 2, 1, "the ratio stays at (e^epsilon + 1)/2"),
        ours=True,
    ),
)
